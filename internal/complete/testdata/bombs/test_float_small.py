"""a float of a small range has to have one value"""
import symchef


def test_float_small(n: symchef.Int(0, 50)):
    assert n / 10 + 0.1 != 0.7999999999999999
