"""symchef check: functions for which nobody wrote a test (docs/check.md). TARGET::*() lists those of a file, a folder, a module or an
installed distribution; FILE::NAME() calls one of them, with an input for each parameter. All that a call is made of is one shape,
whose source code is the call.

What a parameter takes is told by its annotation, else by its default, else by the docstring; else it is a guess, and a choice called guess(NAME) says
which. How an exception is judged stands in _judge.py.
"""

import sys
from importlib import import_module
from opcode import opmap
from posix import listdir, stat
from types import CodeType, FunctionType, ModuleType

from symchef import UsageError, _ask
from symchef import _docstring, _judge, _session, _shape
from symchef._classes import members, own
from symchef._sealed import BUILTINS as __builtins__
from symchef._sealed import alone, inherits, is_a, module_of, mro, name_of, qualified
from symchef._shape import Constant, Node, Shape, Union

# How many values of a generator are taken.
TAKEN = 16

# What a parameter may be of which nothing is known.
GUESSES = (None, bool, int, str, _docstring.Said(list, [int]))

# Modules that are not looked into for functions: they belong to the tests, or run the program.
PASSED = ("__main__", "conftest", "setup", "test", "tests", "testing", "docs", "examples")

_GENERATOR, _COROUTINE, _ASYNC_GENERATOR = 0x20, 0x180, 0x200  # CO_GENERATOR, CO_COROUTINE and CO_ITERABLE_COROUTINE, CO_ASYNC_GENERATOR
_MORE, _MORE_BY_NAME = 0x04, 0x08  # CO_VARARGS, CO_VARKEYWORDS


def is_asked(name):
    """Whether NAME in PATH::NAME asks for a call, or for a list of them, and not for a test."""
    return name is not None and name.endswith("()")


# Modules.


def kind_of(path):
    """"file", "folder" or None."""
    try:
        mode = stat(path).st_mode & 0o170000
    except OSError:
        return None
    return {0o100000: "file", 0o040000: "folder"}.get(mode)


def place_of(path):
    """The folder that has to be on sys.path for a file, and the name of the module that it is then."""
    folder, _, base = path.rpartition("/")
    name = base[:-3] if base.endswith(".py") else base
    for entry in sys.path:
        if entry.endswith("-packages") and path.startswith(entry + "/"):
            parts = path[len(entry) + 1:].split("/")[:-1]
            if all([part.isidentifier() for part in parts]):
                return entry, ".".join(parts + ([] if name == "__init__" and parts else [name]))
    parts = [] if name == "__init__" else [name]
    while folder and kind_of(folder + "/__init__.py") == "file":
        folder, _, package = folder.rpartition("/")
        parts.insert(0, package)
    return folder or "/", ".".join(parts or [name])


def go_first(folder):
    """Has modules of the folder found first, but where it is one of Python's own; in place of the working directory."""
    if not getattr(sys.flags, "safe_path", False):  # since Python 3.11
        del sys.path[:1]
    if folder not in sys.path:
        sys.path.insert(0, folder)


def load(path):
    """The module of a file, imported as its own package does."""
    folder, name = place_of(path)
    go_first(folder)
    sys.argv[:] = [path]
    module = import_module(name)
    if file_of(module) != path:
        raise UsageError("another module is called %s: %s" % (name, file_of(module) or "one of Python's own"))
    return module


def file_of(module):
    """The source file of a module, or None."""
    file = vars(module).get("__file__")
    return file if type(file) is str and file.endswith(".py") else None


def below(folder, name):
    """(name, is a package) of what is in a package's folder and is somebody's to use."""
    for base in sorted(listdir(folder)):
        short = base[:-3] if base.endswith(".py") else base
        if not short.isidentifier() or short.startswith(("_", "test_")) or short.endswith("_test") or short in PASSED:
            continue
        if base.endswith(".py"):
            yield name + short, folder + "/" + base
        elif kind_of(folder + "/" + base + "/__init__.py") == "file":
            yield name + short, folder + "/" + base + "/__init__.py"
            for inner in below(folder + "/" + base, name + short + "."):
                yield inner


class Listing:
    """What a target has."""

    def __init__(self, prefix):
        self.prefix = prefix  # only what is called so, or is in it; "": all
        self.modules, self.failed = [], []

    def add(self, name, path=None):
        """Imports a module."""
        try:
            module = import_module(name)
        except _session.UsageError:
            raise
        except BaseException as e:
            alone()
            self.failed.append((name, path, "importing it failed: %s: %s" % (qualified(type(e)), _session.message(e))))
            return None
        if not any([module is m for m in self.modules]):
            self.modules.append(module)
        return module

    def package(self, name, path=None):
        """Imports a module and, if it is a package, what is below."""
        module = self.add(name, path)
        file = None if module is None else file_of(module)
        if file is not None and file.endswith("/__init__.py"):
            for inner, place in below(file.rpartition("/")[0], name + "."):
                self.add(inner, place)

    def target(self, target):
        sys.argv[:] = [target]
        if target.startswith("/"):
            return self.path(target)
        if not getattr(sys.flags, "safe_path", False):
            pass  # the working directory stays: modules beside are found, too
        if self.exists(target):
            return self.package(target)
        for name in distributed(target):
            self.package(name)

    def exists(self, name):
        from importlib.util import find_spec
        try:
            return all([p.isidentifier() for p in name.split(".")]) and find_spec(name) is not None
        except (ImportError, ValueError):
            return False

    def path(self, path):
        if kind_of(path) == "file":
            folder, name = place_of(path)
            go_first(folder)
            self.add(name, path)
        elif kind_of(path + "/__init__.py") == "file":
            folder, name = place_of(path + "/__init__.py")
            go_first(folder)
            self.package(name, path)
        elif kind_of(path) == "folder":
            go_first(path)
            for name, place in below(path, ""):
                self.add(name, place)
        else:
            raise UsageError("%s: no such file or folder" % path)
        if self.failed and not self.modules:
            raise UsageError("%s: %s" % (path, self.failed[0][2]))

    def functions(self):
        """Each once, by the shortest of its names, that of the module which defines it where several are as short."""
        found = {}
        for module in self.modules:
            for path, value, owner in public(module, self.top()):
                if self.prefix and not (path + ".").startswith(self.prefix + "."):
                    continue
                function = plain_function(value, owner, path)
                rank = module.__name__.count("."), function.__module__ != module.__name__
                before = found.get(id(function))
                if before is None or rank < before[0]:
                    found[id(function)] = rank, module, path
        return [(module, path) for _, module, path in found.values()]

    def top(self):
        return [m.__name__.partition(".")[0] for m in self.modules]


def distributed(name):
    """The names of the modules that an installed distribution has."""
    from importlib import metadata
    try:
        found = metadata.distribution(name)
    except Exception:
        raise UsageError("%s: there is no file, module or distribution of this name for %s" % (name, sys.executable)) from None
    listed = (found.read_text("top_level.txt") or "").split()
    for file in found.files or []:
        first = str(file).split("/")[0]
        listed.append(first[:-3] if first.endswith(".py") else first if "/" in str(file) else "")
    names = []
    for name in listed:
        if name.isidentifier() and not name.startswith("_") and name not in PASSED and name not in names:
            names.append(name)
    return names


# Functions.


def public(module, tops):
    """(dotted name, value, class or None) of the functions, classes and methods that a module offers and that are its package's own."""
    space = vars(module)
    listed = space.get("__all__")
    names = [n for n in listed if type(n) is str] if type(listed) in (list, tuple) else [n for n in list(space) if not n.startswith("_")]
    for name in names:
        value = space.get(name)
        if is_a(value, type):
            if belongs(module_of(value), tops):
                for path, inner in of_class(name, value, tops):
                    yield path, inner, value
        elif value is not None and belongs(home_of(value), tops) and plain_function(value, None, name) is not None:
            yield name, value, None


def belongs(module, tops):
    return type(module) is str and module.partition(".")[0] in tops


def home_of(value):
    """The module of a function."""
    function = plain_function(value, None, "")
    return None if function is None else function.__module__


def of_class(name, cls, tops):
    """The class itself, if calling it runs code of its own, and its public methods."""
    if inherits(cls, BaseException) or name.startswith("_") or _shape._get(cls, "_is_protocol") is True:
        return
    has = members(cls)
    made = [has.get("__init__"), has.get("__new__")]
    if not any([hasattr(base, "_member_map_") for base in mro(cls)]) and any([type(m) is FunctionType and from_source(m) for m in made]):
        yield name, cls
    for inner, value in list(own(cls).items()):
        if (not inner.startswith("_") or inner == "__call__") and plain_function(value, cls, inner) is not None and from_source(plain_function(value, cls, inner)):
            yield name + "." + inner, value


def from_source(function):
    """Whether somebody wrote it, and no library made it, as those of a dataclass."""
    return not function.__code__.co_filename.startswith("<")


def plain_function(value, owner, name):
    """The function that is executed, behind methods of all kinds, properties and what functools.wraps has wrapped; None for what is none."""
    for _ in range(100):
        kind = type(value)
        if kind is FunctionType:
            inner = value.__dict__.get("__wrapped__")
            if type(inner) is not FunctionType:
                return value
            value = inner
        elif kind is staticmethod or kind is classmethod:
            value = value.__func__
        elif kind is property:
            value = value.fget
        elif is_a(value, type):
            for member in (members(value).get("__init__"), members(value).get("__new__")):
                if type(member) is FunctionType:
                    return member
            return None
        elif value is None or is_a(value, ModuleType) or kind is CodeType:
            return None
        else:  # as functools.lru_cache and functools.cached_property make them
            inner = None
            for attribute in ("__wrapped__", "func"):
                try:
                    inner = object.__getattribute__(value, attribute)
                    break
                except Exception:
                    pass
            if kind.__module__ != "functools" or kind.__name__ == "partial" or inner is None:
                return None
            value = inner
    return None


class Parameter:
    def __init__(self, name, how, default):
        self.name, self.how, self.default = name, how, default  # how: "position", "any" or "name"
        self.node, self.source, self.said = None, "", ""  # source: annotation, default, docstring, guess or left out

    @property
    def optional(self):
        return self.default is not NOTHING


NOTHING = object()


def parameters_of(function, skip):
    """Those behind the first skip; what *args and **kwargs would take is not passed."""
    code = function.__code__
    names = code.co_varnames[:code.co_argcount + code.co_kwonlyargcount]
    defaults = function.__defaults__ or ()
    default_of = dict(zip(names[code.co_argcount - len(defaults):code.co_argcount], defaults))
    default_of.update(function.__kwdefaults__ or {})
    return [Parameter(name, "position" if i < code.co_posonlyargcount else "any" if i < code.co_argcount else "name", default_of.get(name, NOTHING))
            for i, name in enumerate(names) if i >= skip]


class Guess(Union):
    """A parameter of which nothing is known."""

    def draw(self, recipe, name, left):
        fit = [o for o in self.options if o.need <= left]
        return fit[recipe.choose("guess(%s)" % name, len(fit))].draw(recipe, name, left)


class Builder(_shape._Builder):
    """Knows what parameters without annotation may be."""

    def __init__(self, name):
        _shape._Builder.__init__(self, name)
        self.guessed = []  # names of parameters

    def guess(self, name):
        self.guessed.append(name)
        return self.add(Guess([self.node(g, {}) for g in GUESSES]))

    def filled(self, function, skip, documents):
        """The parameters with what each takes; one of which that is not known and that may be left out is."""
        try:
            annotations = dict(function.__annotations__)
        except Exception as e:  # since Python 3.14 they are evaluated here
            raise UsageError("its annotations: %s: %s" % (qualified(type(e)), _session.message(e))) from None
        kept = []
        for p in parameters_of(function, skip):
            if p.name in annotations:
                try:
                    p.node, p.source, p.said = self.node(annotations[p.name], function.__globals__), "annotation", shown(annotations[p.name])
                except UsageError:
                    if not p.optional:
                        raise
            elif p.optional and p.name.startswith("_"):
                continue
            elif p.optional and p.default is not None:
                self.by_default(p)
            else:
                self.by_text(p, documents, function)
            if p.node is None and not p.optional:
                p.source, p.node, p.said = "guess", self.guess(p.name), "guessed"
            if p.node is not None:
                kept.append(p)
        return kept

    def by_default(self, p):
        """A value of the type of the default."""
        kind = type(p.default)
        if kind in (bool, int, float, complex, str, bytes) or _shape._is_enum(kind):
            p.node, p.source, p.said = self.type(kind, {}, ()), "default", kind.__name__

    def by_text(self, p, documents, function):
        """A value of the type that the docstring says."""
        said = _docstring.type_of(documents, p.name)
        annotation = None if said is None else _docstring.annotation(said, function.__globals__)
        if annotation is None:
            return
        try:
            p.node, p.source, p.said = self.node(annotation[0], function.__globals__), "docstring", said
        except UsageError:
            pass

    def arguments(self, kind, function):
        """What a constructor takes that cannot be left out; a guess where nothing is known."""
        found, positional = _shape._Builder.arguments(self, kind, function)
        documents = texts(function, kind)
        filled = []
        for name, annotation, names in found:
            if annotation is object and not names:
                said = _docstring.type_of(documents, name)
                known = None if said is None else _docstring.annotation(said, function.__globals__)
                annotation, names = (Unknown(name), {}) if known is None else (known[0], function.__globals__)
            filled.append((name, annotation, names))
        return filled, positional

    def node(self, annotation, names, limits=()):
        if type(annotation) is Unknown:
            return self.guess(annotation.name)
        if type(annotation) is _docstring.Said:
            if annotation.kind == "options":
                return self.union(annotation.parts, names, limits)
            if annotation.kind == "constants":
                return self.add(Union([self.constant(value) for value in annotation.parts]))
            return self.generic(annotation.kind, tuple(annotation.parts) + ((...,) if annotation.kind is tuple else ()), names, limits)
        return _shape._Builder.node(self, annotation, names, limits)


class Unknown:
    def __init__(self, name):
        self.name = name


def shown(annotation):
    if is_a(annotation, type):
        return name_of(annotation)
    return annotation if type(annotation) is str else _shape._text(annotation)


def texts(function, owner):
    """The docstrings that speak of a function: its own, those of its class and of the class's constructor."""
    found = [function.__doc__]
    if owner is not None:
        found.append(_shape._get(owner, "__doc__"))
        init = members(owner).get("__init__")
        if type(init) is FunctionType:
            found.append(init.__doc__)
    return [t for t in found if type(t) is str]


class Call(Node):
    """What is called, and with what: it makes a function, a list of arguments and a dict of them."""

    def __init__(self, pieces, function, instance, parameters, before="", after="", through=None):
        self.pieces, self.function, self.instance, self.parameters = pieces, function, instance, parameters
        self.before, self.after, self.through = before, after, through

    def parts(self):
        return [p.node for p in self.parameters] + ([] if self.instance is None else [self.instance])

    def least(self):
        return max([0] + [p.node.need for p in self.parameters if not p.optional] + ([] if self.instance is None else [self.instance.need]))

    def draw(self, recipe, name, left):
        for piece in self.before:
            write(recipe, piece)
        made = None if self.instance is None else self.instance.draw(recipe, "self", left)
        for piece in self.pieces:
            write(recipe, piece)
        values = self.draw_arguments(recipe, left)
        for piece in self.after:
            write(recipe, piece)
        return lambda: self._made(made, values)

    def draw_arguments(self, recipe, left):
        if self.parameters is None:
            return []
        values, by_name, written = [], False, 0
        for p in self.parameters:
            if p.how == "position" and by_name:
                continue
            if p.optional and (p.node.need > left or recipe.choose("has(%s)" % p.name, 2) == 0):
                by_name = True
                continue
            if written:
                recipe.text(", ")
            named = p.how == "name" or by_name
            if named:
                recipe.text(p.name + "=")
            values.append((p.name if named else None, p.node.draw(recipe, p.name, left)))
            written += 1
        return values

    def _made(self, made, values):
        function = self.function if made is None else self.function(made())
        first = [value() for name, value in values if name is None]
        others = dict([(name, value()) for name, value in values if name is not None])
        if self.through is not None:
            return self.through, [function, first, others], {}
        return function, first, others


def write(recipe, piece):
    if piece[0] == "=":
        recipe.text(piece[1:])
    else:
        recipe.code.append(piece)


def taken(function, arguments, keywords):
    """The first values of a generator."""
    found = []
    for value in function(*arguments, **keywords):
        found.append(value)
        if len(found) == TAKEN:
            break
    return found


class Callee:
    """A function that is to be called: what is known of it."""

    def __init__(self, module, path):
        self.module, self.path = module, path
        self.name = module.__name__ + "." + path
        owners, value = [], module
        for part in path.split("."):
            owners.append(value)
            value = vars(module).get(part) if value is module else members(value).get(part)
            if value is None:
                raise UsageError("%s has no %s" % (module.__name__, path))
        self.owner = owners[-1] if len(owners) > 1 else None
        self.value = value
        self.described = plain_function(value, self.owner, path)
        if self.described is None:
            raise UsageError("%s: it is no function that is written in Python" % self.name)

    def at(self):
        code = self.described.__code__
        return "%s:%d" % (code.co_filename, code.co_firstlineno)

    def texts(self):
        return texts(self.described, self.value if is_a(self.value, type) else self.owner)

    def build(self):
        """The call as an input, and its builder."""
        builder = Builder(self.path)
        function, value, owner = self.described, self.value, self.owner
        module = self.module.__name__
        named = "$%s:%s" % (module, self.path)
        flags = function.__code__.co_flags
        skip, instance, pieces, brackets, call = 0, None, [named], True, value
        if is_a(value, type):
            if _shape._get(value, "__abstractmethods__"):
                raise UsageError("it is abstract")
            skip = 1
        elif owner is not None and type(value) is staticmethod:
            call = getattr(owner, self.path.rpartition(".")[2])
        elif owner is not None and type(value) is classmethod:
            skip, call = 1, getattr(owner, self.path.rpartition(".")[2])
        elif owner is not None:
            short = self.path.rpartition(".")[2]
            skip, instance = 1, builder.type(owner, {}, ())
            pieces, call = ["=." + short], lambda made: lambda *a, **k: getattr(made, short)(*a, **k)
            if type(value) is FunctionType:
                call = lambda made: getattr(made, short)
            else:
                brackets = False
                call = lambda made: lambda: getattr(made, short)
                if type(value) is not property:
                    brackets = type(value).__name__ != "cached_property"
                    call = call if not brackets else lambda made: getattr(made, short)
        parameters = builder.filled(function, skip, self.texts()) if brackets else []
        before, after, through = [], [], None
        if flags & (_COROUTINE | _ASYNC_GENERATOR):
            if flags & _ASYNC_GENERATOR:
                raise UsageError("it is an asynchronous generator")
            run = vars(sys.modules.get("asyncio") or import_module("asyncio"))["run"]
            before, after = ["$asyncio:run", "=("], ["=)"]
            through = lambda f, a, k: run(f(*a, **k))
        elif flags & _GENERATOR:
            before, after, through = ["=list(", "$itertools:islice", "=("], ["=, %d))" % TAKEN], taken
        pieces = pieces + ["=("] if brackets else pieces
        after = ["=)"] + after if brackets else after
        node = builder.add(Call(pieces, call, instance, parameters, before, after, through))
        builder.settle()
        if node.need > _shape.DEPTH:
            raise UsageError("its values would have no end")
        return builder, node, parameters

    def signature(self, parameters):
        """The parameters that are inputs, with what each takes and who says so."""
        return "(%s)" % ", ".join(["%s: %s%s" % (p.name, p.said, "" if p.source in ("annotation", "guess") else " (%s)" % p.source) for p in parameters])


def promise(parameters, guessed):
    """The smaller, the more a function promises to show: text and bytes before all else, then other inputs, guesses, and at last those without an input."""
    if not parameters and not guessed:
        return 3
    if any([p.said.lower().lstrip("typing.").startswith(("str", "bytes", "text")) for p in parameters]):
        return 0
    return 2 if guessed else 1


def list_all(target, prefix):
    """Tells the engine which functions there are, the most promising first."""
    listing = Listing(prefix)
    listing.target(target)
    rows = []
    for module, path in listing.functions():
        file = file_of(module)
        if file is None:
            continue
        callee = Callee(module, path)
        refused, signature, guessed, order = "", "", [], 4
        try:
            builder, node, parameters = callee.build()
            signature, guessed, order = callee.signature(parameters), builder.guessed, promise(parameters, builder.guessed)
        except UsageError as e:
            refused = _session.message(e)
        except Exception as e:
            refused = "%s: %s" % (qualified(type(e)), _session.message(e))
        alone()
        promised = _judge.promised(callee.described, callee.texts(), module)
        rows.append((order, len(rows), file + "::" + path + "()", callee.name, callee.at(), signature, refused, guessed, [_judge.named(p) for p in promised], _judge.own_of(module)))
    for name, path, why in listing.failed:
        rows.append((5, len(rows), "", name, (path or name) + ":1", "", why, [], [], []))
    if not rows:
        raise UsageError("%s: it has no public function%s that is written in Python" % (target, " or class called " + prefix if prefix else ""))
    rows.sort(key=lambda row: row[:2])
    for row in rows:
        _ask("function", *row[2:])
    _ask("tests", [row[2] for row in rows if row[2]])


def takes_int(node):
    """Whether it is an int that may be as large as a size of memory."""
    return type(node) is _shape.Leaf and type(node.spec) is _shape.Int and node.spec.hi > 1 << 20


_IMPORT, _EXTENDED = opmap["IMPORT_NAME"], opmap["EXTENDED_ARG"]


def imported_later(top):
    """The modules that functions of a package import when they are called. They are imported before: that takes millions of instructions, and tells nothing."""
    found = []
    for name, module in list(sys.modules.items()):
        if name.partition(".")[0] == top and is_a(module, ModuleType):
            for value in list(vars(module).values()):
                values = list(own(value).values()) if is_a(value, type) and module_of(value) == name else [value]
                for each in values:
                    function = plain_function(each, None, "")
                    if function is not None and function.__module__ == name:
                        in_code(function.__code__, found)
    return [name for name in found if name.partition(".")[0] != top and top + "." + name not in sys.modules][:100]


def in_code(code, found):
    """Adds the names that IMPORT_NAME has in a code object, and in those that are in it."""
    text, more = code.co_code, 0
    for i in range(0, len(text), 2):
        argument = text[i + 1] | more << 8
        more = argument if text[i] == _EXTENDED else 0
        if text[i] == _IMPORT and argument < len(code.co_names) and code.co_names[argument] not in found:
            found.append(code.co_names[argument])
    for constant in code.co_consts:
        if type(constant) is CodeType:
            in_code(constant, found)


def prepared(session, path, name):
    """What is to be called, behind `begin`: a function, a list of arguments, a dict of them."""
    callee = Callee(load(path), name[:-2])
    _session.home = {}
    builder, node, parameters = callee.build()
    _judge.judges(callee.described, callee.texts(), callee.module, builder.guessed, any([takes_int(n) for n in builder.nodes]))
    session.test = name
    for module in imported_later(callee.module.__name__.partition(".")[0]):
        try:
            import_module(module)
        except BaseException:
            alone()
    shape = Shape(node)
    _ask("begin")
    return list(shape.ask("call", ()))
