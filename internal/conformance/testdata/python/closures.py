"""Functions: closures, decorators, defaults, argument kinds, classes and descriptors."""
import functools, dataclasses, enum, abc, inspect
def counter():
    n = 0
    def inc(by=1, *, twice=False):
        nonlocal n
        n += by * (2 if twice else 1)
        return n
    return inc
a, b = counter(), counter()
print(a(), a(5), a(2, twice=True), b(), [f(10) for f in [lambda x, k=k: x + k for k in range(4)]], [f() for f in [lambda: k for k in range(4)]])
def deco(tag):
    def wrap(f):
        @functools.wraps(f)
        def g(*args, **kw):
            return f"<{tag}>{f(*args, **kw)}</{tag}>"
        return g
    return wrap
@deco("b")
@deco("i")
def text(s, /, times=1, *rest, sep="-", **kw): return sep.join([s] * times) + str(rest) + str(kw)
print(text("hi", 3, 4, 5, sep="+", z=1), text.__name__, inspect.signature(text))
for bad in (lambda: text(), lambda: text(s="x"), lambda: counter()(twice=1, what=2)):
    try: bad()
    except TypeError as e: print(e)
@functools.lru_cache(maxsize=None)
def fib(n): return n if n < 2 else fib(n - 1) + fib(n - 2)
print(fib(90), fib.cache_info(), functools.reduce(lambda x, y: x * y, range(1, 20)), functools.partial(pow, 2)(10))
@dataclasses.dataclass(order=True, frozen=True)
class Point:
    x: int
    y: int = 0
    tags: tuple = dataclasses.field(default=(), compare=False)
print(Point(1, 2), Point(1) < Point(1, 1), dataclasses.replace(Point(3), y=9), dataclasses.asdict(Point(1)))
class Colour(enum.Flag):
    RED = enum.auto(); GREEN = enum.auto(); BLUE = enum.auto()
print(Colour.RED | Colour.BLUE, list(Colour), Colour(3), Colour.GREEN in Colour(6))
class Shape(abc.ABC):
    registry = []
    def __init_subclass__(cls, **kw): Shape.registry.append((cls.__name__, kw))
    @abc.abstractmethod
    def area(self): ...
    @property
    def double(self): return 2 * self.area()
class Square(Shape):
    __slots__ = ("s",)
    def __init__(self, s): self.s = s
    def area(self): return self.s ** 2
class Meta(type):
    def __getattr__(cls, n): return n.upper()
class M(metaclass=Meta): pass
print(Square(3).double, Shape.registry, M.hello, [c.__name__ for c in type("D", (Square, M.__base__), {}).__mro__])
try: Shape()
except TypeError as e: print(e)
match {"op": "move", "to": [1, 2, *range(3)]}:
    case {"op": "move", "to": [x, y, *rest]} if x < y: print("move", x, y, rest)
print((lambda *a, **k: (a, k))(*[1, 2], *"ab", **{"k": 1}), [y := 5, y ** 2], (yes := "walrus") and yes)
