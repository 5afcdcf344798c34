"""The session inside the machine: requests on /dev/symchef (docs/device-protocol.md).

Requests are always concrete bytes. Texts that may hold symbolic characters (messages, logs) are
handed over by address and length. Objects for inputs are freshly made here and canonical: never
a default, a constant or one of the interpreter's shared singletons; `place` then writes
expressions of the input into them.
"""

from marshal import loads
from sys import intern
from posix import _exit, close as _close, dup2 as _dup2, getpid as _getpid, open as _open, read as _read, write as _write

from symchef._sealed import BUILTINS as __builtins__
from symchef._end import mark
from symchef._sealed import flush, qualified
from symchef._session import UsageError
from symchef._value import Encoder

DEVICE = "/dev/symchef"
_O_RDWR_CLOEXEC = 0o2000002
_FD = 1000  # of the device

# Where the payload of a compact ASCII str and of a bytes object begins, counted from id().
_STR_PAYLOAD = str.__sizeof__("") - 1
_BYTES_PAYLOAD = bytes.__basicsize__ - 1
# Of an int: ob_size, then the digits.
_INT_SIZE = 16
_INT_HEAD = int.__basicsize__


def quote(text):
    """Percent-encodes a concrete str or bytes as one field."""
    if type(text) is str:
        if text.isascii() and text.isprintable() and text and " " not in text and "%" not in text:
            return text
        text = text.encode("utf-8", "surrogatepass")
    if not text:
        return "%"
    return "".join([chr(b) if 0x21 <= b <= 0x7E and b != 0x25 else "%%%02X" % b for b in text])


class Session:
    expected = ()
    test = None  # the name of the test

    def __init__(self):
        self._fd = None  # of the device, once it is open: up to there the interpreter may run natively
        self._begun = False
        self._waiting = []  # calls that wait for `begin`
        self._wide = []  # (object, ID) of the int inputs
        self._encoder = Encoder(self._number)
        self._pid = None  # of the process that began

    def _hello(self):
        """Opens the device, out of the way: the test gets the descriptors that it gets natively."""
        try:
            fd = _open(DEVICE, _O_RDWR_CLOEXEC)
        except OSError:
            _write(2, b"symchef: not inside symchef and SYMCHEF_REPLAY is not set: nothing to run\n")
            _exit(2)
        try:
            self._fd = _dup2(fd, _FD, False)
            _close(fd)
        except OSError:
            self._fd = fd
        self._request("hello 1")

    def _send(self, data):
        """Writes a request. A test may have closed every descriptor that it finds."""
        try:
            _write(self._fd, data)
        except OSError:
            self._hello()
            _write(self._fd, data)

    def _request(self, line, body=b""):
        """One round trip; the fields of an ok reply. An err reply is the test's mistake."""
        if self._fd is None:
            self._hello()
        self._send((line + "\n").encode("ascii") + body)
        reply = _read(self._fd, 4096).decode("utf-8", "replace").rstrip("\n")
        if reply == "ok":
            return []
        if reply.startswith("ok "):
            return [int(f) for f in reply[3:].split(" ")]
        raise UsageError(reply[4:] if reply.startswith("err ") else "bad reply: " + reply)

    def _offer(self, line, body=b""):
        """A request that an engine need not understand."""
        try:
            self._request(line, body)
        except UsageError:
            pass

    def begin(self):
        """The snapshot point; happens once, before the first input."""
        if not self._begun:
            self._begun = True
            shared = _prime()
            mark()
            more = self._request("begin " + quote(self.test) if self.test else "begin")
            if more:  # objects of other sizes, which no other execution has
                self._kept = [(object(), bytes(i % 480), [i]) for i in range(more[0])]
            self._pid = _getpid()
            self._request("immortal - %d" % len(shared), shared)
            for method, argument in self._waiting:
                method(argument)

    def _place(self, ident, layout, obj, read):
        """The object, with the input in it; where it is not known what such objects look like, what read makes of the input's bytes."""
        if self._request("place %d %s %d" % (ident, layout, id(obj))) == [0]:
            return read(ident)
        return obj

    def _bytes(self, ident, n, less=0):
        """An input's elements, or its number less another in eight bytes, as the interpreter itself reads them."""
        self._send(b"value %d %d %d\n" % (ident, n, less))
        reply = _read(self._fd, 3 + n)
        if reply[:3] != b"ok\n":
            raise UsageError("bad reply")
        return reply[3:]

    def _text(self, ident, n):
        return self._bytes(ident, n).decode("ascii")

    def _int(self, ident):
        return int.from_bytes(self._bytes(ident, 8), "little", signed=True)

    def _float(self, ident):
        return loads(b"g" + self._bytes(ident, 8))

    def sequence(self, kind, name, default, lo, hi, ascii):
        self.begin()
        line = "input %s %s %s %d %d" % (quote(name), kind, quote(default), lo, hi)
        if kind == "str":
            line += " %d" % (1 if ascii else 0)
        ident, n = self._request(line)
        if n == 0:
            return "" if kind == "str" else b""
        # The values of length one are singletons: write into a longer object, then let the
        # interpreter itself choose the singleton (an affine table look-up).
        size = n if n > 1 else 2
        if kind == "str":
            if n == 1:
                return self._place(ident, "str1", "".join(["a", "b"]), lambda i: self._text(i, 1))[0]
            return self._place(ident, "str", "".join(["a"] * size), lambda i: self._text(i, n))
        if n == 1:
            return self._place(ident, "bytes1", bytes([0] * size), lambda i: self._bytes(i, 1))[0:1]
        return self._place(ident, "bytes", bytes([0] * size), lambda i: self._bytes(i, n))

    def integer(self, name, default, lo, hi):
        self.begin()
        (ident,) = self._request("input %s int %d %d %d" % (quote(name), default, lo, hi))
        bound = max(-lo, hi)
        digits = 1 if bound < 1 << 30 else 2 if bound < 1 << 60 else 3
        value = self._place(ident, "int%d" % digits, _fresh_int(digits), self._int)
        self._wide.append((value, ident))
        return value

    def real(self, name, default, lo, hi):
        self.begin()
        (ident,) = self._request("input %s float %r %r %r" % (quote(name), default, lo, hi))
        return self._place(ident, "float", len(DEVICE) / 8, self._float)  # computed: no constant

    def boolean(self, name, default):
        self.begin()
        (ident,) = self._request("input %s bool %d" % (quote(name), default))
        return self._place(ident, "int1", _fresh_int(1), self._int) != 0

    def choice(self, name, index, n):
        self.begin()
        self._choice, index = self._request("input %s choice %d %d" % (quote(name), index, n))
        return index

    def chosen(self, option):
        """What stands at the index that choice has given."""
        tokens = self._encoder.tokens(option)
        self._offer("chosen %d - %d" % (self._choice, len(tokens)), tokens)

    def shape(self, name, n, code):
        """The last n inputs make one value, which is this in source code."""
        self.begin()
        self._offer("shape %s %d %d %s" % (quote(name), n, len(code), " ".join([quote(piece) for piece in code])))

    def log(self, text):
        if not self._begun:
            self._waiting.append((self.log, text))
            return
        keep, addr, length = _text(text)
        self._request("log %d %d" % (addr, length))

    def expect(self, types):
        self.expected += types
        self._expect(types)

    def _expect(self, types):
        if not self._begun:
            self._waiting.append((self._expect, types))
            return
        self._request("expect " + " ".join([quote(qualified(t)) for t in types]))

    def discard(self):
        """Prunes a path of the test; before that, who asked says what is wrong."""
        if self._begun:
            self.prune()

    def prune(self):
        self.begin()
        self._request("prune")

    def concretize(self, value):
        kind = type(value)
        self.begin()
        if kind is bool:
            return True if value else False
        # The value may be a singleton chosen by a symbolic pointer: work on a fresh object made
        # from it, whose address is concrete, and give back what is then computed from that.
        if kind is str:
            fresh = value + "\n"
            self._concretize(id(fresh) + _STR_PAYLOAD, fresh.__sizeof__() - _STR_PAYLOAD)
            return fresh[:-1]
        if kind is bytes:
            fresh = value + b"\n"
            self._concretize(id(fresh) + _BYTES_PAYLOAD, len(fresh))
            return fresh[:-1]
        if kind is int:
            offset = 1 << 100
            fresh = value + offset
            self._concretize(id(fresh) + _INT_SIZE, 8)
            self._concretize(id(fresh) + _INT_HEAD, fresh.__sizeof__() - _INT_HEAD)
            return fresh - offset
        self._concretize(id(value) + _INT_SIZE, 8)  # a float
        return value

    def _concretize(self, addr, length):
        if length > 0:
            self._request("concretize %d %d" % (addr, length))

    def returned(self, value):
        """What the test function returned."""
        self.begin()
        tokens = self._encoder.tokens(value)
        self._offer("returned - %d" % len(tokens), tokens)

    def frames(self, frames):
        """The frames of the exception that ends the test."""
        if frames:
            self.begin()
            self._offer("frames %d %s" % (len(frames), " ".join([quote(f) for f in frames])))

    def judged(self, why):
        """Why the exception that ends the test is what was meant."""
        self.begin()
        self._offer("judged " + quote(why))

    def _number(self, value):
        """The eight bytes of an int input that the value is."""
        for v, ident in self._wide:
            if v is value:
                return self._bytes(ident, 8)
        return None

    def outcome(self, kind, type_name, text):
        """Reports how the test ended."""
        self.begin()
        keep, addr, length = _text(text)
        self._request("outcome %s %s %d %d" % (kind, quote(type_name), addr, length))

    def child(self):
        """Whether this process was made by the test: what it does is not how the test ends."""
        return self._begun and _getpid() != self._pid

    def leave(self, status):
        flush()
        _exit(status)

    def usage(self, text):
        """Tells the engine that the test cannot be run, and why; ends the machine."""
        self._request("usage " + quote(text))

    def function(self, run, name, at, signature, refused, guessed, promised, own):
        """Tells the engine of a function that can be checked, or why it cannot; before tests."""
        fields = [quote(text) for text in (run, name, at, signature, refused)]
        for names in (guessed, promised, own):
            fields += [str(len(names))] + [quote(n) for n in names]
        self._request("function " + " ".join(fields))

    def tests(self, names):
        """Tells the engine which tests the file has, and ends the machine."""
        self._request("tests %d" % len(names) + "".join([" " + quote(n) for n in names]))


def _fresh_int(digits):
    """A new int object with room for that many 30-bit digits; computed at run time, so neither
    a constant nor a small-int singleton."""
    one = len(DEVICE) // len(DEVICE)
    return (one << (30 * digits - 1)) + one


def _text(text):
    """(keep-alive, ADDR, LEN) of a str as UTF-8. The copy makes the address concrete even where
    the str is a singleton behind a symbolic pointer; isascii looks at a flag only."""
    n = len(text)
    copy = text + "\n"
    if copy.isascii():
        return copy, id(copy) + _STR_PAYLOAD, n
    raw = copy.encode("utf-8", "backslashreplace")
    return raw, id(raw) + _BYTES_PAYLOAD, len(raw) - 1


def _prime():
    """Makes the singleton tables uniform, so that only contents differ between entries: every
    one-character str hashed and interned, every one-byte bytes hashed. Tells where these are: pairs of an address and a size."""
    hash("")
    hash(b"")
    shared = []
    for i in range(-5, 257):
        shared.append(i)
    for i in range(256):
        c, b = chr(i), bytes([i])
        hash(c)
        hash(b)
        intern(c)
        shared += [c, b]
    return b"".join([n.to_bytes(8, "little") for v in shared for n in (id(v), v.__sizeof__() + 7 & -8)])
