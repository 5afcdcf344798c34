"""Draws every call of the functions of kinds.py, with leaves of one value each, and holds each against the source code that is told of it: evaluated, this gives what
the call does. Their number is that of all combinations."""

import asyncio
import itertools
import os
import sys

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))) + "/shapes")
from decisions import Decisions, Pruned, told

import symchef
from symchef import _check, _session
from symchef._shape import Shape

module = _check.load(os.path.dirname(os.path.abspath(__file__)) + "/kinds.py")

# How many calls there are, the first one, how many of them are discarded. Text of 0 to 4 characters has 5, a list of one value each 0 to 3 items.
GUESS = 1 + 2 + 1 + 5 + 4
CALLS = {
    "plain": (2 * 3, "plain(False, None)"),
    "left_out": (2 * 3 * 3, "left_out(False)"),
    "only_by_position": ((1 + 2 * 3) * 3, "only_by_position()"),
    "behind_more": (4, "behind_more(False, b=False)"),
    "guessed": (GUESS, "guessed(None)"),
    "by_default": (3, "by_default()"),
    "by_text": (2 * 4, "by_text(False)"),
    "counted": (2, "list(itertools.islice(counted(False), 16))"),
    "later": (2, "asyncio.run(later(False))"),
    "cached": (2, "cached(False)"),
    "Box": (2 * 3, "Box(False)", 1),
    "Box.method": (2 * 2 * 2, "Box(a=False, b=False).method(False)", 2),
    "Box.told": (4, "Box(a=False, b=False).told", 1),
    "Box.kept": (4, "Box(a=False, b=False).kept", 1),
    "Box.made": (2, "Box.made(False)"),
    "Box.alone": (15, "Box.alone([])"),
    "Box.__call__": (8, "Box(a=False, b=False).__call__(False)", 2),
    "Box.remembered": (8, "Box(a=False, b=False).remembered(False)", 2),
}

failed = []
listing = _check.Listing("")
listing.modules = [module]
found = [path for _, path in listing.functions()]
if sorted(found) != sorted(CALLS):
    failed.append("found %s" % sorted(set(found) ^ set(CALLS)))
_session.home = {}
for path, want in CALLS.items():
    builder, node, _ = _check.Callee(module, path).build()
    session = Decisions()
    _session.open_session(session)
    n, discarded, seen = 0, 0, []
    while True:
        session.at, session.values = 0, []
        n += 1
        try:
            function, arguments, keywords = Shape(node).ask("call", ())
            value = function(*arguments, **keywords)
        except (Pruned, module.Refused):
            discarded += 1
        else:
            code = told(session.told, session.values)
            again = eval(code, {"kinds": module, "asyncio": asyncio, "itertools": itertools})
            if type(again) is not type(value) or again != value:
                failed.append("%s is not %r" % (code, value))
            if code in seen:
                failed.append("%s comes twice" % code)
            seen.append(code)
        if not session.again() or n == 2000:
            break
    got = n, seen[0].replace("kinds.", ""), discarded
    if got != (want + (0,))[:3]:
        failed.append("%s: %r, want %r" % (path, got, want))

print("%d functions" % len(CALLS))
for line in failed:
    print(line)
sys.exit(bool(failed))
