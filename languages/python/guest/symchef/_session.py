"""What both modes share: errors, the current session, how an outcome is described."""

from symchef._sealed import BUILTINS as __builtins__
from symchef._sealed import (HERE, args_of, code_of, getprofile, gettrace, is_a, setprofile, settrace,
                             traceback_of)

_current = None

# How many frames of a traceback are told: the innermost ones.
FRAMES = 50


class UsageError(Exception):
    """The test asked for something that cannot be; not an outcome of the code under test."""

    __module__ = "symchef"


def open_session(session):
    global _current
    _current = session


def ask(method, *arguments):
    """What the session answers. It is not traced: the two sessions differ in what they execute."""
    if _current is None:
        raise UsageError("inputs exist only inside a test run by symchef")
    call = getattr(_current, method)
    trace, profile = gettrace(), getprofile()
    if trace is None and profile is None:
        return call(*arguments)
    settrace(None)
    setprofile(None)
    try:
        return call(*arguments)
    finally:
        setprofile(profile)
        settrace(trace)


def classify(exc, expected):
    """The KIND of an outcome. A declared type is expected, whatever it is."""
    if any([is_a(exc, t) for t in expected]):
        return "expected"
    if is_a(exc, AssertionError):
        return "assertion"
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


def frames(exc):
    """FILE:LINE:FUNCTION of the frames that the exception has left, outermost first, without those of this library."""
    found = []
    step = traceback_of(exc)
    while step is not None:
        code = step.tb_frame.f_code
        file = code.co_filename
        if not file.startswith(HERE):
            line = step.tb_lineno
            found.append((file, 0 if line is None else line, code))
        step = step.tb_next
    return [plain("%s:%d:%s" % (file, line, getattr(code, "co_qualname", code.co_name)))
            for file, line, code in found[-FRAMES:]]


def plain(text):
    """The text with escapes for what is not UTF-8."""
    return text if text.isascii() else text.encode("utf-8", "backslashreplace").decode("utf-8")
