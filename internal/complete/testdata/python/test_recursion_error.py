"""Recursion without end, for some inputs."""
import sys

import symchef


def down(n):
    return n == 0 or down(n - 2)


def test_recursion_error(n: symchef.Int(0, 9)):
    sys.setrecursionlimit(60)
    try:
        print(down(n))
    except RecursionError:
        print("too deep")
    finally:
        sys.setrecursionlimit(1000)
