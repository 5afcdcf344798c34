"""strip and split at whitespace."""
import symchef


def test_str_strip(s: symchef.Str(1)):
    t = "x" + s + "y"
    print(len(t.split()), len((s + "z").strip()), len(t.splitlines()))
