"""Looks at all that is decided of the structure of each shape. native.py has the same shapes by hand."""

from dataclasses import dataclass
from enum import Enum
from typing import Annotated, Dict, List, Literal, NamedTuple, Optional, Set, Tuple, TypedDict, Union

import symchef


class Color(Enum):
    RED = 1
    GREEN = 2


@dataclass
class Point:
    x: bool
    y: "Optional[int]" = None


class Pair(NamedTuple):
    first: bool
    second: None


class Node:
    def __init__(self, flag: bool, next: "Optional[Node]" = None):
        self.flag, self.next = flag, next


class Positive:
    def __init__(self, sign: Literal[-1, 0, 1]):
        if sign <= 0:
            raise ValueError("refused")
        self.sign = sign


class Options(TypedDict, total=False):
    flag: bool
    name: str


class Two:
    min_length = max_length = 2


def walk(v):
    """Goes by every place that v has."""
    if v is None:
        return 0
    if v is True:
        return 1
    if v is False:
        return 2
    kind = type(v)
    if kind is int or kind is float:
        return 3
    n = 7
    if kind is str or kind is bytes:
        for c in v:
            n += 1
        return n
    if kind is list or kind is tuple or kind is Pair or kind is set:
        for part in v:
            n += walk(part)
        return n
    if kind is dict:
        for key in v:
            n += walk(v[key])
        return n
    if kind is Point:
        return walk(v.x) + walk(v.y)
    if kind is Node:
        return walk(v.flag) + walk(v.next)
    if kind is Positive:
        return 100 * v.sign
    if v is Color.RED:
        return 1000
    return n


SHAPES = {
    "str": str,
    "bytes": "bytes",
    "bool": bool,
    "none": None,
    "list": List[int],
    "bools": "list[bool]",
    "nested": List[List[None]],
    "optional": Optional[float],
    "union": Union[int, str, None, List[bool]],
    "literal": Literal["a", None, True],
    "enum": Color,
    "tuple": Tuple[bool, Optional[int]],
    "tuples": Tuple[None, ...],
    "dataclass": Point,
    "named": Pair,
    "recursive": Node,
    "refused": Positive,
    "options": Options,
    "two": Tuple[Point, Optional[bool]],
    "dict": Dict[Annotated[str, Two], bool],
    "set": Set[Annotated[str, Two]],
}


def test_all(which: symchef.Choice(*SHAPES)):
    return walk(symchef.getValue("v", SHAPES[which]))
