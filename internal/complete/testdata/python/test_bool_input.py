"""A bool and a choice."""
import symchef


def test_bool_input(f: symchef.Bool(), n: symchef.Int(0, 3)):
    print(["no", "yes"][f], n + f, f and n > 1)
