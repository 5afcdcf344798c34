"""A look-up of a symbolic string in a dict."""
import symchef


def test_dict_str(s: symchef.Str(2)):
    print({"if": 1, "in": 2, "or": 3, "and": 4}.get(s, 0))
