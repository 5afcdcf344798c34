"""symchef diff: two functions on the same inputs (docs/diff.md). A pair is a test: it draws the arguments that the first function takes, calls both, each with
values of its own, and raises Difference where they do not do the same: another result, another exception, other output, or arguments left otherwise.
"""

import sys
from importlib import import_module

from symchef import UsageError, _check, _shape
from symchef._alike import _compare, _how
from symchef._sealed import BUILTINS as __builtins__

_loaded = {}  # modules by file


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
        _compare(_how(one), _how(two))

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
