"""Membership, union and difference of sets of symbolic ints."""
import symchef


def test_set_ops(n: symchef.Int(0, 15), m: symchef.Int(0, 15)):
    s = {n, m, 5}
    print(len(s), 5 in s - {n}, 7 in s)
