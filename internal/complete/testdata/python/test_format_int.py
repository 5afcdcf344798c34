"""Format specifications for ints."""
import symchef


def test_format_int(n: symchef.Int(-17, 17)):
    print(f"{n:+04d} {n:x} {n:#b}|{n:>3}|{n:<3}|" + "%o" % n)
