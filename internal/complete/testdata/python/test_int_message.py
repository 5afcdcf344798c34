"""An uncaught ValueError: the outcome, with its message."""
import symchef


def test_int_message(b: symchef.Bytes(1)):
    if b < b"0" or b > b":":
        b = b"7"
    print(int(b))
