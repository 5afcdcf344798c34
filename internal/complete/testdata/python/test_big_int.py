"""Arithmetic beyond 64 bits."""
import symchef


def test_big_int(n: symchef.Int(-40, 40)):
    x = (n << 70) + 12345678901234567890
    print(x > 0, x % 1000003 == 7, (x * x).bit_length() > 140, divmod(x, 10**20)[0])
