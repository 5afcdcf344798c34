"""Slices with a symbolic bound and a symbolic step."""
import symchef


def test_slicing(n: symchef.Int(-8, 8)):
    t = "abcdef"
    print(t[n:], t[:n], t[::n] if n else "-")
