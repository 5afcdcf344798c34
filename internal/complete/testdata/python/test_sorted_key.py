"""sorted by a key that is a character."""
import symchef


def test_sorted_key(s: symchef.Str(2)):
    print("".join(sorted("m" + s))  == "m" + s, sorted(["b", s, "x"]).index(s))
