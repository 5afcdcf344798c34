"""A balanced tree of comparisons over 0..100, three deep.

Exactly 8 classes of (outcome, output): seven different thresholds cut 0..100 into
eight intervals, and each leaf prints its own letter.
"""

import symchef


def leaf(x):
    if x < 50:
        if x < 25:
            return "a" if x < 12 else "b"
        return "c" if x < 37 else "d"
    if x < 75:
        return "e" if x < 62 else "f"
    return "g" if x < 87 else "h"


def test_tree_balanced(x: symchef.Int(0, 100)):
    print(leaf(x))
