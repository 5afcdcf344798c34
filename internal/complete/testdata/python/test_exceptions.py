"""try, finally, raise from, and an exception that leaves the test."""
import symchef


class Odd(Exception):
    pass


def check(n):
    try:
        if n % 7 == 3:
            raise Odd(n // 7)
        return 10 // (n % 5)
    except ZeroDivisionError as e:
        raise LookupError("fifth") from e
    finally:
        print("checked")


def test_exceptions(n: symchef.Int(0, 34)):
    try:
        print(check(n))
    except LookupError as e:
        print(e, type(e.__cause__).__name__)
