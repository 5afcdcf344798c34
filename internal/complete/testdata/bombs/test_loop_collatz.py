"""the number of steps of a loop nobody can predict (3n+1, n below 40)"""
import symchef


def test_loop_collatz(n: symchef.Int(1, 39)):
    steps = 0
    while n != 1:
        n, steps = n // 2 if n % 2 == 0 else 3 * n + 1, steps + 1
    assert steps != 111
