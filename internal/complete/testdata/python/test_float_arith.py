"""Float arithmetic on a bounded int."""
import math
import symchef


def test_float_arith(n: symchef.Int(-12, 12)):
    x = n / 4
    print(x, math.floor(x), round(x), x * x > 2.0, math.sqrt(abs(x)))
