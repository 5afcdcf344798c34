"""Bisection for x in 0..100.

Exactly 101 classes of (outcome, output): every value is found and printed; what is
printed are the concrete bounds of the search, so each class is one path of it.
"""

import symchef


def bisect(x, low, high):
    while low < high:
        middle = (low + high) // 2
        if x <= middle:
            high = middle
        else:
            low = middle + 1
    return low


def test_binary_search(x: symchef.Int(0, 100)):
    print(bisect(x, 0, 100))
