"""Whether an exception that leaves a checked function is what its author meant. What is, ends as `expected`, and why is told (`judged`):

    documented    a docstring names the type, or one that it inherits from
    own           the package defines the type
    deliberate    a raise statement of the package's raised it, of which no docstring speaks
    environment   an OSError: it says something of files and networks, not of the function
    size          a MemoryError or OverflowError, where an int without bounds is an argument
    argument      a TypeError or AttributeError, where the type of an argument is a guess

One more is told of what stays an exception:

    value         a ValueError, LookupError or ArithmeticError, where the type of an argument is a guess: nothing says which values it takes, either
"""

import sys
from opcode import opmap
from types import ModuleType

from symchef import _docstring, _session
from symchef._sealed import BUILTINS as __builtins__
from symchef._sealed import inherits, is_a, module_of, qualified, traceback_of

_RAISE = None
_promised, _package, _guessed, _large = [], "", False, False
_builtins = dict(__builtins__)


def promised(function, texts, module):
    """The exceptions that docstrings name, those of the module included: types."""
    found = []
    where = [function.__globals__, vars(module), _builtins]
    for name in _docstring.exceptions(texts):
        value = None
        for names in where:
            value = _found(names, name)
            if value is not None:
                break
        if value is None and "." in name:
            home = sys.modules.get(name.rpartition(".")[0])
            value = None if home is None else vars(home).get(name.rpartition(".")[2])
        if is_a(value, type) and inherits(value, BaseException) and not any([value is f for f in found]):
            found.append(value)
    return found


def _found(names, path):
    first, *others = path.split(".")
    value = names.get(first)
    for name in others:
        value = vars(value).get(name) if is_a(value, ModuleType) or is_a(value, type) else None
    return value


def named(kind):
    return qualified(kind)


def judges(function, texts, module, guessed, large):
    """From here on exceptions are judged for this function."""
    global _promised, _package, _guessed, _large, _RAISE
    _promised, _guessed, _large, _RAISE = promised(function, texts, module), bool(guessed), large, opmap["RAISE_VARARGS"]
    _package = (function.__module__ or module.__name__).partition(".")[0]
    _session.judge = judged


def own_of(module):
    """The names of the exceptions that the package of a module defines, as far as it is loaded."""
    top = module.__name__.partition(".")[0]
    found = []
    for name, each in list(sys.modules.items()):
        if name.partition(".")[0] != top or not is_a(each, ModuleType):
            continue
        for value in list(vars(each).values()):
            if is_a(value, type) and inherits(value, BaseException) and type(module_of(value)) is str and module_of(value).partition(".")[0] == top:
                if named(value) not in found:
                    found.append(named(value))
    return found


def judged(exc):
    """Why the exception is what was meant, or None."""
    kind = type(exc)
    if any([inherits(kind, p) for p in _promised]):
        return "documented"
    if is_own(kind):
        return "own"
    if is_a(exc, OSError):
        return "environment"
    if is_a(exc, AssertionError):
        return None
    if is_deliberate(exc):
        return "deliberate"
    if _large and (is_a(exc, MemoryError) or is_a(exc, OverflowError)):
        return "size"
    if _guessed and any([is_a(exc, t) for t in (TypeError, AttributeError)]):
        return "argument"
    if _guessed and any([is_a(exc, t) for t in (ValueError, LookupError, ArithmeticError)]):
        return "value"
    return None


def is_own(kind):
    """Whether the package defines the type."""
    module = module_of(kind)
    return type(module) is str and module.partition(".")[0] == _package


def is_deliberate(exc):
    """Whether a raise statement of the package's raised it."""
    step = traceback_of(exc)
    if step is None:
        return False
    while step.tb_next is not None:
        step = step.tb_next
    name = step.tb_frame.f_globals.get("__name__")
    code = step.tb_frame.f_code.co_code
    at = step.tb_lasti
    return type(name) is str and name.partition(".")[0] == _package and 0 <= at < len(code) and code[at] == _RAISE
