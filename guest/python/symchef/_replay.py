"""The session of a native replay: inputs come from a file, the outcome goes to another."""

import json
import os
import sys

from symchef._session import UsageError, qualified


class Session:
    expected = ()

    def __init__(self, path):
        try:
            with open(path, encoding="utf-8") as f:
                case = json.load(f)
            if case["version"] != 1:
                raise ValueError("version %r" % case["version"])
            self._inputs = list(case["inputs"])
        except (OSError, ValueError, KeyError, TypeError) as e:
            raise UsageError("cannot read the inputs to replay: %s" % e) from None
        self._log = []

    def begin(self):
        pass

    def _next(self, kind, name):
        if not self._inputs:
            raise UsageError("replay: no value for input %s" % name)
        item = self._inputs.pop(0)
        if item["name"] != name or item["type"] != kind:
            raise UsageError("replay: the test declares %s %s, the file has %s %s"
                             % (kind, name, item["type"], item["name"]))
        if kind == "bytes":
            return bytes.fromhex(item["bytes_hex"])
        return item["value"]

    def sequence(self, kind, name, default, lo, hi, ascii):
        value = self._next(kind, name)
        if not lo <= len(value) <= hi:
            raise UsageError("replay: the length of %s is out of bounds" % name)
        return value

    def integer(self, name, default, lo, hi):
        value = int(self._next("int", name))
        if not lo <= value <= hi:
            raise UsageError("replay: the value of %s is out of bounds" % name)
        return value

    def real(self, name, default, lo, hi):
        value = float(self._next("float", name))
        if not lo <= value <= hi:
            raise UsageError("replay: the value of %s is out of bounds" % name)
        return value

    def boolean(self, name, default):
        return bool(self._next("bool", name))

    def choice(self, name, index, n):
        value = self._next("choice", name)
        if not 0 <= value < n:
            raise UsageError("replay: the value of %s is out of bounds" % name)
        return value

    def log(self, text):
        self._log.append(text)

    def expect(self, types):
        self.expected += types

    def concretize(self, value):
        return value

    def prune(self):
        self.outcome("pruned", "", "")

    def outcome(self, kind, type_name, text):
        """Writes the outcome and leaves at once, as the path does inside the machine."""
        self._write({"version": 1, "kind": kind, "type": type_name, "message": text, "log": self._log})
        self._leave(0)

    def usage(self, text):
        self._write({"version": 1, "kind": "usage", "type": "", "message": text, "log": self._log})
        sys.stderr.write("symchef: %s\n" % text)
        self._leave(2)

    def report_traceback(self, exc):
        import traceback
        try:
            traceback.print_exception(exc)
        except BaseException:
            pass

    def _write(self, record):
        path = os.environ.get("SYMCHEF_OUTCOME")
        if path:
            with open(path, "w", encoding="utf-8", errors="backslashreplace") as f:
                json.dump(record, f)
                f.write("\n")

    def _leave(self, status):
        for stream in (sys.stdout, sys.stderr):
            try:
                stream.flush()
            except BaseException:
                pass
        os._exit(status)
