"""struct.pack with a range error."""
import struct
import symchef


def test_struct_pack(n: symchef.Int(-300, 300)):
    try:
        print(struct.pack("b", n) > b"\x10")
    except struct.error as e:
        print(e)
