"""symchef diff: two functions on the same inputs (docs/diff.md). A pair is a test: it draws the arguments that the first function takes, calls both, each with
values of its own, and raises Difference where they do not do the same: another result, another exception, other output, or arguments left otherwise.
"""

import sys
from importlib import import_module
from io import StringIO

from symchef import UsageError, _check, _shape
from symchef._classes import own
from symchef._sealed import BUILTINS as __builtins__
from symchef._sealed import is_a, mro, name_of, qualified

_loaded = {}  # modules by file
_PLAIN = (int, str, bytes, bytearray, bool, complex, type(None), range)


class Difference(AssertionError):
    """Two functions do not do the same."""


class Pair(_check.Call):
    """The call of the first function, and the same of the second; it makes the function that compares them."""

    def __init__(self, call, other):
        _check.Call.__init__(self, call.pieces, call.function, None, call.parameters, call.before, call.after, call.through)
        self.other = other

    def draw(self, recipe, name, left):
        first = _check.Call.draw(self, recipe, name, left)

        def second():
            made = first()
            if self.through is None:
                return (self.other,) + made[1:]
            return made[0], [self.other] + made[1][1:], made[2]

        return lambda: (first(), second())


def pair(old, new):
    """A test of two functions, each FILE.py:NAME or MODULE:NAME. What the first one takes is what both are called with."""
    path, name = _split(old)
    first = _check.Callee(_module(path), name)
    builder, call, _ = first.build()
    if call.instance is not None:
        raise UsageError("%s: a method needs an object of each class: compare functions, or what makes the classes" % old)
    other = _value(new)
    for module in _check.imported_later(first.module.__name__.partition(".")[0]):
        try:
            import_module(module)
        except Exception:
            pass
    shape = _shape.Shape(builder.add(Pair(call, other)))
    builder.settle()

    def test():
        one, two = shape.ask("call", ())
        _compare(_outcome(one), _outcome(two))

    return test


def _split(spec):
    path, _, name = spec.rpartition(":")
    if not path or not name:
        raise UsageError("%s: want FILE.py:NAME or MODULE:NAME" % spec)
    return path, name


def _module(path):
    """The module of a file or of a name. Another one of that name may be loaded: both stay."""
    if not path.endswith(".py"):
        return import_module(path)
    if path not in _loaded:
        name = _check.place_of(path)[1]
        there = sys.modules.get(name)
        if there is not None and _check.file_of(there) != path:
            for each in list(sys.modules):
                if each.partition(".")[0] == name.partition(".")[0]:
                    del sys.modules[each]
        _loaded[path] = _check.load(path)
    return _loaded[path]


def _value(spec):
    """What stands at FILE.py:NAME, in whatever language it is written."""
    path, name = _split(spec)
    value = _module(path)
    for part in name.split("."):
        value = getattr(value, part, None)
    if not callable(value):
        raise UsageError("%s: there is nothing of this name that can be called" % spec)
    return value


def _outcome(call):
    """How a call ends, with what, what it prints, and what it leaves of its arguments."""
    function, arguments, keywords = call
    before, sys.stdout = sys.stdout, StringIO()
    try:
        how, value = "returned", function(*arguments, **keywords)
    except Exception as e:
        how, value = "raised", e
    finally:
        printed, sys.stdout = sys.stdout.getvalue(), before
    return how, value, printed, (arguments, keywords)


def _compare(one, two):
    if one[0] != two[0] or one[0] == "raised" and not _same_name(type(one[1]), type(two[1])):
        raise Difference("the first %s, the second %s" % (_said(one), _said(two)))
    if not _alike(one[1], two[1], set()):
        raise Difference("both %s, and %s" % (_said(one), "other ones" if type(one[1]) is type(two[1]) else "the second " + _said(two)))
    if one[2] != two[2]:
        raise Difference("they print other things")
    if not _alike(one[3], two[3], set()):
        raise Difference("they leave their arguments otherwise")


def _said(outcome):
    return "%s %s" % (outcome[0], name_of(type(outcome[1])))


def _same_name(a, b):
    return a is b or qualified(a) == qualified(b)


def _alike(a, b, seen):
    """Whether two values are the same to whoever looks at them. Classes of the two modules are the same if they are called so."""
    kind = type(a)
    if not _same_name(kind, type(b)):
        return False
    if kind in _PLAIN:
        return bool(a == b)
    if kind is float:
        return bool(a == b) or a != a and b != b
    if (id(a), id(b)) in seen:
        return True
    seen.add((id(a), id(b)))
    if is_a(a, list) or is_a(a, tuple):
        return len(a) == len(b) and all([_alike(x, y, seen) for x, y in zip(a, b)])
    if is_a(a, dict):
        return len(a) == len(b) and all([_alike(x, y, seen) and _alike(a[x], b[y], seen) for x, y in zip(a, b)])
    if is_a(a, set) or is_a(a, frozenset):
        return len(a) == len(b) and all([x in b for x in a])
    if is_a(a, BaseException):
        return _alike(a.args, b.args, seen)
    if callable(a):
        return True
    space, other = getattr(a, "__dict__", None), getattr(b, "__dict__", None)
    slots = [s for c in mro(kind) for s in own(c).get("__slots__", ()) if type(s) is str]
    if type(space) is dict and type(other) is dict and not _alike(space, other, seen):
        return False
    if slots:
        return all([_alike(getattr(a, s, None), getattr(b, s, None), seen) for s in slots if s not in ("__dict__", "__weakref__")])
    return type(space) is dict or bool(a == b) or repr(a) == repr(b)
