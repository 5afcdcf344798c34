"""Floor division and remainder by a symbolic divisor of either sign, and zero."""
import symchef


def test_division(n: symchef.Int(-9, 9)):
    try:
        print(divmod(17, n), divmod(-17, n), -17 % n)
    except ZeroDivisionError as e:
        print(e)
