"""Stores under symbolic keys, then a look-up."""
import symchef


def test_dict_store(n: symchef.Int(0, 7), m: symchef.Int(0, 7)):
    d = {n: "n"}
    d[m] = "m"
    print(len(d), d.get(3))
