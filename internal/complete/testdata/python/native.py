"""Runs every program on every value of its inputs and prints one JSON object per run."""
import io
import json
import os
import sys

from programs import call, load
from symchef import _sealed, _session


class Pruned(BaseException):
    """The inputs do not satisfy an assumption."""


class Session:
    """Hands out all combinations of values, one per run: a counter whose digits are the inputs."""

    def __init__(self):
        self.digits = []  # [value, number of values], in the order of the inputs

    def start(self):
        self.at, self.expected, self.inputs = 0, (), {}

    def next(self):
        """Moves on to the next combination; false after the last."""
        while self.digits:
            self.digits[-1][0] += 1
            if self.digits[-1][0] < self.digits[-1][1]:
                return True
            self.digits.pop()
        return False

    def digit(self, n):
        if self.at == len(self.digits):
            self.digits.append([0, n])
        self.at += 1
        return self.digits[self.at - 1][0]

    def sequence(self, kind, name, default, lo, hi, ascii):
        n = lo + self.digit(hi - lo + 1)
        if lo < hi:
            self.inputs[name + ".len"] = n
        values = [self.digit(128 if kind == "str" else 256) for _ in range(n)]
        for i, v in enumerate(values):
            self.inputs["%s[%d]" % (name, i)] = v
        return "".join(map(chr, values)) if kind == "str" else bytes(values)

    def integer(self, name, default, lo, hi):
        self.inputs[name] = lo + self.digit(hi - lo + 1)
        return self.inputs[name]

    def boolean(self, name, default):
        self.inputs[name] = self.digit(2)
        return bool(self.inputs[name])

    def expect(self, types):
        self.expected += types

    def prune(self):
        raise Pruned


def run(session, function):
    """One run: its inputs, output and outcome."""
    session.start()
    sys.stdout = out = io.TextIOWrapper(io.BytesIO(), "utf-8", newline="\n")
    kind, type_name, message = "ok", "", ""
    try:
        call(function)
    except Pruned:
        kind = "pruned"
    except BaseException as e:
        kind, type_name, message = _session.classify(e, session.expected), _sealed.qualified(type(e)), _session.message(e)
    finally:
        sys.stdout = sys.__stdout__
    out.flush()
    return {"inputs": session.inputs, "output": out.buffer.getvalue().hex(),
            "outcome": {"kind": kind, "type": type_name, "message": message}}


for number, (name, function) in enumerate(load(os.environ.get("COMPLETE_ONLY", ""))):
    session = Session()
    _session.open_session(session)
    more = True
    while more:
        print(json.dumps({"program": name, "number": number} | run(session, function)))
        more = session.next()
