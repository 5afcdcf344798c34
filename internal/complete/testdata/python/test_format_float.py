"""Format specifications for floats."""
import symchef


def test_format_float(n: symchef.Int(-5, 5)):
    print("%.2f %g %e %r" % (n / 3, n / 8, n * 1e10, n / 10))
