"""How the interpreter ends, as far as that is seen: docs/python.md.

Freeing everything takes Python millions of instructions, of which nobody sees anything. So what comes before that is done here, and
the rest is left to it only where an object may act when it is freed. Such are looked for among the objects that came since the test
began, and once, when it begins, among those that are there."""

import os
import sys
from _weakref import ReferenceType
from atexit import _run_exitfuncs, register
from gc import callbacks, freeze, get_debug, get_freeze_count, get_objects, unfreeze
from io import BufferedReader, BufferedWriter, BytesIO, FileIO, StringIO, TextIOWrapper
from posix import _exit
from types import CodeType, FunctionType, GeneratorType

from symchef._sealed import BUILTINS as __builtins__
from symchef._sealed import flush, inherits, mro

_modules, _library = sys.modules, os.__file__.rpartition("/")[0] + "/"
_streams = [x for s in (sys.stdin, sys.stdout, sys.stderr) if type(s) is TextIOWrapper for x in (s, s.buffer)]
_members = type.__dict__["__dict__"].__get__
_flags = type.__dict__["__flags__"].__get__
_COLLECTED, _HEAP = 1 << 14, 1 << 9  # Py_TPFLAGS_HAVE_GC, Py_TPFLAGS_HEAPTYPE
_callback = ReferenceType.__dict__["__callback__"].__get__
_code = GeneratorType.__dict__["gi_code"].__get__
if "gi_suspended" in GeneratorType.__dict__:
    _suspended = GeneratorType.__dict__["gi_suspended"].__get__
else:  # before Python 3.11
    _frame, _running = GeneratorType.__dict__["gi_frame"].__get__, GeneratorType.__dict__["gi_running"].__get__

    def _suspended(generator):
        frame = _frame(generator)
        return frame is not None and frame.f_lasti >= 0 and not _running(generator)

_table = getattr(CodeType.__dict__.get("co_exceptiontable"), "__get__", None)
_buffer, _raw = TextIOWrapper.__dict__["buffer"].__get__, BufferedWriter.__dict__["raw"].__get__
_closed = FileIO.__dict__["closed"].__get__

_acts = True  # there was something when the test began that may act in the end
_harmless = set()  # identities of types that nobody frees or changes
_first = None  # the oldest object that came since
_frozen = get_freeze_count()  # by the interpreter itself: tuples, in 3.12


def mark():
    """Looks at the objects that are there."""
    global _acts, _first
    if get_freeze_count() == _frozen:  # all go to the oldest generation
        freeze()
        unfreeze()
        _acts = _any_acts(get_objects())
        _first = []


def end(status=0):
    """Does what Python does at its end, and leaves with the status; returns it where freeing all objects belongs to it."""
    threads = _modules.get("threading")
    if threads is not None:  # the first thing that it does is to wait for them
        try:
            register(threads._shutdown)
        except Exception:
            pass
    try:
        _run_exitfuncs()
    except BaseException:  # up to Python 3.9 the last one is raised once more
        pass
    if not (_acts or callbacks or get_debug() or get_freeze_count()):
        young = get_objects(1) + get_objects(0)
        if len(young) == 0 or young[0] is not _first:  # some of them are old by now
            young = get_objects()
        if not _any_acts(young):
            flush()
            _exit(status)
    return status


def _any_acts(objects):
    types = list(map(type, objects))
    kinds = dict(zip(map(id, types), types))  # a metaclass may define what it is to be equal
    suspects = set()
    for i in kinds.keys() - _harmless:
        t = kinds[i]
        for base in mro(t):
            if base is ReferenceType or base is type or "__del__" in _members(base):
                suspects.add(i)
                break
        else:
            if not _flags(t) & _HEAP:
                _harmless.add(i)
    return len(suspects) > 0 and any([_may_act(o, type(o)) for o in objects if id(type(o)) in suspects])


def _may_act(o, t):
    """Whether o does something that is seen when it is freed."""
    if inherits(t, type):  # instances of some classes are not known to the collector
        return not _flags(o) & _COLLECTED and any([type(_members(base).get("__del__", _WRITTEN_IN_C)) is not type(_WRITTEN_IN_C) for base in mro(o)])
    if inherits(t, ReferenceType):
        callback = _callback(o)
        if type(callback) is FunctionType:  # those of Python's own library only take what is gone from a collection
            file = callback.__code__.co_filename
            return not file.startswith(_library) or "-packages/" in file
        # Of abstract classes and of what is a thread's own.
        return callback is not None and not (type(callback) is _BUILTIN and callback.__name__ in ("_destroy", "_localdummy_destroyed", "clear_locals"))
    if t is GeneratorType:  # where nothing would catch that it is closed, nothing of it is executed
        return _suspended(o) and (_table is None or _table(_code(o)) != b"")
    if t is BufferedReader or t is FileIO or t is StringIO or t is BytesIO or any([o is s for s in _streams]):
        return False
    try:
        if t is TextIOWrapper:
            o = _buffer(o)
            t = type(o)
        if t is BufferedWriter:
            raw = _raw(o)
            return not (type(raw) is FileIO and _closed(raw))
    except Exception:  # not initialized, or detached
        pass
    return t is not BufferedReader


_BUILTIN, _WRITTEN_IN_C = type(len), object.__init__
