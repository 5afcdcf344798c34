"""Draws every value of many shapes with leaves of one value each, and holds each against the source code that is told of it: evaluated, this gives an equal
value. Says per shape how many values there are, which the test knows, and the first of them."""

import sys
import datetime
import pathlib
import typing
from dataclasses import InitVar, dataclass, field
from enum import Enum, IntEnum
from datetime import timedelta
from fractions import Fraction
from typing import *

import symchef
from decisions import Decisions, Pruned, told
from symchef import _session, _shape

try:
    from typing import Annotated, Literal, TypedDict, Protocol
except ImportError:  # before Python 3.9
    Annotated = None


class Limit:
    def __init__(self, **limits):
        self.__dict__.update(limits)


class Same:
    def __eq__(self, other):
        return type(self) is type(other) and self.__dict__ == other.__dict__

    __hash__ = None


class Color(Enum):
    RED = 1
    CRIMSON = 1
    BLUE = "b"

    def paint(self):
        pass


class Level(IntEnum):
    LOW = 1
    HIGH = 2


class Pair(NamedTuple):
    a: int
    b: "Optional[Color]" = None


class Node(Same):
    def __init__(self, value: int, next: "Optional[Node]" = None, *rest: int, **more: int):
        self.value, self.next = value, next


class Even(Same):
    def __init__(self, tree: "Optional[Odd]"):
        self.tree = tree


class Odd(Same):
    def __init__(self, tree: Even):
        self.tree = tree


class Wide(Same):
    def __init__(self, children: "List[Wide]"):
        self.children = children


@dataclass
class Base:
    x: int
    y: "Optional[str]" = None
    hidden: int = field(default=3, init=False)
    count: ClassVar[int] = 7


@dataclass
class Derived(Base):
    seed: InitVar[bool] = False


class Refuses(Same):
    def __init__(self, x: bool):
        if x:
            raise ValueError
        self.x = x


class New(Same):
    def __new__(cls, x: bool):
        self = object.__new__(cls)
        self.x = x
        return self


class Plain(Same):
    class Inner(Same):
        def __init__(self, untold, *, by_name: bool):
            self.untold, self.by_name = untold, by_name


T = TypeVar("T")
Number = TypeVar("Number", int, bool)


class Box(Same, Generic[T]):
    def __init__(self, content: T):
        self.content = content


Json = Union[None, bool, "List[Json]"]
UserId = NewType("UserId", int)

import abc
import types

numbers = sys.modules["numbers"] = types.ModuleType("numbers")
exec("class Numbers:\n  def __init__(self, n): self.n = n\n  def __eq__(self, other): return self.n == other.n", numbers.__dict__)


class Animal(abc.ABC):
    @abc.abstractmethod
    def name(self): ...


class Dog(Same, Animal):
    def __init__(self, old: bool):
        self.old = old

    def name(self): ...


class Cat(Same, Animal):
    def name(self): ...


# The annotation, how many values it has, the first one, how many of them are discarded. Text of 0 to 4 characters has 5.
SHAPES = [
    ("str", None), ("None", 1, "None"), ("Optional[int]", 2, "None"), ("Union[int, None, str]", 7, "None"), ("Optional['Color']", 3, "None"),
    ("List[int]", 4, "[]"), ("List[bool]", 15, "[]"), ("List", 1 + 9 + 81 + 729, "[]"), ("Tuple[int, ...]", 4, "()"), ("Tuple[int, bool]", 2, "(0, False)"),
    ("Tuple[int]", 1, "(0,)"), ("Tuple[()]", 1, "()"), ("Set[int]", 3, "set()"), ("FrozenSet[bool]", 7, "frozenset()", 2), ("Dict[bool, None]", 7, "{}", 2),
    ("Dict[str, List[int]]", 1 + 20 + 400, "{}", 1 * 16), ("Sequence[int]", 4, "[]"), ("Mapping[int, int]", 3, "{}"), ("Iterable[int]", 4, "[]"),
    ("complex", 1, "complex(0.5, 0.5)"), ("bytearray", 5, "bytearray(b'')"), ("Color", 2, "Color.RED"), ("Level", 2, "Level.LOW"), ("Pair", 3, "Pair(a=0, b=None)"),
    ("Node", 3, "Node(value=0, next=None)"), ("Even", 2, "Even(tree=None)"), ("Wide", 1 + 4 + 16 + 64 - 0, "Wide(children=[])"), ("Base", 6, "Base(x=0, y=None)"),
    ("Derived", 12, "Derived(x=0, y=None, seed=False)"), ("Refuses", 2, "Refuses(x=False)", 1), ("New", 2, "New(x=False)"), ("Plain", 1, "Plain()"),
    ("Plain.Inner", 16 + 2, "Plain.Inner(untold=None, by_name=False)"), ("Box[int]", 1, "Box(content=0)"), ("Box[Box[bool]]", 2, "Box(content=Box(content=False))"),
    ("List[Box[None]]", 4, "[]"), ("UserId", None), ("Number", 3, "1"), ("Animal", 3, None), ("Callable", "no value is known"), ("datetime.date", 1, "datetime.date(1, 1, 2)"), ("List[pathlib.Path]", None), ("Fraction", 1, "Fraction(0, 1)"), ("timedelta", 1, None),
    ("'Optional[Linked]'", 4, "None"), ("Tree", 15, "Tree(left=None, right=None)"),
    ("int", None), ("Type[int]", "a class is no input"),
    ("'Missing'", "NameError"), ("Json", None), ("type(sys)", "no value is known"), ("numbers.Numbers", 9, "numbers.Numbers(n=None)"), ("Any", 9, "None"), ("object", 9, "None"),
]
NEWER = [
    ("tuple[symchef.Int(5, 9), symchef.Choice('a', 3, Color.BLUE)]", 3, "(5, 'a')"), ("list[symchef.Bool]", 15, "[]"), ("list[symchef.Str]", "needs arguments"), ("list[symchef.Choice(len)]", "no source code"),
    ("Literal['a', 1, None, Color.BLUE]", 4, "None"), ("Annotated[int, Limit(ge=3)]", None), ("Annotated[List[int], Limit(min_length=1, max_length=2)]", 2, "[1]"),
    ("Annotated[List[int], Limit(min_length=2)]", 4, "[1, 2]"), ("Annotated[Set[str], Limit(max_length=1)]", 6, "set()"), ("Annotated[int, Limit(gt=3, lt=4)]", "no number"),
    ("Tuple[Annotated[int, Limit(gt=2.5, le=3)], Annotated[float, Limit(ge=0.0, le=0.0)]]", 1, "(3, 0.0)"), ("Annotated[str, Limit(min_length=3, max_length=2)]", "no length"),
    ("Tuple[Annotated[float, Limit(gt=0.5, lt=0.75)]]", 1, None), ("Tuple[Annotated[int, Limit(metadata=[Limit(ge=7)])]]", 1, "(7,)"), ("list[dict[str, 'Box[int]']]", None),
    ("Record", 3 * 2, "{}"), ("Endless", "no end"),
]


@dataclass
class Linked:
    next: "Optional[Linked]"


@dataclass
class Tree:
    left: "Optional[Tree]"
    right: "Optional[Linked]"


class Endless:
    def __init__(self, more: "Tuple[Endless]"):
        pass


if Annotated:
    class Record(TypedDict, total=False):
        a: bool
        b: None

    SHAPES += NEWER


failed = []
_session.home = globals()
for row in SHAPES:
    annotation, want = row[:2]
    try:
        spec = _shape.spec_of("x", annotation, globals())
    except symchef.UsageError as e:
        if type(want) is not str or want not in str(e):
            failed.append("%s: %s" % (annotation, e))
        continue
    if type(want) is str:
        failed.append("%s: no error" % annotation)
        continue
    session = Decisions()
    _session.open_session(session)
    n = discarded = 0
    first = None
    seen = []
    while True:
        session.at, session.values = 0, []
        n += 1
        try:
            value = spec.make("x")
        except Pruned:
            discarded += 1
        else:
            code = told(session.told, session.values) if session.told is not None else repr(value)
            again = eval(code)
            if type(again) is not type(value) or again != value:
                failed.append("%s: %s is not %r" % (annotation, code, value))
            if code in seen:
                failed.append("%s: %s comes twice" % (annotation, code))
            if len(seen) < 1000:
                seen.append(code)
        if not session.again() or n == 2000:
            break
    if want is not None:
        want = want, row[2], (row[3:] or (0,))[0]
        got = n, seen[0] if want[1] is not None else None, discarded
        if got != want:
            failed.append("%s: %r, want %r" % (annotation, got, want))

print("%d shapes" % len(SHAPES))
for line in failed:
    print(line)
sys.exit(bool(failed))
