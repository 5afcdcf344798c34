"""What the library uses of Python, where the code under test cannot replace it.

Every module of the library begins with

    from symchef._sealed import BUILTINS as __builtins__

so that its functions look names up in this copy and not in `builtins`, which anybody may change. What they need of other
modules stands in their own globals, taken before the test's file is read; nothing is imported later. Attributes of objects
that are not the library's are read by the slots of the built-in types below: a class of the test's may define properties of
the same names.
"""

import builtins
import sys

try:  # a replay needs it; inside the machine it is imported so that the test finds the same modules
    import _json
except ImportError:
    pass

BUILTINS = dict(builtins.__dict__)
__builtins__ = BUILTINS

# The library's folder: frames of its code are nobody's business.
HERE = __file__.rpartition("/")[0] + "/"

mro = type.__dict__["__mro__"].__get__
name_of = type.__dict__["__qualname__"].__get__
module_of = type.__dict__["__module__"].__get__
args_of = BaseException.__dict__["args"].__get__
traceback_of = BaseException.__dict__["__traceback__"].__get__
code_of = SystemExit.__dict__["code"].__get__

gettrace, settrace = sys.gettrace, sys.settrace
getprofile, setprofile = sys.getprofile, sys.setprofile
getrecursionlimit, setrecursionlimit = sys.getrecursionlimit, sys.setrecursionlimit

_limit = getrecursionlimit()
_sys = sys.__dict__
_first = (sys.stdout, sys.stderr)
_flush_text = type(sys.stdout).flush if sys.stdout is not None else None

_monitoring = getattr(sys, "monitoring", None)  # since Python 3.12
_TOOLS = range(6)




def inherits(cls, wanted):
    """issubclass that asks nobody: a metaclass may be code of the test's, and define == too."""
    for base in mro(cls):
        if base is wanted:
            return True
    return False


def is_a(value, wanted):
    """isinstance that asks nobody: value.__class__ may be code of the test's."""
    return inherits(type(value), wanted)


def qualified(cls):
    """The name of a type as outcomes spell it: builtins without their module."""
    try:
        module = module_of(cls)
    except Exception:
        module = None
    name = name_of(cls)
    return name if type(module) is not str or module == "builtins" else "%s.%s" % (module, name)


def stops():
    """What ends all that the code under test has asked the interpreter to do for each of its steps. Each part is for `[*part]`, once:
    that calls functions written in C, and shows no call of anything to anybody."""
    parts = [map(settrace, (None,)), map(setprofile, (None,))]
    if _monitoring is not None:
        parts += [map(_monitoring.set_events, (tool,), (0,)) for tool in _TOOLS]
    return parts


def alone():
    """Ends what the code under test has asked the interpreter to do for each of its steps: from here on the library is by itself."""
    if gettrace() is not None:
        settrace(None)
    if getprofile() is not None:
        setprofile(None)
    if getrecursionlimit() < _limit:
        setrecursionlimit(_limit)
    if _monitoring is not None:
        for tool in _TOOLS:
            if _monitoring.get_tool(tool) is not None:
                _monitoring.set_events(tool, 0)


def watched():
    """What alone ends, for resume; None if there is nothing."""
    state = gettrace(), getprofile(), getrecursionlimit(), []
    if _monitoring is not None:
        state[3].extend([(tool, _monitoring.get_events(tool)) for tool in _TOOLS if _monitoring.get_tool(tool) is not None])
    return state if state[0] is not None or state[1] is not None or state[2] < _limit or state[3] else None


def resume(state):
    """Has all as it was when watched told it."""
    trace, profile, limit, events = state
    setrecursionlimit(limit)
    for tool, what in events:
        _monitoring.set_events(tool, what)
    setprofile(profile)
    settrace(trace)


def report(text):
    """Writes what an exception says at the end of the program, as the interpreter does: what has been printed comes before."""
    if text is None:
        return
    for stream, act in (("stdout", lambda s: s.flush()), ("stderr", lambda s: s.write(text + "\n")), ("stderr", lambda s: s.flush())):
        try:
            act(_sys.get(stream))
        except BaseException:
            pass
    alone()


def flush():
    """Flushes what the interpreter would when it ends: the present standard streams, whatever they are, and the first ones."""
    for stream in (_sys.get("stdout"), _sys.get("stderr")):
        try:
            stream.flush()
        except BaseException:
            pass
    alone()
    for stream in _first:
        try:
            _flush_text(stream)
        except BaseException:
            pass
