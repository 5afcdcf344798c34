"""Replaces every name in builtins, and every function of the modules that a library could use, before and within the test."""
import builtins, gc, io, json, os, posix, sys, types
import symchef

_raise, _list, _setattr, _callable = ValueError, list, setattr, callable


def broken(*args, **keywords):
    raise RuntimeError("not the library's business")


def replace_all():
    for module in (json, io, os, posix, types, gc, builtins):
        for name in _list(module.__dict__):
            if name[:2] != "__" and _callable(module.__dict__[name]):
                _setattr(module, name, broken)
    builtins.__import__ = builtins.__build_class__ = broken
    for name in ("stdout", "stderr", "modules", "intern", "gettrace", "settrace", "getprofile", "setprofile", "excepthook", "exc_info",
                 "getrecursionlimit", "setrecursionlimit", "path", "argv", "flags"):
        _setattr(sys, name, broken)


def test_all(s: symchef.Str(3), n: symchef.Int(0, 9), c: symchef.Choice("p", "q")):
    symchef.log("one", s)
    replace_all()
    symchef.log("two", n)
    if s == "abc":
        raise _raise("three")
    if n > 5:
        return [s, n, {"c": c}, (1.5, None, True, b"x")]
    return n
