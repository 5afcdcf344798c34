"""Ints of one, two and three digits of the interpreter."""
import symchef


def test_big_compare(n: symchef.Int((1 << 60) - 6, (1 << 60) + 6)):
    print(n > 1 << 60, -n < -(1 << 60), n == (1 << 60) + 3, n >> 30)
