"""Functions of all kinds that return what they were called with."""

import asyncio
import functools
from typing import List, Optional


class Refused(Exception):
    pass


def plain(a: bool, b: Optional[bool]):
    return a, b


def left_out(a: bool, b: bool = False, *, c: bool = True):
    return a, b, c


def only_by_position(a: bool = False, b: bool = False, /, c: bool = False):
    return a, b, c


def behind_more(a: bool, *more, b: bool, **rest):
    return a, more, b, rest


def guessed(x):
    return x


def by_default(a=True, b=None, _c=1):
    return a, b, _c


def by_text(a, b=None):
    """
    :param bool a: one
    :param b: True or False
    :type b: bool or None
    """
    return a, b


def counted(n: bool):
    while True:
        yield n


async def later(n: bool):
    await asyncio.sleep(0)
    return n


@functools.wraps(plain)
def wrapped(*a, **k):
    return plain(*a, **k)


@functools.lru_cache(None)
def cached(n: bool):
    return n


class Box:
    def __init__(self, a: bool, size=None, *, b: bool = False):
        if a and b:
            raise Refused
        self.a, self.b = a, b

    def __eq__(self, other):
        return type(other) is Box and (self.a, self.b) == (other.a, other.b)

    def method(self, c: bool):
        return self.a, self.b, c

    @property
    def told(self):
        return self.a, self.b

    @functools.cached_property
    def kept(self):
        return [self.a]

    @classmethod
    def made(cls, a: bool):
        return cls(a)

    @staticmethod
    def alone(a: List[bool]):
        return a

    def __call__(self, a: bool):
        return a

    @functools.lru_cache(None)
    def remembered(self, a: bool):
        return a

    __hash__ = None or (lambda self: 1)
