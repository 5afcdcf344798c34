"""What both modes share: errors, the current session, how an outcome is described."""

_current = None


class UsageError(Exception):
    """The test asked for something that cannot be; not an outcome of the code under test."""

    __module__ = "symchef"


def open_session(session):
    global _current
    _current = session


def current():
    if _current is None:
        raise UsageError("inputs exist only inside a test run by symchef")
    return _current


def qualified(cls):
    """The name of a type as outcomes spell it: builtins without their module."""
    module = getattr(cls, "__module__", None)
    name = cls.__qualname__
    return name if module in (None, "builtins") else "%s.%s" % (module, name)


def classify(exc, expected):
    """The KIND of an outcome. A declared type is expected, whatever it is."""
    if isinstance(exc, expected):
        return "expected"
    if isinstance(exc, AssertionError):
        return "assertion"
    return "exception"


def message(exc):
    """str(exc), except where str itself would look at every character of a symbolic text:
    KeyError's quoting (the key is given bare) and SystemExit (its code). Never fails."""
    try:
        args = exc.args
        if isinstance(exc, SystemExit):
            text = "" if exc.code is None else str(exc.code)
        elif isinstance(exc, KeyError) and len(args) == 1 and type(args[0]) is str:
            text = args[0]
        else:
            text = str(exc)
        return text if type(text) is str else str.__str__(text)
    except BaseException:
        return ""
