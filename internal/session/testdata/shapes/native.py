"""Prints, for each shape of test_shapes.py, the smallest value, how many different sequences of instructions all values take in walk, and what
that returns. The values are made by hand, the smallest first; what has no structure has one value."""

import itertools
import json
import os
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import test_shapes as t

BOOLS, INTS = [False, True], [5]


def lists(items, most=3, make=list):
    return [make(p) for n in range(most + 1) for p in itertools.product(items, repeat=n)]


def nodes(depth):
    return [t.Node(f, n) for f in BOOLS for n in [None] + (nodes(depth - 1) if depth > 1 else [])]


STRS = ["a" * n for n in range(5)]
POINTS = [t.Point(x, y) for x in BOOLS for y in [None] + INTS]
VALUES = {
    "str": STRS,
    "bytes": [b"a" * n for n in range(5)],
    "bool": BOOLS,
    "none": [None],
    "list": lists(INTS),
    "bools": lists(BOOLS),
    "nested": lists(lists([None])),
    "optional": [None] + INTS,
    "union": [None] + INTS + STRS + lists(BOOLS),
    "literal": [None, "a", True],
    "enum": list(t.Color),
    "tuple": [(a, b) for a in BOOLS for b in [None] + INTS],
    "tuples": lists([None], make=tuple),
    "dataclass": POINTS,
    "named": [t.Pair(a, None) for a in BOOLS],
    "recursive": nodes(3),
    "refused": [t.Positive(1)],
    "options": [dict(f + n) for f in [[]] + [[("flag", b)] for b in BOOLS] for n in [[]] + [[("name", s)] for s in STRS]],
    "two": list(itertools.product(POINTS, [None] + BOOLS)),
    "dict": [dict(zip(["ab", "cd"], values)) for values in lists(BOOLS, 2)],
    "set": [set(["ab", "cd"][:n]) for n in range(3)],
}


def trace(value):
    steps = []

    def local(frame, event, arg):
        frame.f_trace_opcodes = True
        if event == "opcode":
            steps.append((frame.f_code.co_name, frame.f_lasti))
        return local

    sys.settrace(local)
    try:
        result = t.walk(value)
    finally:
        sys.settrace(None)
    return tuple(steps), result


for name, values in VALUES.items():
    paths = [trace(v) for v in values]
    print(json.dumps({"name": name, "paths": len(set(s for s, _ in paths)), "first": paths[0][1], "results": sorted(set(r for _, r in paths))}))
