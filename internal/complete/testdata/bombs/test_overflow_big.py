"""the cube of an int, beyond 64 bits, has one value"""
import symchef


def test_overflow_big(n: symchef.Int(0, 1 << 20)):
    assert n * n * n != 987654 ** 3
