"""Methods of bytes."""
import symchef


def test_bytes_methods(b: symchef.Bytes(2)):
    print(b.find(b"\n"), b.startswith(b"\x7f"), b.isalnum(), b.rstrip(b"\0") == b)
