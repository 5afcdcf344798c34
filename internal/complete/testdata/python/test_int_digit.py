"""int() of one character; a ValueError is caught and printed by its type."""
import symchef


def test_int_digit(s: symchef.Str(1)):
    try:
        print(int(s) * 3)
    except ValueError as e:
        print(type(e).__name__)
