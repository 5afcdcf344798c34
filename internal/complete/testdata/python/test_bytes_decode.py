"""UTF-8 decoding of two bytes, with its errors."""
import symchef


def test_bytes_decode(b: symchef.Bytes(1)):
    try:
        print(ascii((b"\xc3" + b).decode()))
    except UnicodeDecodeError as e:
        print(e.reason)
