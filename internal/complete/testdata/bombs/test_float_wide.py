"""a float of a wide range has to have one value"""
import symchef


def test_float_wide(n: symchef.Int(0, 1 << 40)):
    assert n * 0.5 != 12345678.5
