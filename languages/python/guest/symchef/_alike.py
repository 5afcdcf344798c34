"""Whether two calls do the same (docs/diff.md). Tests that are emitted hold a copy of this file, so it needs nothing of the library."""

from symchef._sealed import BUILTINS as __builtins__

import sys
import types
from importlib import import_module
from io import StringIO

# How many values of a generator are taken.
_TAKEN = 16


class Difference(AssertionError):
    """Two functions do not do the same."""

    __module__ = "symchef"


def _how(call):
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
    """Raises Difference where what the first call did is not what the second one did."""
    if one[0] != two[0] or one[0] == "raised" and not _same_name(type(one[1]), type(two[1])):
        raise Difference("the first %s, the second %s" % (_said(one), _said(two)))
    if not _alike(one[1], two[1], set()):
        raise Difference("both %s, and %s" % (_said(one), "other ones" if type(one[1]) is type(two[1]) else "the second " + _said(two)))
    if one[2] != two[2]:
        raise Difference("they print other things")
    if not _alike(one[3], two[3], set()):
        raise Difference("they leave their arguments otherwise")


def _said(outcome):
    return "%s %s" % (outcome[0], type(outcome[1]).__qualname__)


def _same_name(a, b):
    return a is b or (a.__module__, a.__qualname__) == (b.__module__, b.__qualname__)


def _alike(a, b, seen):
    """Whether two values are the same to whoever looks at them. Classes of the two modules are the same if they are called so."""
    kind = type(a)
    if not _same_name(kind, type(b)):
        return False
    if kind in (int, str, bytes, bytearray, bool, complex, type(None), range):
        return bool(a == b)
    if kind is float:
        return bool(a == b) or a != a and b != b
    if (id(a), id(b)) in seen:
        return True
    seen.add((id(a), id(b)))
    if isinstance(a, (list, tuple)):
        return len(a) == len(b) and all([_alike(x, y, seen) for x, y in zip(a, b)])
    if isinstance(a, dict):
        return len(a) == len(b) and all([_alike(x, y, seen) and _alike(a[x], b[y], seen) for x, y in zip(a, b)])
    if isinstance(a, (set, frozenset)):
        return len(a) == len(b) and all([x in b for x in a])
    if isinstance(a, BaseException):
        return _alike(a.args, b.args, seen)
    if callable(a):
        return True
    space, other = getattr(a, "__dict__", None), getattr(b, "__dict__", None)
    slots = [s for c in kind.__mro__ for s in c.__dict__.get("__slots__", ()) if type(s) is str]
    if type(space) is dict and type(other) is dict and not _alike(space, other, seen):
        return False
    if slots:
        return all([_alike(getattr(a, s, None), getattr(b, s, None), seen) for s in slots if s not in ("__dict__", "__weakref__")])
    return type(space) is dict or bool(a == b) or repr(a) == repr(b)


def _recorded_pair(old, new, evaluate, load):
    """symchef.pair in a test that is emitted. evaluate makes the call of the first function, which is written out there; load gives a module and its name."""
    (first, called), (second, _) = load(old.rpartition(":")[0]), load(new.rpartition(":")[0])
    path = old.rpartition(":")[2].split(".")

    def arguments():
        calls = []

        def record(*positional, **named):
            calls.append((positional, named))
            return iter(())

        before = sys.modules.get(called)
        sys.modules[called] = _with(first, path, record)
        try:
            evaluate()
        except Exception:
            if not calls:
                raise
        finally:
            sys.modules.pop(called)
            if before is not None:
                sys.modules[called] = before
        return [list(calls[0][0]), calls[0][1]]

    def test():
        outcomes = []
        for module, name in (first, old), (second, new):
            function = module
            for part in name.rpartition(":")[2].split("."):
                function = getattr(function, part)
            outcomes.append(_how([lambda a, k, f=function: _ended(f(*a, **k)), arguments(), {}]))
        _compare(*outcomes)

    return test


def _with(real, path, value):
    """A module, or what is in one, with another value at a path."""
    shown = types.ModuleType("shown")
    shown.__getattr__ = lambda name: getattr(real, name)
    setattr(shown, path[0], value if len(path) == 1 else _with(getattr(real, path[0]), path[1:], value))
    return shown


def _ended(value):
    """What a generator gives first, or a coroutine in the end."""
    if type(value) is types.GeneratorType:
        return [each for each, _ in zip(value, range(_TAKEN))]
    if type(value) is types.CoroutineType:
        return import_module("asyncio").run(value)
    return value
