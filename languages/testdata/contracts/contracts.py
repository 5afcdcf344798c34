"""What each kind of contract makes of calls that keep it and calls that break it, one line for each."""
import asyncio

from symchef import ContractError, arg, ensure, inv, post, pre, snapshot


def told(call):
    try:
        print("returned", call())
    except ContractError as e:
        print(type(e).__name__, str(e), {n: v for n, v in e.values.items() if n != "self"})
    except TypeError as e:
        print("TypeError", str(e).replace("<lambda>.<locals>.", ""))


@ensure(lambda x, res: x + 1 == res)
@pre(lambda x: x > 0)
def successor(x):
    return x + 1 if x != 40 else 0


told(lambda: successor(1))
told(lambda: successor(-1))
told(lambda: successor(40))
told(lambda: successor())  # says itself what is wrong


@ensure(lambda result: result == sorted(result))
def same(values):
    return values


told(lambda: same([1, 2]))
told(lambda: same([2, 1]))


@ensure(lambda values, old: len(values) == len(old.values) + 1)
@snapshot(size=lambda values: len(values))
@post(lambda old, values: len(values)
      == old.size + 1)
def add(values, x=3, *, to=4):
    values += [x] * (to - 3)


told(lambda: add([1]))
told(lambda: add([1], to=5))


@arg(x=lambda v: v > 0)
@arg(lambda a, b: a != b)
def two(x, y):
    return x


told(lambda: two(1, 1))
told(lambda: two(0, 1))
told(lambda: two(1, y=2))


@pre(lambda rest, names: len(rest) == len(names))
def many(*rest, **names):
    return len(rest)


told(lambda: many(1, 2, a=1, b=2))
told(lambda: many(1, a=1, b=2))


@inv(lambda self: self.n >= 0)
@inv(lambda it: it.n < 10)
class Counter:
    def __init__(self, n):
        self.n = n

    def down(self):
        self._down(2)
        self.up()
        return self.n

    def up(self):
        self.n += 1

    def _down(self, k):
        self.n -= k

    @property
    def value(self):
        return self.n

    @value.setter
    def value(self, n):
        self.n = n

    def __iadd__(self, k):
        self.n += k
        return self


counter = Counter(1)
told(counter.down)  # the invariant does not hold between its two steps
told(counter.down)
told(lambda: Counter(10))
told(lambda: setattr(counter, "value", 11))
told(lambda: counter.__iadd__(99))


@inv(lambda self: True)
class Plain:
    pass


@inv(lambda self: self > 0)
class Number(int):
    pass


told(lambda: type(Plain()).__name__)
told(lambda: Plain(1))
told(lambda: Number(3))
told(lambda: Number(-3))


@ensure(lambda r: r == 1)
async def later(x):
    return x


told(lambda: asyncio.run(later(1)))
told(lambda: asyncio.run(later(2)))


class Methods:
    @staticmethod
    @pre(lambda x: x)
    def alone(x):
        return x

    @pre(lambda x: x)
    @classmethod
    def of_class(cls, x):
        return x

    @pre(lambda self, x: x)
    def of_one(self, x):
        return x


told(lambda: Methods.alone(0))
told(lambda: Methods.of_class(0))
told(lambda: Methods().of_one(0))
told(lambda: Methods().of_one(5))


@pre(lambda n: n >= 0 and known(n))
def known(n):  # its condition calls it
    return True


told(lambda: known(3))

for wrong in (lambda: pre(3), lambda: pre(lambda q, w: 1)(lambda a: a), lambda: inv(lambda s: 1)(3), lambda: arg(zz=lambda v: v)(lambda a: a),
              lambda: ensure(lambda a, b, c: 1)(lambda a: a), lambda: arg(), lambda: pre(lambda x: x)(property(len))):
    told(wrong)
