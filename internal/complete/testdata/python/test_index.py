"""A list and a string indexed by a symbolic int, in and out of bounds."""
import symchef


def test_index(n: symchef.Int(-10, 10)):
    try:
        print([2, 3, 5, 7, 11, 13][n], "abcdef"[n])
    except IndexError as e:
        print(e)
