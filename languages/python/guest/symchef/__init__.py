"""Symbolic tests for stock Python: the library a test imports.

    from symchef import SymbolicTest

    class EmailTest(SymbolicTest):
        def runTest(self):
            validate(self.getString("email", "a" * 10))

or, shorter:

    import symchef

    def test_email(email: symchef.Str(10)):
        validate(email)

The same files serve inside the machine, where inputs are symbolic, and in native
replay (SYMCHEF_REPLAY in the environment), where they are the values of one test
case. Inside the machine every import and every branch on a symbolic value costs,
so this package imports only modules that are part of every start of Python. What the test replaces in
them, or in builtins, does not reach it: see _sealed.py.
"""

from symchef import _session
from symchef._sealed import BUILTINS as __builtins__
from symchef._sealed import inherits, is_a

_ask = _session.ask

_INT64_MIN = -(1 << 63)
_INT64_MAX = (1 << 63) - 1
_INF = float("inf")

UsageError = _session.UsageError


class _Spec:
    """What a parameter's annotation declares; make(name, default) gives its value."""

    kind = ""

    def make(self, name, default=None):
        raise NotImplementedError


class _Sequence(_Spec):
    """Common part of Str and Bytes: a length n, or lengths from n_min to n."""

    filler = None

    def __init__(self, max_size, min_size=None):
        self.max_size = max_size
        self.min_size = max_size if min_size is None else min_size

    def make(self, name, default=None):
        if default is None:
            default = self.filler * self.max_size
        return _sequence(self.kind, name, default, self.max_size, self.min_size)


class Str(_Sequence):
    """Str(n): ASCII text of exactly n characters. Str(most, least): of any length between."""

    kind = "str"
    filler = "a"


class Bytes(_Sequence):
    """Bytes(n): exactly n bytes. Bytes(most, least): any number between."""

    kind = "bytes"
    filler = b"\0"


class Int(_Spec):
    """Int(lo, hi): an integer with lo <= value <= hi; without bounds, 64 bits, signed."""

    kind = "int"

    def __init__(self, lo=_INT64_MIN, hi=_INT64_MAX):
        self.lo, self.hi = lo, hi

    def make(self, name, default=None):
        if default is None:
            default = min(max(0, self.lo), self.hi)
        return getInt(name, default, self.hi, self.lo)


class Float(_Spec):
    """Float(lo, hi): a number with lo <= value <= hi, where -0.0 is less than 0.0; without bounds any, infinities
    included. Never NaN."""

    kind = "float"

    def __init__(self, lo=-_INF, hi=_INF):
        self.lo, self.hi = float(lo), float(hi)

    def make(self, name, default=None):
        if default is None:
            default = min(max(0.0, self.lo), self.hi)
        return getFloat(name, default, self.hi, self.lo)


class Bool(_Spec):
    """Bool(): True or False. The path forks here."""

    kind = "bool"

    def make(self, name, default=None):
        return getBool(name, bool(default))


class Choice(_Spec):
    """Choice(a, b, ...): one of the values. The path forks once per value."""

    kind = "choice"

    def __init__(self, *options):
        self.options = options

    def make(self, name, default=None):
        return getChoice(name, self.options, default)


def _check_name(name):
    if type(name) is not str or not name:
        raise UsageError("an input's name is a non-empty str")


def _sequence(kind, name, default, max_size, min_size, ascii=True):
    _check_name(name)
    want = str if kind == "str" else bytes
    if type(default) is not want:
        raise UsageError("input %s: the default must be %s" % (name, want.__name__))
    if min_size is None:
        min_size = len(default) if max_size is None else 0
    if max_size is None:
        max_size = len(default)
    if type(max_size) is not int or type(min_size) is not int or not 0 <= min_size <= max_size:
        raise UsageError("input %s: needs 0 <= min_size <= max_size, not %r, %r" % (name, min_size, max_size))
    if not min_size <= len(default) <= max_size:
        raise UsageError("input %s: the default's length, %d, is not within the sizes %d to %d"
                         % (name, len(default), min_size, max_size))
    if kind == "str" and ascii and not default.isascii():
        raise UsageError("input %s: the default is not ASCII" % name)
    return _ask("sequence", kind, name, default, min_size, max_size, ascii)


def getString(name, default, max_size=None, min_size=None, ascii=True):
    """A symbolic str. Without sizes its length is that of the default, with max_size alone
    0..max_size, with min_size alone from there to that of the default."""
    return _sequence("str", name, default, max_size, min_size, ascii)


def getBytes(name, default, max_size=None, min_size=None):
    """A symbolic bytes object; sizes as for getString."""
    return _sequence("bytes", name, default, max_size, min_size)


def getInt(name, default, max_value=None, min_value=None):
    """A symbolic int with min_value <= value <= max_value (64 bits, signed, where not given)."""
    _check_name(name)
    lo = _INT64_MIN if min_value is None else min_value
    hi = _INT64_MAX if max_value is None else max_value
    if type(default) is not int or type(lo) is not int or type(hi) is not int:
        raise UsageError("input %s: default and bounds must be int" % name)
    if not _INT64_MIN <= lo <= default <= hi <= _INT64_MAX:
        raise UsageError("input %s: needs -2**63 <= min_value <= default <= max_value < 2**63, not %d, %d, %d"
                         % (name, lo, default, hi))
    return _ask("integer", name, default, lo, hi)


def getFloat(name, default, max_value=None, min_value=None):
    """A symbolic float with min_value <= value <= max_value, where given; never NaN."""
    _check_name(name)
    lo = -_INF if min_value is None else min_value
    hi = _INF if max_value is None else max_value
    if type(default) not in (int, float) or type(lo) not in (int, float) or type(hi) not in (int, float):
        raise UsageError("input %s: default and bounds must be numbers" % name)
    if not lo <= default <= hi:
        raise UsageError("input %s: needs min_value <= default <= max_value, not %r, %r, %r" % (name, lo, default, hi))
    return _ask("real", name, float(default), float(lo), float(hi))


def getBool(name, default=False):
    """True or False; the path forks here."""
    _check_name(name)
    if type(default) is not bool:
        raise UsageError("input %s: the default must be bool" % name)
    return _ask("boolean", name, default)


def getChoice(name, options, default=None):
    """One of the options; the path forks once per option."""
    _check_name(name)
    options = list(options)
    if not options:
        raise UsageError("input %s: no options" % name)
    index = 0
    if default is not None:
        if default not in options:
            raise UsageError("input %s: the default is not among the options" % name)
        index = options.index(default)
    option = options[_ask("choice", name, index, len(options))]
    _ask("chosen", option)
    return option


def log(*values):
    """Adds a line to the test case: the values' str, joined by spaces."""
    _ask("log", " ".join([v if type(v) is str else str(v) for v in values]))


def concretize(value):
    """The value, fixed to one concrete value on this path; the others are explored on others.
    Takes str, bytes, int, bool and float."""
    if type(value) not in (str, bytes, int, bool, float):
        raise UsageError("concretize takes str, bytes, int, bool or float, not " + type(value).__name__)
    return _ask("concretize", value)


def assume(condition):
    """Goes on only where the condition holds. Evaluating it has already split the paths."""
    if not condition:
        _ask("prune")


def expect(*types):
    """Declares exception types that are not findings."""
    for t in types:
        if not (is_a(t, type) and inherits(t, BaseException)):
            raise UsageError("expect takes exception types")
    _ask("expect", types)


class SymbolicTest:
    """A test: setUp is run before anything is symbolic, then runTest."""

    def setUp(self):
        pass

    def runTest(self):
        raise NotImplementedError("runTest")

    getString = staticmethod(getString)
    getBytes = staticmethod(getBytes)
    getInt = staticmethod(getInt)
    getFloat = staticmethod(getFloat)
    getBool = staticmethod(getBool)
    getChoice = staticmethod(getChoice)
    log = staticmethod(log)
    concretize = staticmethod(concretize)
    assume = staticmethod(assume)
    expect = staticmethod(expect)
