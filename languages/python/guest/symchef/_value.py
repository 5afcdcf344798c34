"""What a test returned, as tokens (docs/device-protocol.md). The tokens' structure is concrete, and no symbolic content is looked
at: texts are copied, numbers go through operations that are one path for all their values. Nothing of the test's own code
is called: of what inherits a built-in type that type's part is told, by functions of that type, and of other objects
the name of their type."""

from symchef._sealed import BUILTINS as __builtins__
from symchef._sealed import args_of, mro, name_of, module_of, qualified
from marshal import dumps
from types import FunctionType, GeneratorType, MethodType, ModuleType

MOST = 1 << 17  # bytes
NODES = 1 << 13  # values that are part of others
BEGINNING = 64  # characters of a text that there is no room for
DEPTH = 8
_CUT = b"z0:"
_NONE, _TRUE, _FALSE = b"n0:", b"T0:", b"F0:"

_encode, _items = str.encode, dict.items
_own = type.__dict__["__dict__"].__get__
_code = FunctionType.__dict__["__code__"].__get__
_variables = ModuleType.__dict__["__dict__"].__get__


class _Pairs(list):
    """Those of a dict."""


class _Elements(list):
    """Those of a set."""


class _Name(str):
    """What an object is called that is made of nothing."""


def _defined(function):
    code = _code(function)
    return _Name("%s:%d" % (getattr(code, "co_qualname", code.co_name), code.co_firstlineno))


def _attributes(t, *names):
    """Reads attributes of a built-in type, whatever classes that inherit it have."""
    readers = [t.__dict__[n].__get__ for n in names]
    return lambda v: tuple([r(v) for r in readers])


_ALL = slice(None)
_generator = GeneratorType.__dict__["__qualname__"].__get__
_format = memoryview.__dict__["format"].__get__

# What objects of a type are made of, and those of classes that inherit it, by functions of the type itself.
_MADE_OF = {id(t): f for t, f in (
    (str, lambda v: str.__getitem__(v, _ALL)),
    (bytes, lambda v: bytes.__getitem__(v, _ALL)),
    (bytearray, lambda v: bytes(memoryview(v))),
    (int, int.__int__),
    (float, float.__float__),
    (list, lambda v: list(list.__iter__(v))),
    (tuple, lambda v: tuple(list(tuple.__iter__(v)))),
    (dict, lambda v: _Pairs(_items(v))),
    (set, lambda v: _Elements(set.__iter__(v))),
    (frozenset, lambda v: _Elements(frozenset.__iter__(v))),
    (complex, _attributes(complex, "real", "imag")),
    (range, _attributes(range, "start", "stop", "step")),
    (slice, _attributes(slice, "start", "stop", "step")),
    (memoryview, lambda v: (_format(v), memoryview.tobytes(v))),
    (BaseException, args_of),
    (type, lambda v: _Name(qualified(v))),
    (FunctionType, _defined),
    (type(len), lambda v: _Name(v.__name__)),
    (MethodType, _attributes(MethodType, "__func__", "__self__")),
    (ModuleType, lambda v: _variables(v).get("__name__")),
    (GeneratorType, lambda v: _Name(_generator(v))),
    (type({}.keys()), list),
    (type({}.values()), list),
    (type({}.items()), list),
)}

# The same for types that are imported: what of their objects is told, if it is written in C.
_IMPORTED = {
    "collections.deque": ("__iter__",),
    "collections.OrderedDict": ("items",),
    "array.array": ("typecode", "tobytes"),
    "decimal.Decimal": ("__str__",),
    "fractions.Fraction": ("_numerator", "_denominator"),
    "datetime.date": ("year", "month", "day"),
    "datetime.time": ("hour", "minute", "second", "microsecond", "tzinfo"),
    "datetime.datetime": ("year", "month", "day", "hour", "minute", "second", "microsecond", "tzinfo"),
    "datetime.timedelta": ("days", "seconds", "microseconds"),
    "types.SimpleNamespace": ("__dict__",),
}
_CALLED = type(str.join), type(list.__iter__)
_READ = type(complex.__dict__["real"]), type(type.__dict__["__qualname__"]), type(_Pairs.__dict__["__dict__"])


def _imported(v, base, names):
    """What of v is told; None where that would be code of somebody's."""
    found = []
    for name in names:
        how = [_own(b)[name] for b in mro(base) if name in _own(b)][0]
        if type(how) in _CALLED:
            found.append(how(v))
        elif type(how) in _READ:
            found.append(how.__get__(v))
        else:
            return None
    if names == ("__iter__",):
        return list(found[0])
    if names == ("items",):
        return _Pairs(found[0])
    return tuple(found) if len(found) > 1 else found[0]


def _variables_of(v, t):
    """The dict of the attributes of v, or an empty one."""
    for base in mro(t):
        how = _own(base).get("__dict__")
        if how is not None:
            return how.__get__(v) if type(how) in _READ else {}
    return {}


def _fields(v, t, fields):
    """The fields of a dataclass that v has for itself."""
    has, found = _variables_of(v, t), _Pairs()
    for name in list(fields):
        if type(name) is str and name in has:
            found.append((name, has[name]))
        else:
            for base in mro(t):
                how = _own(base).get(name)
                if type(how) in _READ:
                    found.append((name, how.__get__(v)))
                    break
    return found


def made_of(v, t):
    """The name of v's kind, and what it is made of; None if that is not known."""
    name, bases = qualified(t), mro(t)
    for base in bases:
        if name_of(base) == "Enum" and module_of(base) == "enum":
            has = _variables_of(v, t)
            member = has.get("_name_")
            return ("%s.%s" % (name, member), None) if type(member) is str else (name, has.get("_value_"))
    for base in bases:
        fields = _own(base).get("__dataclass_fields__")
        if type(fields) is dict:
            return name, _fields(v, t, fields)
        how = _MADE_OF.get(id(base))
        if how is not None:
            return name, how(v)
        names = _IMPORTED.get(qualified(base))
        if names is not None:
            return name, _imported(v, base, names)
    return name, None


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
        self._room, self._nodes, self._short = MOST - len(_CUT), NODES, False
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
        if more > self._room or places > self._nodes:
            self._long(out, b"%s0:" % letter, n)
            return False
        self._room -= more
        self._nodes -= places
        out.append(head)
        return True

    def _long(self, out, begin, n):
        """Adds what is told of a value of length n for which there is no room."""
        self._leaf(out, b"L1:" + begin + b"i8:" + n.to_bytes(8, "little") + _NONE)
        self._short = True

    def _add(self, out, v, depth):
        t = type(v)
        if v is None:
            out.append(_NONE)
        elif t is bool:
            out.append(_TRUE if v else _FALSE)
        elif t is str:
            self._text(out, v)
        elif t is bytes:
            n = len(v)
            if n > self._room:
                self._long(out, b"b%d:" % BEGINNING + v[:BEGINNING], n)
            else:
                self._leaf(out, b"b%d:" % n + v)
        elif t is int:
            self._leaf(out, self._integer(v))
        elif t is float:
            self._leaf(out, b"f8:" + dumps(v, 2)[1:])
        elif t is _Name:
            self._leaf(out, _name(v))
        elif depth >= DEPTH:
            out.append(_CUT)
        elif t is list or t is tuple:
            n = len(v)
            if self._open(out, b"l" if t is list else b"(", n, n):
                for x in v:
                    self._add(out, x, depth + 1)
        elif t is dict or t is _Pairs:
            n = len(v)
            if self._open(out, b"{", n, 2 * n):
                for k, x in _items(v) if t is dict else v:
                    self._add(out, k, depth + 1)
                    self._add(out, x, depth + 1)
        elif t is set or t is _Elements:
            self._set(out, v, depth)
        else:
            self._object(out, v, t, depth)

    def _text(self, out, v):
        n = len(v)
        if n > self._room:
            self._long(out, _spelled(v[:BEGINNING]), n)
        else:
            self._leaf(out, _spelled(v))

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

    def _object(self, out, v, t, depth):
        """The name of its type, and what it is made of: nothing of that is code of the test's."""
        try:
            name, parts = made_of(v, t)
        except Exception:  # a view of what is gone
            name, parts = qualified(t), None
        token = _name(name)
        if parts is None:
            self._leaf(out, token)
        elif len(token) + 3 > self._room:
            self._leaf(out, _CUT)
        else:
            self._room -= len(token) + 3
            out.append(b"k1:" + token)
            self._add(out, parts, depth)


def _spelled(v):
    if v.isascii():
        return _encode("s%d:" % len(v) + v)
    raw = _encode(v, "utf-8", "surrogatepass")
    return b"s%d:" % len(raw) + raw


def _name(name):
    raw = _encode(name, "utf-8", "surrogatepass")
    return b"o%d:" % len(raw) + raw
