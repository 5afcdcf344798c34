"""int(s, 16) of one character, big enough to meet every class of digit."""
import symchef


def test_int_hex(s: symchef.Str(1)):
    try:
        print(int("1" + s, 16))
    except ValueError:
        print("not hexadecimal")
