"""ord and chr: a rotation of letters."""
import symchef


def test_ord_chr(s: symchef.Str(1)):
    c = ord(s)
    print(chr((c - 97 + 13) % 26 + 97) if 97 <= c <= 122 else c // 32)
