"""Functions of all kinds, in a module that does what it should not."""

import asyncio
import builtins
import enum
import functools
from dataclasses import dataclass
from typing import NamedTuple, Optional, Protocol

print("a module that prints")


class Trouble(Exception):
    pass


class Colour(enum.Enum):
    RED = 1
    BLUE = 2


class Speaks(Protocol):
    def speak(self) -> str: ...


@dataclass
class Point:
    x: int
    y: int = 0

    def far(self) -> bool:
        return self.x > 10


class Pair(NamedTuple):
    a: int
    b: str


class Shelf:
    """:param size: int, how long it is"""

    def __init__(self, size, label="x"):
        self._size = size

    @property
    def size(self):
        return self._size

    @functools.cached_property
    def double(self):
        return 2 * self._size

    @staticmethod
    def parse(text: str):
        return text.strip()

    @classmethod
    def empty(cls):
        return cls(0)

    def __call__(self, n: int):
        return n

    def _hidden(self):
        raise Trouble

    class Inner:
        pass


def by_default(n=0, text="a", flag=False, other=None, *more, key: int, **rest):
    return n


def only_by_position(a: int, b: int = 1, /, c: int = 2, *, d: int = 3):
    return a


def by_sphinx(a, b, c):
    """
    :param int a: a number
    :param b: of what
    :type b: list of str
    :param c: String to be parsed
    :raises Trouble: never
    """


def by_google(a, b=None):
    """One.

    Args:
        a (int or str): what
        b (Optional[bool]): what else

    Raises:
        KeyError: sometimes
    """


def by_numpy(a, mode):
    """
    Parameters
    ----------
    a : int, optional
    mode : {'r', 'w'}

    Raises
    ------
    ValueError
        Never.
    """


def unknown(a, b: Colour):
    return a


def refused(a: type):
    pass


def counting(n: int):
    yield n


async def later(n: int):
    await asyncio.sleep(0)
    return n


async def endless():
    yield 1


@functools.lru_cache
def cached(n: int):
    return n


@functools.wraps(unknown)
def wrapped(*a, **k):
    return unknown(*a, **k)


small = lambda x: x
setattr(builtins, "nothing", None)
globals()["a name with spaces"] = cached
globals()["naïve"] = lambda n=1: n


def _private(n: int):
    pass


builtins.isinstance = builtins.getattr = builtins.len = builtins.hasattr = None  # the library has its own
