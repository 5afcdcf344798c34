"""find, count and startswith of a text with two free characters."""
import symchef


def test_str_find(s: symchef.Str(2)):
    t = "a" + s + "b"
    print(t.find("ab"), t.count("a"), t.startswith("ab"), t.endswith("bb"))
