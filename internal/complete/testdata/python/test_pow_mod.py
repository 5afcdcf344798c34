"""pow with a modulus, and its inverse."""
import symchef


def test_pow_mod(n: symchef.Int(0, 12)):
    try:
        print(pow(3, n, 13), pow(n, -1, 12))
    except ValueError as e:
        print(e)
