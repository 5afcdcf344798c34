"""Calls: recursion, closures, generators, calls by a table."""

import symchef


def depth(n):
    return 0 if n < 1 else 1 + depth(n - 7)


def adder(k):
    return lambda x: x + k


def upto(n):
    i = 0
    while i * i < n:
        yield i
        i += 1


def test_calls(n: symchef.Int(0, 20)):
    table = [depth, adder(2), lambda x: len(list(upto(x)))]
    if n < 10:
        return table[0](n)
    if n < 12:
        return table[1](5)
    return table[2](n)
