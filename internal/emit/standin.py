# The rest is a stand-in for the library "symchef", so that this file needs
# nothing but the tested code: it hands out the inputs of one case.


class _Case:
    inputs = {}
    used = {}


def _value(name, kind=None, options=None):
    n = _Case.used[name] = _Case.used.get(name, 0) + 1
    value = _Case.inputs[name if n == 1 else "%s#%d" % (name, n)]
    return options[value] if kind == "choice" else value


class _Spec:
    kind = None

    def __init__(self, *args, **kwargs):
        self.options = args


class _Choice(_Spec):
    kind = "choice"


def _annotation(function, name):
    spec = function.__annotations__[name]
    return eval(spec, function.__globals__) if isinstance(spec, str) else spec


def _call(function, inputs):
    """Calls a test function with each input in the place of its parameter."""
    code = function.__code__
    names = code.co_varnames[:code.co_argcount + code.co_kwonlyargcount]
    values = {}
    for name in names:
        spec = _annotation(function, name)
        values[name] = _value(name, getattr(spec, "kind", None), getattr(spec, "options", None))
    positional = [values.pop(name) for name in names[:code.co_posonlyargcount]]
    return function(*positional, **values)


class _Pruned(BaseException):
    pass


def _assume(condition):
    if not condition:
        raise _Pruned("an assumption of the test does not hold for these inputs")


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
    m.getChoice = lambda name, options, default=None: _value(name, "choice", list(options))
    m.log = lambda *values: None
    m.concretize = lambda value: value
    m.assume = _assume
    m.expect = lambda *types: None
    functions = {n: staticmethod(f) for n, f in vars(m).items() if n[0].islower()}
    functions["setUp"] = lambda self: None
    m.SymbolicTest = type("SymbolicTest", (), functions)
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


def _run(inputs):
    """Runs the test on one case, each time in a newly imported module."""
    _Case.inputs, _Case.used = inputs, {}
    test = getattr(_load(), TEST_NAME)
    # Under the real command the test is alone: a parser of arguments, say,
    # must not see those of the test runner.
    argv, sys.argv = sys.argv, [TEST_FILE]
    try:
        if isinstance(test, type):
            case = test()
            case.setUp()
            case.runTest()
        else:
            _call(test, inputs)
    finally:
        sys.argv = argv


def _check(inputs, raises):
    """raises is None or the name of the type of exception that is expected."""
    try:
        _run(inputs)
    except BaseException as e:
        if raises is None or _qualified(type(e)) != raises:
            if isinstance(e, KeyboardInterrupt):  # it would end the test runner
                raise AssertionError("KeyboardInterrupt") from e
            raise
    else:
        if raises is not None:
            raise AssertionError("did not raise " + raises)
