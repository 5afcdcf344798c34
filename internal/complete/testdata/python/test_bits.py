"""Bit operations on an int."""
import symchef


def test_bits(n: symchef.Int(0, 255)):
    print((n & 0x0F) ^ (n >> 4) == 9, n | 0x81 == n, ~n & 1, n & (n - 1) == 0)
