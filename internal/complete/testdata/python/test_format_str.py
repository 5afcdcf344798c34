"""repr and padding of a string."""
import symchef


def test_format_str(s: symchef.Str(1)):
    print("%r" % ("q" + s), "{:>4}".format(s + "!"))
