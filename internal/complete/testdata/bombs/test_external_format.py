"""the text that str makes of a number is compared"""
import symchef


def test_external_format(n: symchef.Int(0, 9999)):
    assert str(n) != "742"
