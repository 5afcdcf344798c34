"""Tells how the test ended. No function of this module is on the stack while the test runs."""

from sys import exc_info

from symchef import _session
from symchef._contract import ContractError
from symchef._sealed import BUILTINS as __builtins__
from symchef._sealed import alone, is_a, qualified, report

_present = _path = None


def begin(session, path):
    global _present, _path
    _present, _path = session, path


def returned(value):
    """The test has returned. Returns the status of the process."""
    alone()
    session = _present
    if session.child():
        session.leave(0)
    session.returned(value)
    session.outcome("ok", "", "")
    return 0


def failed():
    """The exception that is being handled has left the test. Returns the status of the process."""
    alone()
    session, e = _present, exc_info()[1]
    if is_a(e, _session.UsageError):
        session.usage("%s: %s%s" % (_path, _session.message(e), _session.line_in(_path, e)))
    status, text = _session.exits(e) if is_a(e, SystemExit) else (1, None)
    if session.child():
        report(text)
        session.leave(status)
    session.frames(_session.frames(e))
    kind = _session.classify(e, session.expected)
    if is_a(e, ContractError):  # its message tells no value: that would take a path for each
        session.returned(e.__dict__.get("values"))
    elif _session.judge is not None and kind in ("exception", "assertion"):
        why = _session.judge(e)
        if why is not None:
            session.judged(why)
            if why != "value":
                kind = "expected"
    if kind != "exit":
        session.outcome(kind, qualified(type(e)), _session.message(e))
        return 0
    report(text)
    session.outcome(kind, qualified(type(e)), text or "")
    return status
