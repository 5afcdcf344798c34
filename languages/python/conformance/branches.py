"""Branches: comparisons in chains, and, or, not, loops that a branch ends."""

import symchef


def test_branches(n: symchef.Int(0, 20), b: symchef.Bool()):
    if b and n > 15 or not b and n == 3:
        return "both"
    if 5 < n <= 7:
        return "chain"
    steps = 0
    while n > 1 and steps < 3:
        n = n // 2 if n % 2 == 0 else n - 1
        steps += 1
    return steps
