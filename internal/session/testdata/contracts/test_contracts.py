"""Functions with contracts, right and faulty."""
import symchef
from symchef import ensure, inv, pre


def factorial(x):
    n = 1
    while x > 0:
        n *= x
        x -= 1
    return n


@pre(lambda x: x >= 0)
@ensure(lambda x, result: factorial(x) == result)
def faulty_factorial(x):
    if x == 4:
        return 123456789
    return factorial(x)


def test_factorial(x: symchef.Int(-3, 6)):
    faulty_factorial(x)


@ensure(lambda y, r: r > y)
def caller(y):
    return faulty_factorial(y - 2) + y


def test_nested(y: symchef.Int(0, 4)):
    caller(y)


def test_nested_discarded(y: symchef.Int(0, 4)):
    symchef.contracts(nested="discard")
    caller(y)


def ordered(values):
    return all(values[i] <= values[i + 1] for i in range(len(values) - 1))


@ensure(lambda result: ordered(result))
def quick_sort(values):
    if len(values) <= 1:
        return values
    less, greater = [], []
    for x in values[1:]:
        if x <= values[0]:
            less.append(x)
        else:
            greater.append(x)
    return quick_sort(less) + [values[0]] + quick_sort(greater)


@ensure(lambda values, result: ordered(result) and len(result) == len(values))
def bubble_sort(values):
    values = values[:]
    for end in range(len(values) - 1, 0, -1):
        for i in range(end):
            if values[i] > values[i + 1]:
                values[i], values[i + 1] = values[i + 1], values[i]
    return values


def test_sorted(x: symchef.Int(-9, 9), y: symchef.Int(-9, 9), z: symchef.Int(-9, 9)):
    quick_sort([x, y, z])


def test_bubble(x: symchef.Int(-9, 9), y: symchef.Int(-9, 9), z: symchef.Int(-9, 9)):
    bubble_sort([x, y, z])


@inv(lambda self: 0 <= self.n <= 3)
class Counter:
    def __init__(self):
        self.n = 0

    @pre(lambda self, k: k > 0)
    def add(self, k):
        self.n += k


def test_counter(k: symchef.Int(-2, 5)):
    Counter().add(k)
