"""Exceptions: raised, caught by type, raised again, with a last word, and not caught."""

import symchef


def inner(n):
    if n < 4:
        raise KeyError("small")
    if n == 5:
        raise ValueError("five")
    if n > 17:
        return 1 // 0
    return n > 9


def test_exceptions(n: symchef.Int(0, 20)):
    said = []
    try:
        try:
            said.append(inner(n))
        except KeyError:
            said.append("key")
            if n == 2:
                raise
        finally:
            said.append("last")
    except ZeroDivisionError as e:
        return str(e)
    return said
