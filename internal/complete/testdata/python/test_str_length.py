"""A string of any length up to two."""
import symchef


def test_str_length(s: symchef.Str(2, 0)):
    print(len(s), bool(s), s[:1] == "a", s[-1:] == "b")
