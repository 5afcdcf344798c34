"""upper, lower, title and swapcase of a character between others."""
import symchef


def test_str_upper(s: symchef.Str(2)):
    print(s.upper() + s.lower() + s.swapcase())
