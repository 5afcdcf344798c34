"""Comprehensions, zip, enumerate and any over symbolic values."""
import symchef


def test_comprehension(n: symchef.Int(0, 9), m: symchef.Int(0, 9)):
    l = [x for x in (n, m, 3) if x > 4]
    print(len(l), any(x == 7 for x in l), [i for i, x in enumerate(l) if x == n])
