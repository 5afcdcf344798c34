"""A look-up of a symbolic int in a dict; an uncaught KeyError."""
import symchef


def test_dict_int(n: symchef.Int(0, 255)):
    print({1: "one", 10: "ten", 200: "two hundred", 9999: "many"}.get(n, "none"))
    if n == 77:
        {}[n]
