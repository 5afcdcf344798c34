"""text is converted to an int"""
import symchef


def test_external_parse(s: symchef.Str(3)):
    assert not s.isdigit() or int(s) != 742
