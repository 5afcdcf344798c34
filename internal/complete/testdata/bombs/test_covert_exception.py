"""the value chooses the exception, which tells it"""
import symchef


def test_covert_exception(n: symchef.Int(0, 1000)):
    try:
        [0][n - 600] if n > 599 else 1 // (n - 300)
    except ZeroDivisionError:
        assert False
    except IndexError:
        pass
