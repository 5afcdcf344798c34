"""The runner: python3.11 -m symchef /abs/test_x.py[::Name]."""

import sys
from importlib.util import module_from_spec, spec_from_file_location
from posix import environ, stat
from types import FunctionType

import symchef
from symchef import _session


def split(argument):
    """(path, name or None) of PATH[::Name]."""
    path, colons, name = argument.rpartition("::")
    return (path, name) if colons else (argument, None)


def is_file(path):
    try:
        return stat(path).st_mode & 0o170000 == 0o100000
    except OSError:
        return False


def import_test(path):
    """Imports the file as its own package would: the first directory above it without an
    __init__.py goes first on sys.path, in place of the working directory."""
    folder, _, base = path.rpartition("/")
    name = base[:-3] if base.endswith(".py") else base
    while folder and is_file(folder + "/__init__.py"):
        folder, _, package = folder.rpartition("/")
        name = package + "." + name
    if sys.flags.safe_path:
        sys.path.insert(0, folder or "/")
    else:
        sys.path[0] = folder or "/"
    sys.argv[:] = [path]
    package = name.rpartition(".")[0]
    if package:
        __import__(package)
    spec = spec_from_file_location(name, path)
    if spec is None:
        raise _session.UsageError("not a Python file: " + path)
    module = module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module


def is_class(value):
    return isinstance(value, type) and issubclass(value, symchef.SymbolicTest)


def is_test(module, name, value):
    """Whether a module-level name is a test defined in this very file."""
    if getattr(value, "__module__", None) != module.__name__:
        return False
    if is_class(value):
        return value.runTest is not symchef.SymbolicTest.runTest
    return isinstance(value, FunctionType) and name.startswith("test_")


def select(module, wanted):
    """(name, value) of the one test to run."""
    if wanted is not None:
        value = vars(module).get(wanted)
        if not (is_class(value) or isinstance(value, FunctionType)):
            raise _session.UsageError("no test named %s; tests here: %s" % (wanted, listing(module)))
        return wanted, value
    names = tests(module)
    if len(names) != 1:
        if not names:
            raise _session.UsageError("no SymbolicTest subclass and no test_* function in the file")
        raise _session.UsageError("several tests in the file, choose one with ::NAME: " + ", ".join(names))
    return names[0], vars(module)[names[0]]


def tests(module):
    return [n for n, v in list(vars(module).items()) if is_test(module, n, v)]


def listing(module):
    return ", ".join(tests(module)) or "none"


def parameters(function):
    """[(name, spec, default)] of a plain test function, in order; checked before `begin`."""
    code = function.__code__
    if code.co_flags & 0x2AC:  # *args, **kwargs, generator, coroutine, async generator
        raise _session.UsageError("%s: *args, **kwargs, generators and coroutines cannot be tests"
                                  % function.__name__)
    names = code.co_varnames[:code.co_argcount + code.co_kwonlyargcount]
    positional = names[:code.co_argcount]
    defaults = function.__defaults__ or ()
    default_of = dict(zip(positional[len(positional) - len(defaults):], defaults))
    default_of.update(function.__kwdefaults__ or {})
    found = []
    for name in names:
        spec = function.__annotations__.get(name)
        if isinstance(spec, str):  # from __future__ import annotations
            spec = eval(spec, function.__globals__)
        if isinstance(spec, type) and issubclass(spec, symchef._Spec):
            try:
                spec = spec()
            except TypeError:
                spec = None
        if not isinstance(spec, symchef._Spec):
            raise _session.UsageError("%s: parameter %s needs an annotation such as symchef.Str(10)"
                                      % (function.__name__, name))
        found.append((name, spec, default_of.get(name)))
    return found, code.co_posonlyargcount


def call_function(session, function):
    specs, posonly = parameters(function)
    session.begin()
    values = [(name, spec.make(name, default)) for name, spec, default in specs]
    function(*[v for _, v in values[:posonly]], **dict(values[posonly:]))


def call_class(session, cls):
    test = cls()
    test.setUp()
    session.begin()
    test.runTest()


def run(session, argument):
    path, wanted = split(argument)
    try:
        module = import_test(path)
        session.test, test = select(module, wanted)
    except _session.UsageError as e:
        session.usage("%s: %s" % (path, e))
    except SyntaxError as e:
        session.usage("%s:%s: syntax error: %s" % (e.filename or path, e.lineno, e.msg))
    except BaseException as e:
        session.usage("%s: importing it failed: %s: %s"
                      % (path, _session.qualified(type(e)), _session.message(e)))
    try:
        if is_class(test):
            call_class(session, test)
        else:
            call_function(session, test)
    except _session.UsageError as e:
        session.usage("%s: %s" % (path, e))
    except BaseException as e:
        session.report_traceback(e)
        kind = _session.classify(e, session.expected)
        session.outcome(kind, _session.qualified(type(e)), _session.message(e))
    session.outcome("ok", "", "")


def main():
    # posix.environ has bytes keys and values.
    replay = environ.get(b"SYMCHEF_REPLAY")
    try:
        if replay is not None:
            from symchef._replay import Session
            session = Session(replay.decode("utf-8", "surrogateescape"))
        else:
            from symchef._machine import Session
            session = Session()
    except _session.UsageError as e:
        sys.stderr.write("symchef: %s\n" % e)
        return 2
    except OSError:
        sys.stderr.write("symchef: not inside symchef and SYMCHEF_REPLAY is not set: nothing to run\n")
        return 2
    _session.open_session(session)
    if len(sys.argv) != 2:
        session.usage("usage: python3.11 -m symchef TEST[::NAME]")
    run(session, sys.argv[1])


sys.exit(main())
