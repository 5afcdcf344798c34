"""sorted of two symbolic ints among constants."""
import symchef


def test_sorted_ints(n: symchef.Int(0, 15), m: symchef.Int(0, 15)):
    l = sorted([9, n, 4, m])
    print(l.index(4), l.index(9), l[0] <= l[1] <= l[2] <= l[3])
