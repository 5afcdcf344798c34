"""What a test returned, as tokens (docs/device-protocol.md). The tokens' structure is concrete, and no symbolic content is looked
at: texts are copied, numbers go through operations that are one path for all their values. Nothing of the test's own code
is called: of an object of a class that is not built in, the type's name is all that is told."""

from symchef._sealed import BUILTINS as __builtins__
from symchef._sealed import mro, name_of, module_of, qualified
from marshal import dumps

MOST = 4096  # bytes
DEPTH = 8
_CUT = b"z0:"
_NONE, _TRUE, _FALSE = b"n0:", b"T0:", b"F0:"

_encode, _items = str.encode, dict.items
_attribute = object.__getattribute__

# A number of one digit (30 bits) stays one when this is added, and is positive then.
_HALF = 1 << 29
# What is added to that makes a number of four digits of any that has fewer; of its bytes the first eight are those of the number.
_BIAS = (1 << 91) + (1 << 90) - _HALF
_size = int.__sizeof__
_ONE_DIGIT, _DIGIT = int.__sizeof__(1), 4


class Encoder:
    """number(v) is the eight bytes of an input that v is, or None."""

    def __init__(self, number):
        self._number = number

    def tokens(self, value):
        """The tokens of a value, as bytes."""
        self._room, self._short = MOST - len(_CUT), False
        out = []
        try:
            self._add(out, value, 0)
        except RecursionError:
            return _CUT
        return b"".join(out)

    def _leaf(self, out, token):
        """Adds a token; its place, of a length of _CUT, has been reserved."""
        more = len(token) - len(_CUT)
        if more > self._room:
            token, more, self._short = _CUT, 0, True
        self._room -= more
        out.append(token)

    def _open(self, out, letter, n, places):
        """Adds the head of n elements, and reserves the places of theirs; False where there is not room."""
        head = b"%s%d:" % (letter, n)
        more = len(head) - len(_CUT) + places * len(_CUT)
        if more > self._room:
            out.append(_CUT)
            self._short = True
            return False
        self._room -= more
        out.append(head)
        return True

    def _add(self, out, v, depth):
        t = type(v)
        if v is None:
            out.append(_NONE)
        elif t is bool:
            out.append(_TRUE if v else _FALSE)
        elif t is str:
            self._text(out, v)
        elif t is bytes or t is bytearray:
            n = len(v)
            self._leaf(out, b"b%d:" % n + v if n <= MOST else _CUT)
        elif t is int:
            self._leaf(out, self._integer(v))
        elif t is float:
            self._leaf(out, b"f8:" + dumps(v, 2)[1:])
        elif depth >= DEPTH:
            out.append(_CUT)
        elif t is list or t is tuple:
            n = len(v)
            if self._open(out, b"l" if t is list else b"(", n, n):
                for x in v:
                    self._add(out, x, depth + 1)
        elif t is dict:
            n = len(v)
            if self._open(out, b"{", n, 2 * n):
                for k, x in _items(v):
                    self._add(out, k, depth + 1)
                    self._add(out, x, depth + 1)
        elif t is set or t is frozenset:
            self._set(out, v, depth)
        else:
            self._leaf(out, self._object(v, t))

    def _text(self, out, v):
        n = len(v)
        if n > MOST:
            out.append(_CUT)
        elif v.isascii():
            self._leaf(out, _encode("s%d:" % n + v))
        else:
            raw = _encode(v, "utf-8", "surrogatepass")
            self._leaf(out, b"s%d:" % len(raw) + raw)

    def _integer(self, v):
        raw = self._number(v)
        if raw is not None:
            return b"i8:" + raw
        up = v + _HALF
        digits = 1 + (_size(up) - _ONE_DIGIT) // _DIGIT
        if digits < 3 or digits == 3 and -1 << 63 <= v < 1 << 63:
            return b"i8:" + (up + _BIAS).to_bytes(12, "little")[:8]
        digits = 1 + (_size(v) - _ONE_DIGIT) // _DIGIT
        n = _DIGIT * digits
        return b"i%d:" % n + v.to_bytes(n, "little", signed=True) if n <= MOST else _CUT

    def _set(self, out, v, depth):
        """In any order: whoever compares sorts them. What there is room for depends on that, so where there is not room for all none is told."""
        n = len(v)
        if not self._open(out, b"<", n, n):
            return
        room, at, short = self._room, len(out), self._short
        self._short = False
        for x in v:
            self._add(out, x, depth + 1)
        if self._short:
            out[at:] = [_CUT] * n
            self._room = room
        self._short = self._short or short

    def _object(self, v, t):
        name = qualified(t)
        for base in mro(t):
            if name_of(base) == "Enum" and module_of(base) == "enum":
                try:
                    member = _attribute(v, "__dict__")["_name_"]
                except Exception:
                    break
                if type(member) is str:
                    name = "%s.%s" % (name, member)
                break
        raw = _encode(name, "utf-8", "surrogatepass")
        return b"o%d:" % len(raw) + raw
