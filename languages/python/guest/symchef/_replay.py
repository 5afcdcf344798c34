"""The session of a native replay: inputs come from a file, the outcome goes to another."""

from posix import O_CLOEXEC, O_CREAT, O_RDONLY, O_TRUNC, O_WRONLY, _exit, getpid
from posix import close, open as _open, read, write

from symchef._sealed import BUILTINS as __builtins__
from symchef._end import mark
from symchef._sealed import flush
from symchef._session import UsageError, plain
from symchef._value import Encoder

try:  # the parts of package json that are in C: no more is imported than inside the machine
    from _json import encode_basestring_ascii as _quote, make_scanner

    class _Plain:
        strict = False
        object_hook = object_pairs_hook = None
        parse_float, parse_int, parse_constant = float, int, float
        memo = {}

    _scan = make_scanner(_Plain)
except ImportError:
    from json.decoder import JSONDecoder
    from json.encoder import py_encode_basestring_ascii as _quote
    _scan = JSONDecoder(strict=False).raw_decode


class Session:
    expected = ()
    test = None

    def __init__(self, path, outcome):
        self._path = path
        self._out = outcome
        self._inputs = None
        self._log = []
        self._returned = self._frames = self._told = None
        self._pid = None
        self._encoder = Encoder(lambda value: None)

    def begin(self):
        """Reads the inputs; nothing before this depends on them (docs/device-protocol.md)."""
        if self._inputs is not None:
            return
        mark()
        try:
            case, _ = _scan(_load(self._path).decode("utf-8").strip(), 0)
            if case["version"] != 1:
                raise ValueError("version %r" % case["version"])
            self._inputs = list(case["inputs"])
        except (OSError, ValueError, KeyError, TypeError, StopIteration) as e:
            raise UsageError("cannot read the inputs to replay: %s" % e) from None
        self._pid = getpid()

    def _next(self, kind, name):
        self.begin()
        if not self._inputs:
            raise UsageError("replay: no value for input %s" % name)
        item = self._inputs.pop(0)
        if item["name"] != name or item["type"] != kind:
            raise UsageError("replay: the test declares %s %s, the file has %s %s"
                             % (kind, name, item["type"], item["name"]))
        if kind == "bytes":
            return bytes.fromhex(item.get("bytes_hex", ""))  # no field for no bytes
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

    def chosen(self, option):
        pass

    def shape(self, name, n, code):
        self.begin()

    def log(self, text):
        self._log.append(text)
        if self._told is not None:
            self._write(*self._told)

    def expect(self, types):
        self.expected += types

    def concretize(self, value):
        return value

    def discard(self):
        """Prunes a path of the test; before that, who asked says what is wrong."""
        if self._inputs is not None:
            self.prune()

    def prune(self):
        self.begin()
        self._write("pruned", "", "")
        self.leave(0)

    def returned(self, value):
        self._returned = self._encoder.tokens(value)

    def frames(self, frames):
        self._frames = frames

    def judged(self, why):
        pass

    def child(self):
        return self._inputs is not None and getpid() != self._pid

    def outcome(self, kind, type_name, text):
        """Writes the outcome."""
        self.begin()
        self._told = kind, type_name, text
        self._write(kind, type_name, text)

    def usage(self, text):
        write(2, ("symchef: %s\n" % text).encode("utf-8", "backslashreplace"))
        self._write("usage", "", text)
        self.leave(2)

    def tests(self, names):
        raise UsageError("several tests in the file, choose one with ::NAME: " + ", ".join(names))

    def _write(self, kind, type_name, text):
        if not self._out:
            return
        fields = ['"version":1', '"kind":' + _quote(kind), '"type":' + _quote(plain(type_name)), '"message":' + _quote(plain(text)),
                  '"log":[%s]' % ",".join([_quote(plain(line)) for line in self._log])]
        if self._returned is not None:
            fields.append('"returned_hex":"%s"' % self._returned.hex())
        if self._frames:
            fields.append('"frames":[%s]' % ",".join([_quote(f) for f in self._frames]))
        data = ("{%s}\n" % ",".join(fields)).encode("ascii")
        try:
            fd = _open(self._out, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o666)
        except OSError:  # the test may have taken all descriptors
            close(0)
            fd = _open(self._out, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o666)
        while data:
            data = data[write(fd, data):]
        close(fd)

    def leave(self, status):
        flush()
        _exit(status)


def _load(path):
    fd = _open(path, O_RDONLY | O_CLOEXEC)
    try:
        parts = []
        while True:
            part = read(fd, 1 << 20)
            if not part:
                return b"".join(parts)
            parts.append(part)
    finally:
        close(fd)
