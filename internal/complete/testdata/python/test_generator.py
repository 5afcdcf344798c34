"""Generators, send and islice-like consumption."""
import symchef


def collatz(n):
    while n != 1:
        yield n
        n = n // 2 if n % 2 == 0 else 3 * n + 1


def test_generator(n: symchef.Int(1, 12)):
    print(sum(1 for _ in collatz(n)), max(collatz(n), default=1))
