# The rest is a stand-in for the library "symchef", so that this file needs
# nothing but the tested code: it hands out the inputs of one case.


class _Case:
    inputs = {}
    used = {}
    module = None


def _value(name, kind=None, options=None):
    n = _Case.used[name] = _Case.used.get(name, 0) + 1
    value = _Case.inputs[name if n == 1 else "%s#%d" % (name, n)]
    if kind == "choice":
        return _chosen(value, options)
    return value(_Case.module) if callable(value) else copy.deepcopy(value)


def _chosen(value, options):
    """The option that is the value, or that the function takes."""
    if callable(value):
        return value(options)
    for option in options:
        if _same(option, value):
            return option
    raise _Pruned("no option is %r" % (value,))


def _same(value, told):
    """Whether they are equal, and their parts of the same types."""
    kind = type(value)
    if kind is not type(told):
        return False
    if kind in (list, tuple):
        return len(value) == len(told) and all(map(_same, value, told))
    if kind is dict:
        kinds = {k: type(k) for k in value}
        return value.keys() == told.keys() and all(kinds[k] is type(k) and _same(value[k], told[k]) for k in told)
    return value == told and (kind is not float or repr(value) == repr(told))


class _Spec:
    kind = None

    def __init__(self, *args, **kwargs):
        self.options = args


class _Choice(_Spec):
    kind = "choice"


def _described(function):
    """The function that tells a test's parameters: what functools.wraps has wrapped."""
    for _ in range(100):
        inner = function.__dict__.get("__wrapped__")
        if type(inner) is not types.FunctionType:
            break
        function = inner
    return function


def _input(annotation):
    return isinstance(annotation, _Spec) or isinstance(annotation, type) and issubclass(annotation, _Spec)


def _spec(function, name):
    """The annotation that makes a parameter an input, or None."""
    spec = function.__annotations__.get(name)
    for _ in range(2):  # text in quotes is text of text
        if isinstance(spec, str):
            spec = eval(spec, function.__globals__)
    for extra in getattr(spec, "__metadata__", ()):  # of typing.Annotated
        if _input(extra):
            return extra
    return spec if _input(spec) else None


def _call(function, described, skip=0):
    """Calls a test with each input in the place of its parameter; the first skip are there already, and
    those that are no input have their defaults."""
    described = _described(described)
    code = described.__code__
    names = code.co_varnames[skip:code.co_argcount + code.co_kwonlyargcount]
    last = code.co_varnames[:code.co_argcount][::-1]
    default = dict(zip(last, (described.__defaults__ or ())[::-1]))
    values = {}
    for name in names:
        spec = _spec(described, name)
        if spec is not None:
            values[name] = _value(name, spec.kind, getattr(spec, "options", None))
        elif name not in default and name not in (described.__kwdefaults__ or {}):
            values[name] = _value(name)
    positional = [values.pop(name, default.get(name)) for name in names[:max(code.co_posonlyargcount - skip, 0)]]
    return function(*positional, **values)


class _Pruned(BaseException):
    pass


def _assume(condition):
    if not condition:
        raise _Pruned("an assumption of the test does not hold for these inputs")


def _unchecked(*conditions, **more):
    """A contract in a file none of whose cases breaks one."""
    return lambda what: what


def _make_symchef():
    m = types.ModuleType("symchef")
    m.Str = type("Str", (_Spec,), {})
    m.Bytes = type("Bytes", (_Spec,), {})
    m.Int = type("Int", (_Spec,), {})
    m.Float = type("Float", (_Spec,), {})
    m.Bool = type("Bool", (_Spec,), {})
    m.Choice = _Choice
    m.UsageError = type("UsageError", (Exception,), {})
    m.getString = lambda name, default, max_size=None, min_size=None, ascii=True: _value(name)
    m.getBytes = lambda name, default, max_size=None, min_size=None: _value(name)
    m.getInt = lambda name, default, max_value=None, min_value=None: _value(name)
    m.getFloat = m.getInt
    m.getBool = lambda name, default=False: _value(name)
    m.getValue = lambda name, annotation: _value(name)
    m.getList = lambda name, items, max_size=None, min_size=None: _value(name)
    m.getChoice = lambda name, options, default=None: _value(name, "choice", list(options))
    m.log = lambda *values: None
    m.concretize = lambda value: value
    m.assume = _assume
    m.expect = lambda *types: None
    m.pair = lambda old, new: _recorded_pair(old, new, lambda: _Case.inputs["call"](_Case.module), _module)
    functions = {n: staticmethod(f) for n, f in vars(m).items() if n[0].islower()}
    functions["setUp"] = lambda self: None
    m.SymbolicTest = type("SymbolicTest", (), functions)
    if "_policy" in globals():
        _policy.update(nested="finding", discard=lambda: _assume(False))
    for part in "ContractError PreconditionError PostconditionError InvariantError contracts pre arg post ensure snapshot inv".split():
        setattr(m, part, globals().get(part, AssertionError if part[0].isupper() else _unchecked))
    return m


def _load():
    """Imports the tested file with the stand-in, as its own package would."""
    folder, base = os.path.split(TEST_FILE)
    name = base[:-3] if base.endswith(".py") else base
    while os.path.isfile(os.path.join(folder, "__init__.py")):
        folder, package = os.path.split(folder)
        name = package + "." + name
    saved, path, argv = sys.modules.get("symchef"), sys.path[:], sys.argv
    sys.modules["symchef"] = _make_symchef()
    sys.path.insert(0, folder)
    sys.argv = [TEST_FILE]
    try:
        if "." in name:
            importlib.import_module(name.rpartition(".")[0])
        spec = importlib.util.spec_from_file_location(name, TEST_FILE)
        module = importlib.util.module_from_spec(spec)
        before = sys.modules.get(name)
        sys.modules[name] = module
        try:
            spec.loader.exec_module(module)
        finally:
            if before is not None:
                sys.modules[name] = before  # this very file may have that name
        return module
    finally:
        sys.path[:], sys.argv = path, argv
        if saved is None:
            del sys.modules["symchef"]
        else:
            sys.modules["symchef"] = saved


def _qualified(cls):
    return cls.__qualname__ if cls.__module__ == "builtins" else cls.__module__ + "." + cls.__qualname__


def _forgotten(function, *args, **kwargs):
    """Takes the place of atexit.register: the end of a case is not that of the test runner, which must come to its own."""
    return function


def _run(inputs):
    """Runs the test on one case, as if in a process of its own: what it changes of this one is changed back."""
    register, atexit.register = atexit.register, _forgotten
    streams, cwd, environ = (sys.stdin, sys.stdout, sys.stderr), os.getcwd(), dict(os.environ)
    try:
        return _run_here(inputs)
    finally:
        atexit.register = register
        sys.stdin, sys.stdout, sys.stderr = streams
        os.chdir(cwd)
        if dict(os.environ) != environ:
            os.environ.clear()
            os.environ.update(environ)


def _run_here(inputs):
    """Runs the test on one case, each time in a newly imported module."""
    _Case.inputs, _Case.used = inputs, {}
    if TEST_NAME.endswith("()"):
        return _call_as_written()
    test = _Case.module = _load()
    classes = []
    for name in TEST_NAME.split("."):
        test = getattr(test, name)
        classes.append(test)
    # Under the real command the test is alone: a parser of arguments, say,
    # must not see those of the test runner.
    argv, sys.argv = sys.argv, [TEST_FILE]
    try:
        if isinstance(test, type):
            case = test()
            case.setUp()
            if type(test.runTest) is types.FunctionType:
                return _call(case.runTest, test.runTest, 1)
            return case.runTest()
        if len(classes) > 1:
            return _call_method(classes[:-1], test)
        return _call(test, test)
    finally:
        sys.argv = argv


def _call_as_written():
    """The case is a call, which names its modules: they are found as the package of the tested file finds them."""
    folder = os.path.dirname(TEST_FILE)
    while os.path.isfile(os.path.join(folder, "__init__.py")):
        folder = os.path.dirname(folder)
    path = sys.path[:]
    if folder not in path:
        sys.path.insert(0, folder)
    try:
        return _value("call")
    finally:
        sys.path[:] = path


def _call_method(classes, test):
    """Calls a test that is a method, between what its class, and those around that, want to be called before and behind it."""
    cls, name = classes[-1], TEST_NAME.rpartition(".")[2]
    member = [vars(c)[name] for c in cls.__mro__ if name in vars(c)][0]
    skip = 0 if isinstance(member, staticmethod) else 1
    told = getattr(member, "__func__", member)
    if issubclass(cls, unittest.TestCase):
        case = cls(name)
        for marked in (cls, test):
            if getattr(marked, "__unittest_skip__", False):
                raise unittest.SkipTest(marked.__unittest_skip_why__)
        steps = [case.tearDown, lambda: _cleanup(case._cleanups), cls.tearDownClass, lambda: _cleanup(cls._class_cleanups)]
        cls.setUpClass()
        case.setUp()
    else:
        cases, steps = [c() for c in classes], []
        case = cases[-1]
        for one, kind, argument in [(c, "class", c) for c in classes] + [(c, "method", getattr(case, name)) for c in cases]:
            _optional(one, "setup_" + kind, argument)
            steps.insert(0, functools.partial(_optional, one, "teardown_" + kind, argument))
    results, raised = [], []
    for step in [lambda: _call(getattr(case, name), told, skip)] + steps:
        try:
            results.append(step())
        except BaseException as e:
            raised.append(e)
    if raised:
        raise raised[0]
    return results[0]


def _cleanup(waiting):
    while waiting:
        function, arguments, keywords = waiting.pop()
        function(*arguments, **keywords)


def _optional(one, name, argument):
    """Calls a method, if there is one, with its argument, if it wants it."""
    method = getattr(one, name, None)
    if method is not None:
        method(*[argument][:method.__code__.co_argcount - hasattr(method, "__self__")])


def _status(e):
    """The status with which an exception ends a program."""
    code = getattr(e, "code", None)
    return 0 if code is None else code & 255 if isinstance(code, int) else 1


def _check(inputs, raises, returns):
    """raises is None or the name of the type of exception that is expected; returns is what the test returns, or ... for anything;
    behind SystemExit its status."""
    try:
        value = _run(inputs)
    except BaseException as e:
        if raises is None or _qualified(type(e)) != raises:
            if isinstance(e, KeyboardInterrupt):  # it would end the test runner
                raise AssertionError("KeyboardInterrupt") from e
            raise
        if returns is not ... and _status(e) != returns:
            raise AssertionError("exits with %d, not %d" % (_status(e), returns)) from e
    else:
        if raises is not None:
            raise AssertionError("did not raise " + raises)
        if returns is not ... and not _same(value, returns):
            raise AssertionError("returned %r, not %r" % (value, returns))
