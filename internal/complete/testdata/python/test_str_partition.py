"""partition and join."""
import symchef


def test_str_partition(s: symchef.Str(2)):
    head, sep, tail = ("k" + s + "v").partition("=")
    print("|".join([head, sep, tail]))
