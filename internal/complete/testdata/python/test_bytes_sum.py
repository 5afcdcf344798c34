"""Iteration over bytes and arithmetic on them."""
import symchef


def test_bytes_sum(b: symchef.Bytes(2)):
    print(sum(b) > 300, b[0] ^ b[1] == 0x55, max(b) == 255)
