"""Inputs of every shape: what a plain annotation, as list[int] or the name of a class, says of a value becomes a tree of nodes, which
draws values of that shape by asking for inputs (docs/python.md, "Shapes").

Structure is decided: one choice for a length or an alternative, the smallest first. Leaves are symbolic. While a value is drawn, its source
code is written along: pieces of text, the places of inputs, and names of classes. All inputs of a value are asked for, and its
code is told, before code of the test's, as __init__, makes the value of them.
"""

import sys
from marshal import dumps, loads
from types import FunctionType

from symchef import (_INF, _INT64_MAX, _INT64_MIN, Bool, Bytes, Choice, Float, Int, Str, UsageError, _ask, _shown, _Spec)
from symchef import _session
from symchef._sealed import BUILTINS as __builtins__
from symchef._sealed import inherits, is_a, module_of, mro, name_of, qualified

# What a plain annotation means: at most so many characters or bytes, so many elements, so many of a set or keys of a dict, and so many values
# of a recursive type within each other.
TEXT, ITEMS, KEYS, DEPTH = 4, 3, 2, 3

# Within sets and keys an int is from -KEY to KEY, so it has one digit: Python hashes larger ones digit by digit, each a path.
KEY = (1 << 29) - 1

_NEVER = 1 << 30  # the need of what cannot be finished
_HEAP = 1 << 9  # Py_TPFLAGS_HEAPTYPE

_flags = type.__dict__["__flags__"].__get__
_modules = sys.modules


class Recipe:
    """One value that is being drawn."""

    def __init__(self):
        self.asked, self.code = 0, []

    def choose(self, name, n):
        """An index below n."""
        if n == 1:
            return 0
        self.asked += 1
        return _ask("choice", name, 0, n)

    def text(self, text):
        if self.code and self.code[-1][0] == "=":
            self.code[-1] += text
        else:
            self.code.append("=" + text)

    def place(self):
        """What has just been asked for stands here."""
        self.code.append("@%d" % self.asked)
        self.asked += 1


class Node:
    """need is how many values of recursive types, one within the other, it takes at least; draw(recipe, name, left) may use so many. Its
    result is a function that makes the value."""

    need = _NEVER

    def parts(self):
        """The nodes that it is made of."""
        return []

    def least(self):
        """need, as far as the needs of the parts are known."""
        return max([0] + [part.need for part in self.parts()])

    def settle(self):
        """Is called when all needs are known."""

    def draw(self, recipe, name, left):
        raise NotImplementedError


class Leaf(Node, _Spec):
    """An input by itself; first is its first value."""

    def __init__(self, spec, first=None):
        self.spec, self.first, self.kind = spec, first, spec.kind
        self._checked = spec.check("x", first)

    def check(self, name, default=None):
        return self._checked

    def ask(self, name, checked):
        return self.spec.ask(name, checked)

    def draw(self, recipe, name, left):
        value = self.spec.ask(name, self._checked)
        recipe.place()
        return lambda: value


class Constant(Node):
    """One value; what writes its code."""

    def __init__(self, value, code):
        self.value, self.code = value, code

    def draw(self, recipe, name, left):
        for piece in self.code:
            if piece[0] == "=":
                recipe.text(piece[1:])
            else:
                recipe.code.append(piece)
        return lambda: self.value


class Union(Node):
    """One of several: first what needs least, None before all."""

    def __init__(self, options):
        self.options = options

    def parts(self):
        return self.options

    def least(self):
        return min([o.need for o in self.options])

    def settle(self):
        self.options = sorted(self.options, key=lambda o: (o.need, not (type(o) is Constant and o.value is None)))

    def draw(self, recipe, name, left):
        fit = [o for o in self.options if o.need <= left]
        return fit[recipe.choose("kind(%s)" % name, len(fit))].draw(recipe, name, left)


class Named(Node):
    """A type that has a name, by which it may be part of itself: a class, or text."""

    recursive = False
    node = None

    def __init__(self, key):
        self.key = key  # is kept: it has identities in it

    def parts(self):
        return [self.node]

    def within(self, others):
        """Whether it is part of itself, on a way by none of the others."""
        seen, todo = {}, [self.node]
        while todo:
            node = todo.pop()
            if node is self:
                return True
            if id(node) not in seen and not any([node is other for other in others]):
                seen[id(node)] = True
                todo += node.parts()
        return False

    def least(self):
        return self.node.need + self.recursive

    def draw(self, recipe, name, left):
        return self.node.draw(recipe, name, left - self.recursive)


class Sequence(Node):
    """From lo to hi items; code and function make the value of a list of them."""

    def __init__(self, items, lo, hi, code, make, distinct=False):
        self.items, self.lo, self.hi, self.code, self.make, self.distinct = items, lo, hi, code, make, distinct

    def parts(self):
        return [self.items]

    def least(self):
        return self.items.need if self.lo else 0

    def draw(self, recipe, name, left):
        n = self.lo
        if self.items.need <= left:
            n += recipe.choose("len(%s)" % name, self.hi - self.lo + 1)
        before, after = self.code(n)
        recipe.text(before)
        parts = []
        for i in range(n):
            if i:
                recipe.text(", ")
            parts.append(self.items.draw(recipe, "%s[%d]" % (name, i), left))
        recipe.text(after)
        return lambda: self._made(parts)

    def _made(self, parts):
        value = self.make([part() for part in parts])
        if self.distinct and len(value) < len(parts):  # it is one of those with fewer
            _ask("prune")
        return value


class Fixed(Node):
    """A tuple with an item of its own at each place."""

    def __init__(self, items):
        self.items = items

    def parts(self):
        return self.items

    def draw(self, recipe, name, left):
        recipe.text("(")
        parts = []
        for i, item in enumerate(self.items):
            if i:
                recipe.text(", ")
            parts.append(item.draw(recipe, "%s[%d]" % (name, i), left))
        recipe.text(",)" if len(parts) == 1 else ")")
        return lambda: tuple([part() for part in parts])


class Mapping(Node):
    """From lo to hi pairs of a key and a value."""

    def __init__(self, keys, values, lo, hi):
        self.keys, self.values, self.lo, self.hi = keys, values, lo, hi

    def parts(self):
        return [self.keys, self.values]

    def _items(self):
        return max(self.keys.need, self.values.need)

    def least(self):
        return self._items() if self.lo else 0

    def draw(self, recipe, name, left):
        n = self.lo
        if self._items() <= left:
            n += recipe.choose("len(%s)" % name, self.hi - self.lo + 1)
        recipe.text("{")
        parts = []
        for i in range(n):
            if i:
                recipe.text(", ")
            key = self.keys.draw(recipe, "%s.key%d" % (name, i), left)
            recipe.text(": ")
            parts.append((key, self.values.draw(recipe, "%s.value%d" % (name, i), left)))
        recipe.text("}")
        return lambda: self._made(parts)

    def _made(self, parts):
        made = {}
        for key, value in parts:
            made[key()] = value()
        if len(made) < len(parts):
            _ask("prune")
        return made


class Record(Node):
    """A dict with certain keys, of which some may be missing."""

    def __init__(self, fields):
        self.fields = fields  # (key, node, whether it must be there)

    def parts(self):
        return [node for _, node, _ in self.fields]

    def least(self):
        return max([0] + [node.need for _, node, must in self.fields if must])

    def draw(self, recipe, name, left):
        recipe.text("{")
        parts = []
        for key, node, must in self.fields:
            if not must and (node.need > left or recipe.choose("has(%s.%s)" % (name, key), 2) == 0):
                continue
            recipe.text("%s%r: " % (", " if parts else "", key))
            parts.append((key, node.draw(recipe, "%s.%s" % (name, key), left)))
        recipe.text("}")
        return lambda: dict([(key, part()) for key, part in parts])


class Call(Node):
    """What a class makes of arguments: of the first ones by position, of the others by name. One that it refuses is no value."""

    def __init__(self, function, piece, fields, positional=0):
        self.function, self.piece, self.fields, self.positional = function, piece, fields, positional

    def parts(self):
        return [node for _, node in self.fields]

    def draw(self, recipe, name, left):
        if self.piece[0] == "=":
            recipe.text(self.piece[1:])
        else:
            recipe.code.append(self.piece)
        recipe.text("(")
        parts = []
        for i, (field, node) in enumerate(self.fields):
            recipe.text(", " if i else "")
            if i >= self.positional:
                recipe.text(field + "=")
            parts.append((field, node.draw(recipe, "%s.%s" % (name, field), left)))
        recipe.text(")")
        return lambda: self._made(parts)

    def _made(self, parts):
        first = [part() for _, part in parts[:self.positional]]
        others = dict([(field, part()) for field, part in parts[self.positional:]])
        try:
            return self.function(*first, **others)
        except UsageError:
            raise
        except Exception:
            pass
        _ask("prune")


class Shape(_Spec):
    """A value that is made of inputs."""

    kind = "shape"

    def __init__(self, node):
        self.node = node

    def check(self, name, default=None):
        return ()

    def ask(self, name, checked):
        recipe = Recipe()
        make = self.node.draw(recipe, name, DEPTH)
        _ask("shape", name, recipe.asked, recipe.code)
        return make()


def spec_of(name, annotation, names):
    """The input that a plain annotation declares; names are the globals that it is written in."""
    builder = _Builder(name)
    return builder.finished(builder.node(annotation, names))


def value(name, annotation, names):
    """What getValue gives."""
    return spec_of(name, annotation, names).make(name)


def some(name, items, lo, hi, names):
    """What getList gives."""
    builder = _Builder(name)
    return builder.finished(builder.sequence(list, builder.node(items, names), lo, hi)).make(name)


def _brackets(before, after):
    return lambda n: (before, after)


_SEQUENCES = {  # code for n items, and what makes the value
    list: (_brackets("[", "]"), lambda items: items),
    tuple: (lambda n: ("(", ",)" if n == 1 else ")"), tuple),
    set: (lambda n: ("{", "}") if n else ("set(", ")"), set),
    frozenset: (lambda n: ("frozenset({", "})") if n else ("frozenset(", ")"), frozenset),
}

_SETS = (set, frozenset)

_PYTHONS = ("collections.abc", "typing", "_collections_abc")

# Abstract types, and what stands for them.
_ABSTRACT = {
    "Sequence": list, "MutableSequence": list, "Iterable": list, "Collection": list, "Container": list, "Reversible": list,
    "Set": set, "MutableSet": set, "Mapping": dict, "MutableMapping": dict,
}

# What classes written in C take by position: integers with their bounds, or other types.
_KNOWN = {
    "datetime.date": ((1, 9999), (1, 12), (1, 31)),
    "datetime.datetime": ((1, 9999), (1, 12), (1, 31), (0, 23), (0, 59), (0, 59)),
    "datetime.time": ((0, 23), (0, 59), (0, 59)),
    "datetime.timedelta": ((-999999999, 999999999), (0, 86399)),
    "fractions.Fraction": ((_INT64_MIN, _INT64_MAX), (1, _INT64_MAX)),
    "pathlib.Path": (str,),
    "pathlib.PurePath": (str,),
}

_ANY = (None, bool, int, str)


class _Builder:
    """Makes nodes of annotations, for the input name."""

    def __init__(self, name):
        self.name, self.nodes, self.known = name, [], {}
        self.types = {}  # what variables of types stand for, by identity
        self.hashed = False  # the present annotation is of elements of a set, or of keys

    def fail(self, text, *values):
        raise UsageError("input %s: " % self.name + text % values)

    def add(self, node):
        self.nodes.append(node)
        return node

    def finished(self, node):
        """The input that the node is."""
        self.settle()
        if node.need > DEPTH:
            self.fail("its values would have no end")
        return node if type(node) is Leaf else Shape(node)

    def settle(self):
        """Finds what is part of itself, and what the nodes need. A class is a level; text, as that of an alias, where no class is on the way."""
        names = [node for node in self.nodes if type(node) is Named]
        classes = [node for node in names if is_a(node.key[0], type)]
        levels = [node for node in classes if node.within(())]
        for node in names:
            if not any([node is c for c in classes]) and node.within(levels):
                levels.append(node)
        for node in levels:
            node.recursive = True
        changed = True
        while changed:
            changed = False
            for node in self.nodes:
                need = min(node.least(), _NEVER)
                if need < node.need:
                    node.need, changed = need, True
        for node in self.nodes:
            node.settle()

    def key(self, annotation, names):
        """The node of what has to be hashed."""
        before, self.hashed = self.hashed, True
        node = self.node(annotation, names)
        self.hashed = before
        return node

    def named(self, key, make):
        """The node of what may be part of itself."""
        key += (self.hashed,)
        found = self.known.get(key)
        if found is not None:
            return found
        self.known[key] = found = Named(key)
        found.node = make()
        return self.add(found)

    # What annotations say.

    def node(self, annotation, names, limits=()):
        """names are the globals that it is written in; limits is what typing.Annotated has added."""
        if type(annotation) is str:
            return self.text(annotation, names, limits)
        text = _get(annotation, "__forward_arg__")
        if type(text) is str:
            module = _get(annotation, "__forward_module__")
            names = module.__dict__ if type(module) is type(sys) else names
            return self.text(text, names, limits)
        if is_a(annotation, type) and inherits(annotation, _Spec):
            try:
                annotation = annotation()
            except TypeError:
                self.fail("%s needs arguments", qualified(annotation))
        if is_a(annotation, _Spec):
            return self.own(annotation)
        extra = _get(annotation, "__metadata__")
        if type(extra) is tuple:
            for spec in extra:
                if is_a(spec, _Spec):
                    return self.own(spec)
            return self.node(_get(annotation, "__origin__"), names, extra + tuple(limits))
        if annotation is None:
            return self.add(Constant(None, ["=None"]))
        alias = type(annotation).__name__
        if alias == "NewType" or type(annotation) is FunctionType and hasattr(annotation, "__supertype__"):
            return self.node(annotation.__supertype__, names, limits)
        if alias == "TypeAliasType":
            return self.named((annotation,), lambda: self.node(annotation.__value__, names, limits))
        if alias == "TypeVar":
            return self.variable(annotation, names, limits)
        if alias == "InitVar":
            return self.node(annotation.type, names, limits)
        origin, arguments = _get(annotation, "__origin__"), _get(annotation, "__args__")
        if alias == "UnionType" or self.special(origin, "Union"):
            return self.union(arguments, names, limits)
        if self.special(origin, "Literal"):
            return self.add(Union([self.constant(value) for value in arguments]))
        if any([self.special(origin, name) for name in ("Required", "NotRequired", "ReadOnly", "Final", "ClassVar")]):
            return self.node(arguments[0], names, limits)
        if self.special(annotation, "Any") or annotation is object:
            return self.union(_ANY, names, ())
        if is_a(origin, type):
            if arguments is None or annotation is _get(_modules.get("typing"), "Tuple"):  # bare, as List
                return self.type(origin, names, limits)
            return self.generic(origin, arguments, names, limits)
        if is_a(annotation, type):
            return self.type(annotation, names, limits)
        self.fail("no value is known for the annotation %s", _text(annotation))

    def special(self, value, name):
        """Whether it is what typing, or a module that has more of that, calls name."""
        if value is None:
            return False
        return any([module is not None and module.__dict__.get(name) is value
                    for module in (_modules.get("typing"), _modules.get("typing_extensions"))])

    def text(self, text, names, limits):
        try:
            annotation = eval(text, names)
        except UsageError:
            raise
        except Exception as e:
            self.fail("the annotation %s: %s: %s", text, qualified(type(e)), _session.message(e))
        if annotation is None or is_a(annotation, type) or type(annotation) is str:
            return self.node(annotation, names, limits)
        return self.named((text, id(names)), lambda: self.node(annotation, names, limits))

    def own(self, spec):
        if is_a(spec, Choice):
            return self.add(Union([self.constant(value) for value in spec.options]))
        if is_a(spec, Shape):
            return spec.node
        return self.add(Leaf(spec))

    def variable(self, variable, names, limits):
        known = self.types.get(id(variable))
        if known is not None:
            return self.node(known[0], known[1], limits)
        if variable.__constraints__:
            return self.union(variable.__constraints__, names, limits)
        return self.node(object if variable.__bound__ is None else variable.__bound__, names, limits)

    def union(self, options, names, limits):
        return self.add(Union([self.node(option, names, limits) for option in options]))

    def constant(self, value):
        """A value that stands in an annotation."""
        if value is None or type(value) in (bool, int, float, str, bytes):
            return self.add(Constant(value, ["=" + (ascii(value) if value == value and value not in (_INF, -_INF) else "float(%r)" % str(value))]))
        if _is_enum(type(value)):
            member = value.__dict__.get("_name_")
            if type(member) is str and member.isidentifier():
                return self.add(Constant(value, [self.called(type(value)), "=." + member]))
        self.fail("%s has no source code that is known", _shown(value))

    def generic(self, origin, arguments, names, limits):
        """origin[arguments]"""
        kind = _stands_for(origin)
        if kind is tuple:
            if len(arguments) == 2 and arguments[1] is ...:
                return self.sequence(tuple, self.node(arguments[0], names), *self.sizes(limits, ITEMS))
            if arguments == ((),):  # tuple[()], before Python 3.11
                arguments = ()
            return self.add(Fixed([self.node(argument, names) for argument in arguments]))
        if kind in _SETS:
            return self.sequence(kind, self.key(arguments[0], names), *self.sizes(limits, KEYS))
        if kind in _SEQUENCES:
            return self.sequence(kind, self.node(arguments[0], names), *self.sizes(limits, ITEMS))
        if kind is dict:
            return self.mapping(self.key(arguments[0], names), self.node(arguments[1], names), limits)
        if kind is type:
            self.fail("a class is no input")
        before = dict(self.types)
        for variable, argument in zip(_get(origin, "__parameters__") or (), arguments):
            self.types[id(variable)] = (argument, names)
        node = self.named((origin,) + tuple(map(id, arguments)) + (arguments,), lambda: self.object(origin))
        self.types = before
        return node

    def type(self, kind, names, limits):
        kind = _stands_for(kind)
        if kind is str or kind is bytes:
            lo, hi = self.sizes(limits, TEXT)
            return self.add(Leaf(Str(hi, lo), "a" * lo) if kind is str else Leaf(Bytes(hi, lo), bytes(lo)))
        if kind is int:
            bounds = (-KEY, KEY) if self.hashed and not limits else (_INT64_MIN, _INT64_MAX)
            return self.add(Leaf(Int(*self.range(limits, *bounds, _whole))))
        if kind is float:
            return self.add(Leaf(Float(*self.range(limits, -_INF, _INF, _real))))
        if kind is bool:
            return self.add(Leaf(Bool()))
        if kind is type(None):
            return self.node(None, names)
        if kind is complex or kind is bytearray:
            fields = [("real", float), ("imag", float)] if kind is complex else [("source", bytes)]
            return self.add(Call(kind, "=" + kind.__name__, [(f, self.type(t, names, limits)) for f, t in fields], 2))
        if kind in _SEQUENCES or kind is dict:
            return self.generic(kind, (object, ...) if kind is tuple else (object, object), names, limits)
        if _is_enum(kind):
            members = [kind.__dict__["_member_map_"][member] for member in kind.__dict__["_member_names_"]]
            if not members:
                self.fail("%s has no members", qualified(kind))
            return self.add(Union([self.constant(member) for member in members]))
        return self.named((kind,), lambda: self.object(kind))

    def sequence(self, kind, items, lo, hi):
        if type(lo) is not int or type(hi) is not int or not 0 <= lo <= hi:
            self.fail("needs 0 <= least <= most items, not %s, %s", _shown(lo), _shown(hi))
        code, make = _SEQUENCES[kind]
        return self.add(Sequence(items, lo, hi, code, make, kind in _SETS))

    def mapping(self, keys, values, limits):
        return self.add(Mapping(keys, values, *self.sizes(limits, KEYS)))

    # Classes.

    def object(self, kind):
        """What a class makes of its arguments."""
        if inherits(kind, dict) and hasattr(kind, "__total__"):
            return self.record(kind)
        known = [row for name, row in _KNOWN.items() if _found(_globals_of_name(name), name.rpartition(".")[2]) is kind]
        if known:
            nodes = [self.type(row, {}, ()) if is_a(row, type) else self.add(Leaf(Int(*row))) for row in known[0]]
            return self.add(Call(kind, self.called(kind), [("arg%d" % i, node) for i, node in enumerate(nodes)], len(nodes)))
        if module_of(kind) in _PYTHONS:
            self.fail("no value is known for the type %s", qualified(kind))
        if _get(kind, "__abstractmethods__") or _get(kind, "_is_protocol") is True:
            concrete = [c for c in _below(kind) if not _get(c, "__abstractmethods__")]
            if not concrete:
                self.fail("%s is abstract, and no class is derived from it", qualified(kind))
            return self.union(concrete, {}, ())
        if inherits(kind, tuple) and hasattr(kind, "_fields"):
            found = [(field, annotation, names) for field in kind._fields for annotation, names in [_of_class(kind, field)]]
            return self.call(kind, found, 0)
        for base in mro(kind):
            for name in ("__init__", "__new__"):
                function = vars(base).get(name)
                if type(function) is staticmethod:
                    function = function.__func__
                if type(function) is FunctionType:
                    return self.call(kind, *self.arguments(kind, function))
            if base is object:
                return self.call(kind, [], 0)
            if not _flags(base) & _HEAP:
                break
        self.fail("no value is known for the type %s", qualified(kind))

    def arguments(self, kind, function):
        """[(name, annotation, globals)] of what a constructor takes, and how many of them by position only."""
        code = function.__code__
        names = code.co_varnames[1:code.co_argcount + code.co_kwonlyargcount]
        by_place = code.co_varnames[:code.co_argcount]
        optional = set(by_place[len(by_place) - len(function.__defaults__ or ()):]) | set(function.__kwdefaults__ or {})
        annotations = function.__annotations__
        found = []
        for name in names:
            if name in annotations:
                annotation, where = annotations[name], function.__globals__
                if type(annotation) is str and hasattr(kind, "__dataclass_fields__"):
                    where = _of_class(kind, name)[1]
                found.append((name, annotation, where))
            elif name not in optional:
                found.append((name, object, {}))
        positional = max(code.co_posonlyargcount - 1, 0)
        return found, positional

    def call(self, kind, fields, positional):
        return self.add(Call(kind, self.called(kind), [(field, self.node(a, names)) for field, a, names in fields], positional))

    def record(self, kind):
        fields = []
        required = _get(kind, "__required_keys__")
        for base in reversed([kind] + list(_get(kind, "__orig_bases__") or ())):
            for key, annotation in (_get(base, "__annotations__") or {}).items():
                origin = _get(annotation, "__origin__")
                must = kind.__total__ if required is None else key in required
                must = must and not self.special(origin, "NotRequired") or self.special(origin, "Required")
                fields = [f for f in fields if f[0] != key] + [(key, self.node(annotation, _globals_of(kind)), must)]
        return self.add(Record(fields))

    def called(self, kind):
        """The piece of code that names a class: as the test's file does, or by its module."""
        for name in [name_of(kind)] + [n for n, value in list(_session.home.items()) if value is kind]:
            if _found(_session.home, name) is kind:
                return "$" + name
        for path in _KNOWN:
            if _found(_globals_of_name(path), path.rpartition(".")[2]) is kind:
                return "$" + path.replace(".", ":")
        module = module_of(kind)
        if type(module) is str and _found(_globals_of(kind), name_of(kind)) is kind:
            return "$%s:%s" % (module, name_of(kind))
        self.fail("%s has no name by which a test could find it", qualified(kind))

    # Limits.

    def sizes(self, limits, most):
        lo, hi = 0, None
        for limit in _each(limits):
            least, greatest = _get(limit, "min_length"), _get(limit, "max_length")
            if type(least) is int:
                lo = max(lo, least)
            if type(greatest) is int:
                hi = greatest if hi is None else min(hi, greatest)
        if hi is None:
            hi = lo + most if lo else most
        if lo > hi:
            self.fail("no length is from %d to %d", lo, hi)
        return lo, hi

    def range(self, limits, lo, hi, next_to):
        for limit in _each(limits):
            for name, strict in ("ge", False), ("gt", True):
                value = _get(limit, name)
                if type(value) in (int, float):
                    lo = max(lo, next_to(value, strict, 1))
            for name, strict in ("le", False), ("lt", True):
                value = _get(limit, name)
                if type(value) in (int, float):
                    hi = min(hi, next_to(value, strict, -1))
        if lo > hi:
            self.fail("no number is from %r to %r", lo, hi)
        return lo, hi


def _whole(value, strict, step):
    """The first integer from value on upwards (step 1) or downwards (-1), behind it if strict."""
    if value in (_INF, -_INF):
        return _INT64_MAX + 1 if value > 0 else _INT64_MIN - 1
    whole = int(value)
    if (whole - value) * step < 0 or strict and whole == value:
        whole += step
    return whole


def _real(value, strict, step):
    """The same of floats."""
    real = float(value)
    if (real - value) * step < 0 or strict and real == value:
        bits = int.from_bytes(dumps(real, 2)[1:], "little", signed=True)
        if real == 0:
            bits = 1 if step > 0 else 1 - (1 << 63)
        else:
            bits += step if real > 0 else -step
        real = loads(b"g" + bits.to_bytes(8, "little", signed=True))
    return real


def _each(limits):
    """Limits, those that have others in them as those."""
    for limit in limits:
        yield limit
        more = _get(limit, "metadata")
        if type(more) in (list, tuple):
            for inner in _each(more):
                yield inner


def _get(value, name):
    """An attribute, or None."""
    try:
        return getattr(value, name, None)
    except Exception:
        return None


def _text(annotation):
    try:
        return str(annotation)
    except Exception:
        return "a " + qualified(type(annotation))


def _is_enum(kind):
    return any([name_of(base) == "Enum" and module_of(base) == "enum" for base in mro(kind)])


def _stands_for(kind):
    """The type whose values are made for an abstract one of Python's own."""
    if module_of(kind) in _PYTHONS:
        return _ABSTRACT.get(name_of(kind), kind)
    return kind


def _below(kind):
    """All classes that are derived from it, in the order of their definition."""
    found = []
    for c in type.__subclasses__(kind):
        for each in [c] + _below(c):
            if not any([each is f for f in found]):
                found.append(each)
    return found


def _globals_of(kind):
    module = _modules.get(module_of(kind))
    return {} if module is None else module.__dict__


def _globals_of_name(path):
    """The globals of the module of a name with dots, if it is imported."""
    module = _modules.get(path.rpartition(".")[0])
    return {} if module is None else module.__dict__


def _of_class(kind, field):
    """What a class says of an attribute, and the globals in which it does."""
    for base in mro(kind):
        annotations = _get(base, "__annotations__") or {}
        if field in annotations and (base is kind or "__annotations__" in vars(base) or "__annotate_func__" in vars(base)):
            return annotations[field], _globals_of(base)
    return object, {}


def _found(names, path):
    """What a name with dots leads to, or None."""
    first, *others = path.split(".")
    value = names.get(first)
    for name in others:
        value = vars(value).get(name) if is_a(value, type) else None
    return value
