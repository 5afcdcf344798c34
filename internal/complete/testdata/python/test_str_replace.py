"""replace with a longer text."""
import symchef


def test_str_replace(s: symchef.Str(2)):
    print(("-" + s).replace("-", "<>"))
