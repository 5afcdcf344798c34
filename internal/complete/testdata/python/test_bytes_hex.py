"""hex, fromhex and translate."""
import symchef

TABLE = bytes(range(255, -1, -1))


def test_bytes_hex(b: symchef.Bytes(1)):
    print(b.hex(), bytes.fromhex(b.hex()) == b, b.translate(TABLE).hex())
