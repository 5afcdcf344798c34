"""Numbers: division and remainder of both signs, products, absolute values, comparison with a float."""

import symchef


def test_numbers(n: symchef.Int(-8, 8), m: symchef.Int(1, 5)):
    if n % m == 0 and n // m > 2:
        return "multiple"
    if n * m < -20:
        return "low"
    if abs(n) - m == 1:
        return "next"
    return n / 2 > 1.25
