"""Contracts: what a function asks of its arguments and promises of its result, and what holds for the instances of a class.

    @pre(lambda x: x >= 0)
    @ensure(lambda x, result: result * result <= x)
    def root(x): ...

What stands behind the first import is in emitted test files, too.
"""

from symchef._sealed import BUILTINS as __builtins__
from _contextvars import ContextVar
from types import FunctionType


class ContractError(AssertionError):
    """A contract that does not hold. values has what its condition was given, by name, or the attributes of the instance."""

    __module__ = "symchef"
    values = {}


class PreconditionError(ContractError):
    __module__ = "symchef"


class PostconditionError(ContractError):
    __module__ = "symchef"


class InvariantError(ContractError):
    __module__ = "symchef"


# Calls of functions with a precondition that this one is in; below 0 while a condition is looked at, where no contract is.
_depth = ContextVar("symchef.depth", default=0)
_busy = ContextVar("symchef.busy", default=())  # identities of the objects of which a method runs

_RESULT, _OLD = "<result>", "<old>"  # no names of parameters

_policy = {"nested": "finding", "discard": lambda: None}  # discard: ends a path whose input is none, where it can

_MORE, _MORE_NAMED, _COROUTINE = 0x04, 0x08, 0x80  # of co_flags: *args, **kwargs, async


def contracts(nested):
    """What a failed precondition is: of the function that the test calls, a discarded input; of one that is called within another that has contracts, with
    nested="finding" (which is so without this call) a finding, with nested="discard" a discarded input, too."""
    if nested not in ("finding", "discard"):
        raise ValueError('contracts(nested=...) takes "finding" or "discard", not %r' % (nested,))
    _policy["nested"] = nested


def pre(condition):
    """The condition holds when the function is called."""
    return _decorator("pre", condition)


def arg(condition=None, **conditions):
    """As pre, of the arguments; arg(x=lambda x: ...) is of one by its name."""
    if condition is None and not conditions:
        raise TypeError("arg takes a condition")
    checks = [_decorator("arg", condition)] if condition is not None else []
    checks += [_decorator("arg", c, (name,)) for name, c in conditions.items()]

    def decorate(function):
        for check in reversed(checks):
            function = check(function)
        return function

    return decorate


def post(condition):
    """The condition holds when the function has returned."""
    return _decorator("post", condition)


def ensure(condition):
    """As post."""
    return _decorator("ensure", condition)


def snapshot(**captures):
    """What old.NAME is in a postcondition: made of the arguments when the function is called."""
    def decorate(function):
        return _with(function, lambda c: c.captures.update({n: _Condition("snapshot", f, c.parameters) for n, f in captures.items()}))

    return decorate


def inv(condition):
    """The condition holds for each instance of the class once it is made, and behind each call of one of its methods that is not within another."""
    _callable("inv", condition)

    def decorate(cls):
        if not isinstance(cls, type):
            raise TypeError("inv is for a class, not for " + type(cls).__name__)
        held = _Condition("inv", condition, tuple(_parameters(condition, ["self"])[0][:1]))
        conditions = cls.__dict__.get("__invariants__")
        if conditions is None:
            conditions = cls.__invariants__ = []
            _watch(cls, conditions)
        conditions.insert(0, held)
        return cls

    return decorate


def _callable(kind, condition):
    if not callable(condition):
        raise TypeError("%s takes a condition, a function of the arguments, not %r" % (kind, condition))


def _decorator(kind, condition, only=None):
    _callable(kind, condition)

    def decorate(function):
        def add(c):
            parameters = c.parameters if only is None else only
            if only is not None and only[0] not in c.parameters and not c.named:
                raise TypeError("%s: %s has no parameter %s" % (kind, c.name, only[0]))
            check = _Condition(kind, condition, parameters, kind in ("post", "ensure"))
            (c.after if kind in ("post", "ensure") else c.before).insert(0, check)

        return _with(function, add)

    return decorate


def _with(function, add):
    """The function with one more part of its contract: one wrapper for all."""
    if isinstance(function, (staticmethod, classmethod)):
        return type(function)(_with(function.__func__, add))
    if not isinstance(function, FunctionType):
        raise TypeError("contracts are for functions, not for %r; they stand below other decorators" % (function,))
    contract = function.__dict__.get("__contract__")
    if contract is None:
        contract = _Contract(function)
        function = contract.wrapper()
    add(contract)
    return function


class _Condition:
    """A condition, and where what it takes comes from."""

    def __init__(self, kind, function, parameters, result=False):
        self.function, self.text = function, kind
        names, required = _parameters(function, list(parameters) + ["result"] * result)
        names = [n for i, n in enumerate(names) if i < required or n in parameters]
        old = ["old"] if result and "old" in names and "old" not in parameters else []
        plain = [n for n in names if n not in old]
        others = [n for n in plain if n not in parameters]
        if len(others) <= result:  # by name; what is none of the function's is the result
            keys = [_RESULT if n in others else n for n in plain]
        elif len(plain) == len(parameters) + result:  # by position
            keys = list(parameters) + [_RESULT] * result
        else:
            raise TypeError("%s: the condition takes %s; there are %s" % (
                kind, ", ".join(names), ", ".join(list(parameters) + ["result"] * result) or "no parameters"))
        self.sources = list(zip(plain + old, keys + [_OLD] * len(old)))
        self.old = len(old) > 0

    def given(self, values):
        return {name: values[key] for name, key in self.sources}

    def of(self, given):
        """What it says. No contract is looked at on the way."""
        depth = _depth.get()
        _depth.set(-1)
        try:
            return self.function(**given)
        finally:
            _depth.set(depth)

    def check(self, error, name, given):
        if not self.of(given):
            e = error("%s: %s: %s" % (name, self.text, _source(self.function)))
            e.values = {n: given[n] for n, key in self.sources if key is not _OLD}
            if error is InvariantError:
                e.values = dict(getattr(*e.values.values(), "__dict__", {}))
            raise e


def _parameters(function, default):
    """The names of what a condition takes, and how many of these it must be given; default where it is not written in Python."""
    code = getattr(function, "__code__", None)
    if code is None:
        return default, len(default)
    names = list(code.co_varnames[:code.co_argcount + code.co_kwonlyargcount])
    required = len(names) - len(function.__defaults__ or ()) - len(function.__kwdefaults__ or ())
    if hasattr(function, "__self__"):
        return names[1:], required - 1
    return names, required


class _Old:
    """The values of before."""

    def __init__(self, values):
        self.__dict__.update(values)


class _Contract:
    """What a function asks and promises."""

    def __init__(self, function):
        code = function.__code__
        self.function, self.name = function, function.__qualname__
        self.positional = code.co_varnames[:code.co_argcount]
        n = code.co_argcount + code.co_kwonlyargcount
        self.parameters = code.co_varnames[:n]
        more = list(code.co_varnames[n:])
        self.rest = more.pop(0) if code.co_flags & _MORE else None
        self.named = more.pop(0) if code.co_flags & _MORE_NAMED else None
        self.parameters += tuple(x for x in (self.rest, self.named) if x)
        self.only_positional = code.co_posonlyargcount
        self.before, self.after, self.captures = [], [], {}

    def bind(self, args, keywords):
        """The parameters by name; None where the call does not fit, which the function says itself."""
        given = len(args)
        values = dict(zip(self.positional, args))
        if given > len(self.positional) and self.rest is None:
            return None
        if self.rest is not None:
            values[self.rest] = args[len(self.positional):]
        others = {}
        for name, value in keywords.items():
            if name in self.parameters[self.only_positional:] and name not in (self.rest, self.named):
                if name in values:
                    return None
                values[name] = value
            elif self.named is None:
                return None
            else:
                others[name] = value
        if self.named is not None:
            values[self.named] = others
        defaults = self.function.__defaults__ or ()
        for name, value in zip(self.positional[len(self.positional) - len(defaults):], defaults):
            values.setdefault(name, value)
        for name, value in (self.function.__kwdefaults__ or {}).items():
            values.setdefault(name, value)
        return values if all([name in values for name in self.parameters]) else None

    def enter(self, values, depth):
        for check in self.before:
            given = check.given(values)
            try:
                check.check(PreconditionError, self.name, given)
            except PreconditionError:
                if depth == 0 or _policy["nested"] == "discard":
                    _policy["discard"]()
                raise
        if any([check.old for check in self.after]):
            old = {n: _copied(v) for n, v in values.items()}
            for name, capture in self.captures.items():
                old[name] = capture.of(capture.given(values))
            values[_OLD] = _Old(old)

    def leave(self, values, result):
        values[_RESULT] = result
        for check in self.after:
            check.check(PostconditionError, self.name, check.given(values))

    def wrapper(self):
        function = self.function

        def call(*args, **keywords):
            depth = _depth.get()
            values = self.bind(args, keywords) if depth >= 0 else None
            if values is None:
                return function(*args, **keywords)
            self.enter(values, depth)
            _depth.set(depth + 1)
            try:
                result = function(*args, **keywords)
            finally:
                _depth.set(depth)
            self.leave(values, result)
            return result

        async def called(*args, **keywords):
            depth = _depth.get()
            values = self.bind(args, keywords) if depth >= 0 else None
            if values is None:
                return await function(*args, **keywords)
            self.enter(values, depth)
            _depth.set(depth + 1)
            try:
                result = await function(*args, **keywords)
            finally:
                _depth.set(depth)
            self.leave(values, result)
            return result

        wrapped = _like(called if function.__code__.co_flags & _COROUTINE else call, function)
        wrapped.__contract__ = self
        return wrapped


def _like(wrapper, function):
    for name in ("__module__", "__name__", "__qualname__", "__doc__", "__annotations__"):
        setattr(wrapper, name, getattr(function, name))
    wrapper.__dict__.update(function.__dict__)
    wrapper.__wrapped__ = function
    return wrapper


def _copied(value):
    """The value as it is now, where it is a container that may change."""
    return type(value)(value) if type(value) in (list, dict, set, bytearray) else value


# Methods with such names change their object, or are called from outside, others of this form only look at it.
_ACTIONS = {"__call__", "__setitem__", "__delitem__", "__enter__", "__exit__"} | {
    "__i%s__" % n for n in "add sub mul matmul truediv floordiv mod pow lshift rshift and xor or".split()}


def _watch(cls, conditions):
    """Has the methods of the class look at the conditions when they have returned."""
    if "__init__" not in cls.__dict__:
        inherited, made = cls.__init__, cls.__new__ is not object.__new__

        def __init__(self, *args, **keywords):
            if inherited is object.__init__ and made:  # who makes it takes the arguments
                inherited(self)
            else:
                inherited(self, *args, **keywords)

        __init__.__qualname__ = cls.__qualname__ + ".__init__"
        __init__.__module__ = cls.__module__
        cls.__init__ = __init__
    for name, member in list(cls.__dict__.items()):
        if isinstance(member, property):
            setattr(cls, name, property(member.fget, member.fset and _kept(cls, member.fset, conditions), member.fdel and _kept(cls, member.fdel, conditions), member.__doc__))
        elif isinstance(member, FunctionType) and (name == "__init__" or name in _ACTIONS or not name.startswith("_")):
            setattr(cls, name, _kept(cls, member, conditions))


def _kept(cls, function, conditions):
    def call(self, *args, **keywords):
        busy = _busy.get()
        if _depth.get() < 0 or id(self) in busy:
            return function(self, *args, **keywords)
        _busy.set(busy + (id(self),))
        try:
            result = function(self, *args, **keywords)
        finally:
            _busy.set(busy)
        for check in conditions:
            check.check(InvariantError, "%s, behind %s" % (cls.__qualname__, function.__name__), {name: self for name, _ in check.sources})
        return result

    return _like(call, function)


def _source(function):
    """The condition as it is written, as far as the interpreter knows where."""
    code = getattr(function, "__code__", None)
    if code is None or code.co_name != "<lambda>":
        return getattr(function, "__qualname__", type(function).__name__)
    first, begin, last, end = code.co_firstlineno, 0, code.co_firstlineno, None
    if hasattr(code, "co_positions"):  # since Python 3.11
        spans = [p for p in code.co_positions() if None not in p and (p[0], p[2]) < (p[1], p[3])]
        if spans:
            first, begin = min([(p[0], p[2]) for p in spans])
            last, end = max([(p[1], p[3]) for p in spans])
    try:
        with open(code.co_filename, "rb") as file:
            lines = file.read().split(b"\n")[first - 1:last]
        lines[-1] = lines[-1][:end]
        lines[0] = lines[0][begin:]
        return b" ".join([line.strip() for line in lines]).decode("utf-8", "replace")
    except Exception:
        return "in line %d" % code.co_firstlineno
