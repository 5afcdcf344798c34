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

from sys import _getframe as _frame

from symchef import _contract, _session
from symchef._contract import ContractError, InvariantError, PostconditionError, PreconditionError
from symchef._contract import arg, contracts, ensure, inv, post, pre, snapshot
from symchef._sealed import BUILTINS as __builtins__
from symchef._sealed import inherits, is_a

_ask = _session.ask

_INT64_MIN = -(1 << 63)
_INT64_MAX = (1 << 63) - 1
_INF = float("inf")

UsageError = _session.UsageError


class _Spec:
    """What a parameter's annotation declares. check(name, default) is what has to be asked, or a UsageError; ask(name, checked) gives the value."""

    kind = ""

    def check(self, name, default=None):
        raise NotImplementedError

    def ask(self, name, checked):
        return _ask(self.kind, name, *checked)

    def make(self, name, default=None):
        return self.ask(name, self.check(name, default))


class _Sequence(_Spec):
    """Common part of Str and Bytes: a length n, or lengths from n_min to n."""

    filler = None

    def __init__(self, max_size, min_size=None):
        self.max_size = max_size
        self.min_size = max_size if min_size is None else min_size

    def check(self, name, default=None):
        _check_sizes(name, self.min_size, self.max_size)
        if default is None:
            default = self.filler * self.max_size
        return _check_sequence(self.kind, name, default, self.max_size, self.min_size)

    def ask(self, name, checked):
        return _ask("sequence", self.kind, name, *checked)


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

    kind = "integer"

    def __init__(self, lo=_INT64_MIN, hi=_INT64_MAX):
        self.lo, self.hi = lo, hi

    def check(self, name, default=None):
        _check_types(name, "int", (int,), self.lo, self.hi)
        if default is None:
            default = min(max(0, self.lo), self.hi)
        return _check_int(name, default, self.hi, self.lo)


class Float(_Spec):
    """Float(lo, hi): a number with lo <= value <= hi, where -0.0 is less than 0.0; without bounds any, infinities
    included. Never NaN."""

    kind = "real"

    def __init__(self, lo=-_INF, hi=_INF):
        self.lo, self.hi = lo, hi

    def check(self, name, default=None):
        _check_types(name, "numbers", (int, float), self.lo, self.hi)
        if default is None:
            default = min(max(0.0, self.lo), self.hi)
        return _check_float(name, default, self.hi, self.lo)


class Bool(_Spec):
    """Bool(): True or False. The path forks here."""

    kind = "boolean"

    def __init__(self, *none):
        self.none = none

    def check(self, name, default=None):
        if self.none:
            raise UsageError("input %s: Bool() takes nothing; a parameter's default is the first value" % name)
        return _check_bool(name, False if default is None else default)


class Choice(_Spec):
    """Choice(a, b, ...): one of the values. The path forks once per value."""

    kind = "choice"

    def __init__(self, *options):
        self.options = options

    def check(self, name, default=None):
        return _check_choice(name, self.options, default)

    def ask(self, name, checked):
        return _choose(name, *checked)


def _check_name(name):
    if type(name) is not str or not name:
        raise UsageError("an input's name is a non-empty str")


def _check_types(name, what, types, *values):
    for value in values:
        if type(value) not in types:
            raise UsageError("input %s: default and bounds must be %s" % (name, what))


def _check_sizes(name, min_size, max_size):
    if type(max_size) is not int or type(min_size) is not int or not 0 <= min_size <= max_size:
        raise UsageError("input %s: needs 0 <= min_size <= max_size, not %s, %s" % (name, _shown(min_size), _shown(max_size)))


def _shown(value):
    """A value as text; of an object of the test's the type, since its code is not to run here."""
    return repr(value) if type(value) in (int, float, str, bytes, bool, type(None)) else "a " + type(value).__name__


def _check_sequence(kind, name, default, max_size, min_size, ascii=True):
    _check_name(name)
    want = str if kind == "str" else bytes
    if type(default) is not want:
        raise UsageError("input %s: the default must be %s" % (name, want.__name__))
    if min_size is None:
        min_size = len(default) if max_size is None else 0
    if max_size is None:
        max_size = len(default)
    _check_sizes(name, min_size, max_size)
    if not min_size <= len(default) <= max_size:
        raise UsageError("input %s: the default's length, %d, is not within the sizes %d to %d"
                         % (name, len(default), min_size, max_size))
    if kind == "str" and ascii and not default.isascii():
        raise UsageError("input %s: the default is not ASCII" % name)
    return default, min_size, max_size, ascii


def getString(name=None, default=None, max_size=None, min_size=None, ascii=True):
    """A symbolic str. Without sizes its length is that of the default, with max_size alone
    0..max_size, with min_size alone from there to that of the default."""
    return _ask("sequence", "str", name, *_check_sequence("str", name, default, max_size, min_size, ascii))


def getBytes(name=None, default=None, max_size=None, min_size=None):
    """A symbolic bytes object; sizes as for getString."""
    return _ask("sequence", "bytes", name, *_check_sequence("bytes", name, default, max_size, min_size))


def _check_int(name, default, max_value, min_value):
    _check_name(name)
    lo = _INT64_MIN if min_value is None else min_value
    hi = _INT64_MAX if max_value is None else max_value
    _check_types(name, "int", (int,), default, lo, hi)
    if not _INT64_MIN <= lo <= default <= hi <= _INT64_MAX:
        raise UsageError("input %s: needs -2**63 <= min_value <= default <= max_value < 2**63, not %d, %d, %d"
                         % (name, lo, default, hi))
    return default, lo, hi


def getInt(name=None, default=None, max_value=None, min_value=None):
    """A symbolic int with min_value <= value <= max_value (64 bits, signed, where not given)."""
    return _ask("integer", name, *_check_int(name, default, max_value, min_value))


def _check_float(name, default, max_value, min_value):
    _check_name(name)
    lo = -_INF if min_value is None else min_value
    hi = _INF if max_value is None else max_value
    _check_types(name, "numbers", (int, float), default, lo, hi)
    if not lo <= default <= hi:
        raise UsageError("input %s: needs min_value <= default <= max_value, not %r, %r, %r" % (name, lo, default, hi))
    try:
        return float(default), float(lo), float(hi)
    except OverflowError:
        raise UsageError("input %s: default and bounds must be numbers that a float can be" % name) from None


def getFloat(name=None, default=None, max_value=None, min_value=None):
    """A symbolic float with min_value <= value <= max_value, where given; never NaN."""
    return _ask("real", name, *_check_float(name, default, max_value, min_value))


def _check_bool(name, default):
    _check_name(name)
    if type(default) is not bool:
        raise UsageError("input %s: the default must be bool" % name)
    return (default,)


def getBool(name=None, default=False):
    """True or False; the path forks here."""
    return _ask("boolean", name, *_check_bool(name, default))


def _check_choice(name, options, default):
    _check_name(name)
    try:
        options = iter(options)
    except TypeError:
        raise UsageError("input %s: the options must be a list, not %s" % (name, _shown(options))) from None
    options = list(options)
    if not options:
        raise UsageError("input %s: no options" % name)
    index = 0
    if default is not None:
        if default not in options:
            raise UsageError("input %s: the default is not among the options" % name)
        index = options.index(default)
    return options, index


def _choose(name, options, index):
    option = options[_ask("choice", name, index, len(options))]
    _ask("chosen", option)
    return option


def getChoice(name=None, options=(), default=None):
    """One of the options; the path forks once per option."""
    return _choose(name, *_check_choice(name, options, default))


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


def _discard():
    """Ends a path whose input the tested function does not take, if a test has begun."""
    if _session._current is not None:
        _ask("discard")


_contract._policy["discard"] = _discard


def expect(*types):
    """Declares exception types that are not findings."""
    for t in types:
        if not (is_a(t, type) and inherits(t, BaseException)):
            raise UsageError("expect takes exception types")
    _ask("expect", types)


def getValue(name=None, annotation=None):
    """A value of the shape that a plain annotation says: getValue("x", list[int])."""
    _check_name(name)
    return _shapes().value(name, annotation, _frame(1).f_globals)


def getList(name=None, items=None, max_size=3, min_size=0):
    """A list of items, each as an annotation says: getList("x", int)."""
    _check_name(name)
    return _shapes().some(name, items, min_size, max_size, _frame(1).f_globals)


def _shapes():
    """The module that knows shapes. Most tests do without, and it is as large as all others: it is imported before a test that names one of the two above."""
    from symchef import _shape
    return _shape


def pair(old, new):
    """A test that calls two functions, each "FILE.py:NAME" or "MODULE:NAME", with the arguments that the first one takes, and fails where they do not do the same.
    It is made while the test's file is imported."""
    from symchef import _diff
    return _diff.pair(old, new)


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
    getList = staticmethod(getList)
    getValue = staticmethod(getValue)
    log = staticmethod(log)
    concretize = staticmethod(concretize)
    assume = staticmethod(assume)
    expect = staticmethod(expect)
