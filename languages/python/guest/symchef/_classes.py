"""Tests that are methods: of classes as pytest collects them, and of unittest.TestCase. Nothing of this module is on the stack while one runs."""

import sys
from types import FunctionType, MethodType

from symchef import _session
from symchef._call import with_teardown
from symchef._sealed import BUILTINS as __builtins__
from symchef._sealed import inherits, mro

own = type.__dict__["__dict__"].__get__


def members(cls):
    """What a class has by its names, the bases first; where several have one, that of the nearest."""
    found = {}
    for base in mro(cls)[::-1]:
        found.update(own(base))
    return found


def unittest_class(name, module="unittest.case"):
    """A class of unittest's, or None: then nobody inherits it."""
    module = sys.modules.get(module)
    return None if module is None else vars(module).get(name)


def is_case(cls):
    base = unittest_class("TestCase")
    return base is not None and inherits(cls, base) and cls is not base


def function_of(member):
    """The function that a method is, and how many of its parameters are there when it is called; None for what is no method."""
    kind = type(member)
    if kind is FunctionType:
        return member, 1
    if (kind is staticmethod or kind is classmethod) and type(member.__func__) is FunctionType:
        return member.__func__, int(kind is classmethod)
    return None, 0


def methods(cls):
    """Names of the methods that are called as tests are."""
    found = [n for n, m in list(members(cls).items()) if n.startswith("test") and function_of(m)[0] is not None]
    if is_case(cls):
        return sorted(found) or [n for n in ("runTest",) if n in members(cls)]
    return found


def refused(name, cls):
    """Why nobody collects tests of a class with methods that are called so, or None."""
    has = members(cls)
    if is_case(cls):
        asynchronous = unittest_class("IsolatedAsyncioTestCase", "unittest.async_case")
        if asynchronous is not None and inherits(cls, asynchronous):
            return "it is an IsolatedAsyncioTestCase: run coroutines in a plain method, as asyncio.run does"
    elif not name.startswith("Test"):
        return "its name does not begin with Test"
    elif has["__init__"] is not object.__init__ or has["__new__"] is not own(object)["__new__"]:
        return "it has an __init__ or __new__"
    return None


def tests(name, cls):
    """CLASS.METHOD of the tests of a class and of the classes in it."""
    if refused(name, cls) is not None or members(cls).get("__test__", True) is False:
        return []
    short = name + "."
    found = [short + n for n in methods(cls)]
    for inner, value in list(members(cls).items()):
        if type(value) is type and not is_case(cls):
            found += [short + t for t in tests(inner, value)]
    return found


def find(cls, names):
    """The classes, the outermost first, and the name of the method that names lead to."""
    classes = [cls]
    for name in names[:-1]:
        classes.append(members(classes[-1])[name])
    return classes, names[-1]


def described(classes, name):
    """The function that tells the parameters of a test, and how many of these are there."""
    return function_of(members(classes[-1])[name])


def prepare(classes, name, expect):
    """Sets an instance up. Returns the test as a function."""
    case, after = _set_up_case(classes[-1], name, expect) if is_case(classes[-1]) else _set_up_plain(classes, name)
    return with_teardown(getattr(case, name), after)


def _set_up_case(cls, name, expect):
    case = cls(name)
    skipped = unittest_class("SkipTest")
    expect(skipped)

    def heed(marked):
        if getattr(marked, "__unittest_skip__", False):
            raise skipped(getattr(marked, "__unittest_skip_why__", ""))
        if getattr(marked, "__unittest_expecting_failure__", False):
            expect(Exception)

    heed(cls)
    after = [_cleanup(cls._class_cleanups)]
    try:
        cls.setUpClass()
        after[:0] = [_cleanup(case._cleanups), cls.tearDownClass]
        heed(getattr(case, name))
        case.setUp()
        after.insert(0, case.tearDown)
    except BaseException:
        for step in after:
            step()
        raise
    return case, after


def _cleanup(waiting):
    """What calls all that addCleanup has been given, the last first; unittest's own would keep to itself what is raised."""

    def cleanup():
        if waiting:
            function, arguments, keywords = waiting.pop()
            try:
                function(*arguments, **keywords)
            finally:
                cleanup()

    return cleanup


def _set_up_plain(classes, name):
    """As pytest does: first the classes, then an instance of each; each of these methods may do without its argument."""
    cases = [cls() for cls in classes]
    method, after = getattr(cases[-1], name), []
    for suffix, pairs in ("class", [(cls, cls) for cls in classes]), ("method", [(case, method) for case in cases]):
        for one, argument in pairs:
            has = members(one if suffix == "class" else type(one))
            if "setup_" + suffix in has:
                _with(getattr(one, "setup_" + suffix), argument)()
            if "teardown_" + suffix in has:
                after.insert(0, _with(getattr(one, "teardown_" + suffix), argument))
    return cases[-1], after


def _with(call, argument):
    function, there = (call.__func__, 1) if type(call) is MethodType else (call, 0)
    if type(function) is not FunctionType or function.__code__.co_argcount <= there:
        return call
    return lambda: call(argument)
