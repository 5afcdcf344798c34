"""The runner: python3 -m symchef /abs/test_x.py[::Name].

While the test runs this module is on the stack, where the test may empty its globals: nothing of it is executed later."""

import os
import sys
from importlib.util import module_from_spec, spec_from_file_location
from posix import O_CLOEXEC, O_RDONLY, close, environ, open, read, stat, write
from types import FunctionType

import symchef
from symchef import _classes, _outcome, _session
from symchef._call import call_test
from symchef._end import end
from symchef._sealed import BUILTINS
from symchef._sealed import alone, inherits, is_a, module_of, mro, qualified

__builtins__ = dict(BUILTINS)

_Spec, _Test = symchef._Spec, symchef.SymbolicTest
_no_test = _Test.runTest

# In the machine, where the lines of the test file are, by number (docs/device-protocol.md).
HEAD = "/symchef/head/"

# Where the files of a native replay are, unless the environment names others (docs/device-protocol.md).
EXCHANGE = "/symchef/replay/"


def split(argument):
    """(path, name or None) of PATH[::NAME], of a method PATH::CLASS.METHOD or PATH::CLASS::METHOD."""
    path, colons, name = argument.partition("::")
    return (path, name.replace("::", ".")) if colons else (argument, None)


def is_file(path):
    try:
        return stat(path).st_mode & 0o170000 == 0o100000
    except OSError:
        return False


def line_of_head(name):
    """A line of the test file, or what it begins with; None where there is none, or it is no short text."""
    try:
        fd = open(HEAD + name, O_RDONLY | O_CLOEXEC)
    except OSError:
        return None
    line = read(fd, 4097)
    close(fd)
    try:
        return line.decode() if len(line) <= 4096 else None
    except UnicodeDecodeError:
        return None


def import_head(name, path):
    """Executes the imports that the file begins with as the file will again, without a look at it: a snapshot behind them serves after
    an edit of what follows. What is not an absolute import in one line ends them, and so does one that fails: the file repeats it."""
    names = {"__name__": name, "__file__": path, "__builtins__": sys.modules["builtins"]}
    quotes, first, number = None, True, 0  # quotes: what ends the text that documents the file
    while True:
        number += 1
        begin = line_of_head("%d.7" % number)
        if begin is None:
            return
        documents = quotes is not None or first and begin.startswith(('"""', "'''"))
        if not documents and not begin.startswith(("import ", "from ")):
            if begin.startswith("#") or not begin.strip():
                continue
            return
        line = line_of_head("%d" % number)
        if line is None or "\\" in line:
            return
        first = False
        if documents:
            if quotes is None:
                quotes, line = line[:3], line[3:]
            if quotes in line:
                quotes = None
            continue
        text = line.partition("#")[0].rstrip()
        if not text.isascii() or any([c in text for c in "(;\r"]) or text.startswith("from ."):
            return
        if not text.startswith("from __future__"):
            try:
                exec(compile("\n" * (number - 1) + text, path, "exec", 0, True), names)
            except BaseException:
                return


def import_test(path):
    """Imports the file as its own package would: the first directory above it without an
    __init__.py goes first on sys.path, in place of the working directory."""
    folder, _, base = path.rpartition("/")
    name = base[:-3] if base.endswith(".py") else base
    while folder and is_file(folder + "/__init__.py"):
        folder, _, package = folder.rpartition("/")
        name = package + "." + name
    if getattr(sys.flags, "safe_path", False):  # since Python 3.11
        sys.path.insert(0, folder or "/")
    else:
        sys.path[0] = folder or "/"
    sys.argv[:] = [path]
    package = name.rpartition(".")[0]
    if package:
        __import__(package)
    import_head(name, path)
    spec = spec_from_file_location(name, path)
    if spec is None:
        raise _session.UsageError("not a Python file: " + path)
    module = module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module


def names_shapes(module):
    """Whether a function or a method of the file asks for a value of a shape."""
    found = list(vars(module).values())
    for cls in [v for v in found if is_a(v, type)]:
        found += list(_classes.own(cls).values())
    return any([n in ("getValue", "getList") for f in found if type(f) is FunctionType for n in f.__code__.co_names])


def is_class(value):
    return is_a(value, type) and inherits(value, _Test)


def is_own(module, cls):
    """Whether a class is defined in this very file."""
    name = module_of(cls)
    return type(name) is str and name == module.__name__


def unfit(module, cls):
    """Why a class that looks like a test cannot be run, or None. One without tests is for others to inherit, and so is one that others inherit."""
    if cls.runTest is not _no_test or any([is_class(c) and c is not cls and inherits(c, cls) for c in list(vars(module).values())]):
        return None
    names = [n for base in mro(cls) if base is not _Test for n, v in list(vars(base).items())
             if type(v) is FunctionType and n.lower().startswith(("test", "runtest"))]
    return "it has %s, but a SymbolicTest is run by its method runTest" % ", ".join(names) if names else None


_INPUTS = {"symchef"} | {n for n in vars(_Test) if n.startswith("get")}


def takes_inputs(function):
    """Whether a function is meant as a test with inputs: it names the library, or an annotation of its parameters does."""
    if type(function) is not FunctionType:
        return False
    function = described(function)
    code = function.__code__
    if any([n in _INPUTS for n in code.co_names]):
        return True
    try:
        found = list(function.__annotations__.items())
        return any([spec_of(name, name, spec, function) is not None for name, spec in found if name != "return"])
    except Exception:
        return False


def methods_with_inputs(cls):
    return [n for n in _classes.methods(cls) if takes_inputs(_classes.described([cls], n)[0])]


def tests_of(module, name, value):
    """CLASS.METHOD of the tests of a class that is no SymbolicTest; one that is imported counts if it takes inputs."""
    if not is_a(value, type) or is_class(value) or not (is_own(module, value) or methods_with_inputs(value)):
        return []
    return _classes.tests(name, value)


def misplaced(module, name, value):
    """Why something that is meant as a test with inputs is not run, or None."""
    if is_a(value, type):
        if is_class(value) or not is_own(module, value):
            return None
        names = methods_with_inputs(value)
        why = _classes.refused(name, value)
        return "it has %s, but %s" % (", ".join(names), why) if names and why is not None else None
    if name.startswith("test_") and qualified(type(value)) == "functools.partial" and takes_inputs(value.func):
        return "it is a functools.partial, but a test is a function: def %s(...)" % name
    return None


def is_test(module, name, value):
    """Whether a module-level name is a test, or looks like one: a function or class defined in this very file, or a function with inputs that
    it has imported."""
    if is_class(value):
        return is_own(module, value) and (value.runTest is not _no_test or unfit(module, value) is not None)
    if type(value) is FunctionType:
        return name.startswith("test_") and (value.__module__ == module.__name__ or takes_inputs(value))
    return misplaced(module, name, value) is not None


def select(module, wanted):
    """(name, value) of the one test to run. Where none is named and there are several, or * is, the engine is told which there are."""
    if wanted == "*" or wanted is None and len(tests(module)) > 1:
        _session.ask("tests", tests(module))
    if wanted is None:
        names = tests(module)
        if not names:
            raise _session.UsageError("no test_* function, no class with methods test* and no SymbolicTest in the file")
        wanted = names[0]
    value = vars(module).get(wanted)
    if is_a(value, type) and not is_class(value):
        mine = tests_of(module, wanted, value)
        if len(mine) > 1:
            _session.ask("tests", mine)
        if mine:
            wanted = mine[0]
    names = wanted.split(".")
    if len(names) > 1 and wanted in tests_of(module, names[0], vars(module).get(names[0])):
        return wanted, _classes.find(vars(module)[names[0]], names[1:])
    why = misplaced(module, wanted, value)
    if why is not None:
        raise _session.UsageError("%s: %s" % (wanted, why))
    if not (is_class(value) or type(value) is FunctionType):
        raise _session.UsageError("no test named %s; tests here: %s" % (wanted, listing(module)))
    if is_class(value):
        why = unfit(module, value)
        if why is not None:
            raise _session.UsageError("%s: %s" % (wanted, why))
    return wanted, value


def tests(module):
    found = []
    for name, value in list(vars(module).items()):
        found += [name] if is_test(module, name, value) else tests_of(module, name, value)
    return found


def listing(module):
    return ", ".join(tests(module)) or "none"


def described(function):
    """The function that tells a test's parameters: what functools.wraps has wrapped."""
    for _ in range(100):
        inner = function.__dict__.get("__wrapped__")
        if type(inner) is not FunctionType:
            break
        function = inner
    return function


def evaluated(name, parameter, annotation, function):
    """An annotation that is text, as `from __future__ import annotations` makes all of them."""
    try:
        return eval(annotation, function.__globals__)
    except _session.UsageError:
        raise
    except Exception as e:
        raise _session.UsageError("%s: the annotation of parameter %s, %s: %s: %s" % (
            name, parameter, annotation, qualified(type(e)), _session.message(e))) from None


def metadata(annotation):
    """What typing.Annotated adds."""
    try:
        return tuple(annotation.__metadata__)
    except Exception:
        return ()


def spec_of(name, parameter, spec, function):
    """The input that an annotation declares, or None."""
    for _ in range(2):  # text in quotes is text of text
        if type(spec) is str:
            spec = evaluated(name, parameter, spec, function)
    for extra in metadata(spec):  # of typing.Annotated
        if is_a(extra, _Spec) or is_a(extra, type) and inherits(extra, _Spec):
            spec = extra
            break
    if is_a(spec, type) and inherits(spec, _Spec):
        try:
            spec = spec()
        except TypeError:
            spec = None
    return spec if is_a(spec, _Spec) else None


def parameters(name, function, skip=0):
    """[(name, spec, what has to be asked)] of a test's parameters behind the first skip, in order, and how many of them have to be passed
    by position; checked before `begin`. Without a spec it is the default that is passed."""
    function = described(function)
    code = function.__code__
    if code.co_flags & 0x2A0:  # generator, coroutine, async generator
        raise _session.UsageError("%s: generators and coroutines cannot be tests: run them in a plain function, as asyncio.run does" % name)
    names = code.co_varnames[:code.co_argcount + code.co_kwonlyargcount]
    positional = names[:code.co_argcount]
    defaults = function.__defaults__ or ()
    default_of = dict(zip(positional[len(positional) - len(defaults):], defaults))
    default_of.update(function.__kwdefaults__ or {})
    try:  # since Python 3.14 they are evaluated here
        annotations = function.__annotations__
    except Exception as e:
        raise _session.UsageError("%s: its annotations: %s: %s" % (name, qualified(type(e)), _session.message(e))) from None
    found = []
    for parameter in names[skip:]:
        spec = spec_of(name, parameter, annotations.get(parameter), function)
        if spec is None and parameter in annotations and parameter not in default_of:
            spec = symchef._shapes().spec_of(parameter, annotations[parameter], function.__globals__)
        if spec is None and parameter not in default_of:
            raise _session.UsageError("%s: parameter %s needs an annotation such as symchef.Str(10)" % (name, parameter))
        default = default_of.get(parameter)
        found.append((parameter, spec, default if spec is None else spec.check(parameter, default)))
    more = list(code.co_varnames[len(names):])
    for flag, stars in (0x04, "*"), (0x08, "**"):
        if code.co_flags & flag:
            parameter = more.pop(0)
            try:
                spec = spec_of(name, parameter, annotations.get(parameter), function)
            except _session.UsageError:
                continue
            if spec is not None:
                raise _session.UsageError("%s: %s%s takes no input: each input is a parameter of its own" % (name, stars, parameter))
    return found, max(code.co_posonlyargcount - skip, 0)


def arguments(specs, posonly):
    """What the test is called with: by position, by name."""
    _session.ask("begin")
    values = [(name, checked if spec is None else spec.ask(name, checked)) for name, spec, checked in specs]
    return [v for _, v in values[:posonly]], dict(values[posonly:])


def prepared(name, test):
    """The function that is the test, and what it is called with."""
    if type(test) is tuple:
        found = parameters(name, *_classes.described(*test))
        return (_classes.prepare(test[0], test[1], symchef.expect),) + arguments(*found)
    if not is_class(test):
        return (test,) + arguments(*parameters(name, test))
    instance, found = test(), ([], 0)
    if type(test.runTest) is FunctionType:
        found = parameters("runTest", test.runTest, 1)
    instance.setUp()
    return (instance.runTest,) + arguments(*found)


def check(session, path, wanted):
    """Calls a function for which there is no test, or tells which there are: NAME(), or *()."""
    from symchef import _check
    listed = wanted.endswith("*()")
    try:
        if listed:
            _check.list_all(path, wanted[:-3].rstrip("."))
        _outcome.begin(session, path)
        parts = _check.prepared(session, path, wanted)
    except _session.UsageError as e:
        message = _session.message(e)
        session.usage(message if listed else "%s::%s: %s" % (path, wanted, message))
    except BaseException as e:
        alone()
        session.usage("%s: importing it failed: %s: %s" % (path, qualified(type(e)), _session.message(e)))
    return call_test(parts, _outcome.returned, _outcome.failed, end)


def run(session, argument):
    path, wanted = split(argument)
    if wanted is not None and wanted.endswith("()"):
        return check(session, path, wanted)
    try:
        module = import_test(path)
        _session.home = vars(module)
        if names_shapes(module):
            symchef._shapes()
        session.test, test = select(module, wanted)
    except _session.UsageError as e:
        session.usage("%s: %s%s" % (path, e, _session.line_in(path, e)))
    except SyntaxError as e:
        session.usage("%s:%s: syntax error: %s" % (e.filename or path, e.lineno, e.msg))
    except BaseException as e:
        alone()
        name, hint = qualified(type(e)), ""
        if name == "ModuleNotFoundError":
            hint = "; PYTHONPATH says where modules are, --interpreter which Python has them"
        session.usage("%s: importing it failed: %s: %s%s%s" % (path, name, _session.message(e), _session.line_in(path, e), hint))
    _outcome.begin(session, path)
    try:
        parts = list(prepared(session.test, test))
    except BaseException:
        parts = None
        status = _outcome.failed()
    if parts is None:
        return end(status)
    return call_test(parts, _outcome.returned, _outcome.failed, end)


def main():
    # posix.environ has bytes keys and values.
    replay, outcome = environ.pop(b"SYMCHEF_REPLAY", None), environ.pop(b"SYMCHEF_OUTCOME", None)
    for variable in ("SYMCHEF_REPLAY", "SYMCHEF_OUTCOME"):  # the test sees the environment of the machine
        os.environ.pop(variable, None)
    if replay is None and is_file(EXCHANGE + "native"):
        replay, outcome = (EXCHANGE + "inputs.json").encode(), (EXCHANGE + "outcome.json").encode()
    try:
        if replay is not None:
            from symchef._replay import Session
            session = Session(replay.decode("utf-8", "surrogateescape"), outcome)
        else:
            from symchef._machine import Session
            session = Session()
    except _session.UsageError as e:
        write(2, ("symchef: %s\n" % e).encode("utf-8", "backslashreplace"))
        return 2
    _session.open_session(session)
    if len(sys.argv) != 2:
        session.usage("usage: python3 -m symchef TEST[::NAME]")
    return run(session, sys.argv[1])


raise SystemExit(main())
