"""struct.unpack of bytes of both orders and signs."""
import struct
import symchef


def test_struct_unpack(b: symchef.Bytes(2)):
    little, = struct.unpack("<h", b)
    big, = struct.unpack(">H", b)
    print(little < 0, little == -2, big > 1000, big == little)
