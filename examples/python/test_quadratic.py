"""Real roots of x*x + b*x + c, with symbolic floats.

Exactly 3 classes of (outcome, output): the discriminant is negative, zero or positive. It is zero for few pairs of
numbers, which the solver finds: b is 2*sqrt(c), rounded as floats are.
"""

import symchef


def roots(b, c):
    d = b * b - 4.0 * c
    if d < 0.0:
        return "none"
    if d == 0.0:
        return "one"
    return "two"


def test_quadratic(b: symchef.Float(1, 100), c: symchef.Float(1, 100)):
    print(roots(b, c))
