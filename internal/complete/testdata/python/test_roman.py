"""A small parser with a table."""
import symchef

VALUES = {"I": 1, "V": 5, "X": 10}


def test_roman(s: symchef.Str(2)):
    try:
        a, b = [VALUES[c] for c in s]
    except KeyError:
        print("not a numeral")
    else:
        print(b - a if a < b else a + b)
