"""Ordering of strings."""
import symchef


def test_str_compare(s: symchef.Str(2)):
    print(s < "mm", s == "mn", s > "zz", max(s, "hi") == s)
