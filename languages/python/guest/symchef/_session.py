"""What both modes share: errors, the current session, how an outcome is described."""

from sys import modules as MODULES
from types import ModuleType

from symchef._sealed import BUILTINS as __builtins__
from symchef._sealed import HERE, alone, args_of, code_of, is_a, resume, traceback_of, watched

_current = None

# The globals of the test's file.
home = {}

# What says why an exception is what the author of a checked function meant, see _judge.py; None: nobody judges.
judge = None

# How many frames of a traceback are told: the innermost ones.
FRAMES = 50


class UsageError(Exception):
    """The test asked for something that cannot be; not an outcome of the code under test."""

    __module__ = "symchef"


def open_session(session):
    global _current
    _current = session


def ask(method, *arguments):
    """What the session answers. Nobody traces that: the two sessions differ in what they execute."""
    if _current is None:
        raise UsageError("inputs exist only inside a test run by symchef")
    call = getattr(_current, method)
    state = watched()
    if state is None:
        return call(*arguments)
    alone()
    try:
        return call(*arguments)
    finally:
        resume(state)


# What a test raises to be skipped: module and name, for each runner.
SKIPS = (("unittest.case", "SkipTest"), ("_pytest.outcomes", "Skipped"))


def skip_types():
    """Those of SKIPS whose module is loaded. They may have come while the test ran."""
    loaded = [(MODULES.get(module), name) for module, name in SKIPS]
    return [t for t in [m.__dict__.get(name) for m, name in loaded if type(m) is ModuleType] if type(t) is type]


def classify(exc, expected):
    """The KIND of an outcome. A declared type is expected, whatever it is, and so is what skips the test."""
    if any([is_a(exc, t) for t in [*expected, *skip_types()]]):
        return "expected"
    if is_a(exc, AssertionError):
        return "assertion"
    if is_a(exc, SystemExit):
        return "exit"
    return "exception"


def message(exc):
    """str(exc), except where str itself would look at every character of a symbolic text:
    KeyError's quoting (the key is given bare) and SystemExit (its code). Never fails."""
    try:
        args = args_of(exc)
        if is_a(exc, SystemExit):
            code = code_of(exc)
            text = "" if code is None else str(code)
        elif is_a(exc, KeyError) and len(args) == 1 and type(args[0]) is str:
            text = args[0]
        else:
            text = str(exc)
        return text if type(text) is str else str.__str__(text)
    except BaseException:
        return ""
    finally:
        alone()


def exits(exc):
    """The status with which a SystemExit ends the process, and the text that it writes, or None."""
    code = code_of(exc)
    if code is None:
        return 0, None
    if is_a(code, int):
        return (code & 255 if -(1 << 63) <= code < 1 << 63 else 255), None
    return 1, message(exc)


def frames(exc):
    """FILE:LINE:FUNCTION of the frames that the exception has left, outermost first, without those of this library and of unittest."""
    found = []
    step = traceback_of(exc)
    while step is not None:
        code = step.tb_frame.f_code
        file = code.co_filename
        if not file.startswith(HERE) and "__unittest" not in step.tb_frame.f_globals:
            line = step.tb_lineno
            found.append((file, 0 if line is None else line, code))
        step = step.tb_next
    return [plain("%s:%d:%s" % (file, line, getattr(code, "co_qualname", code.co_name)))
            for file, line, code in found[-FRAMES:]]


def line_in(path, exc):
    """" (line N)", where the file was when the exception left it, or nothing."""
    lines = [frame[len(path) + 1:].partition(":")[0] for frame in frames(exc) if frame.startswith(path + ":")]
    return " (line %s)" % lines[-1] if lines else ""


def plain(text):
    """The text with escapes for what is not UTF-8."""
    return text if text.isascii() else text.encode("utf-8", "backslashreplace").decode("utf-8")
