"""Recursion whose depth is the input."""
import symchef


def hanoi(n, a, b, c):
    return 0 if n == 0 else hanoi(n - 1, a, c, b) + 1 + hanoi(n - 1, c, b, a)


def test_recursion(n: symchef.Int(0, 5)):
    print(hanoi(n, "a", "b", "c"))
