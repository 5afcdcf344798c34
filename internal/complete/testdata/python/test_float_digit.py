"""float() of text with one free character."""
import symchef


def test_float_digit(s: symchef.Str(1)):
    try:
        print(float("1" + s + "5"))
    except ValueError:
        print("not a float")
