"""The character classes of str."""
import symchef


def test_str_classes(s: symchef.Str(1)):
    t = s + s
    print(t.isdigit(), t.isalpha(), t.isspace(), t.isupper(), t.islower(), t.isidentifier(), t.isprintable())
