"""bit_count, bit_length, to_bytes and from_bytes."""
import symchef


def test_bit_count(n: symchef.Int(-20, 20)):
    print(n.bit_count(), n.bit_length(), int.from_bytes(n.to_bytes(2, "big", signed=True), "little"))
