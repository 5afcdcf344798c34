"""Quicksort of three ints.

Exactly 6 classes of (outcome, output): the printed permutation that sorts the three
values. There are 3! = 6; equal values keep their order (the sort is stable), so
they fall into one of the six.
"""

import symchef


def quicksort(items):
    """Sorts (value, position) pairs by value, stably."""
    if len(items) < 2:
        return items
    pivot = items[0]
    before = [item for item in items[1:] if item[0] < pivot[0]]
    after = [item for item in items[1:] if not item[0] < pivot[0]]
    return quicksort(before) + [pivot] + quicksort(after)


def test_quicksort(a: symchef.Int(-1000, 1000), b: symchef.Int(-1000, 1000), c: symchef.Int(-1000, 1000)):
    order = quicksort([(a, 0), (b, 1), (c, 2)])
    print(*[position for _, position in order])
