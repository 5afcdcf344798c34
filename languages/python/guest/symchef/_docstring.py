"""What a docstring says of parameters and exceptions, in the three styles there are: Sphinx's fields, Google's sections, NumPy's sections. Only its first
words count where a type is described in a sentence, as in `s: String to be parsed`."""

from symchef._sealed import BUILTINS as __builtins__
from symchef._sealed import inherits, is_a

# What people call types.
WORDS = {
    "str": str, "string": str, "text": str, "unicode": str, "basestring": str,
    "bytes": bytes, "bytestring": bytes, "bytearray": bytearray,
    "int": int, "integer": int, "float": float, "double": float, "number": float, "complex": complex,
    "bool": bool, "boolean": bool, "none": None, "list": list, "tuple": tuple, "dict": dict, "dictionary": dict, "set": set, "frozenset": frozenset,
    "sequence": list, "iterable": list, "object": object, "any": object,
}

_PARAMETERS = ("args", "arguments", "parameters", "params", "other parameters", "keyword args", "keyword arguments")
_RAISES = ("raises", "raise", "except", "exceptions")
_SPHINX = (":param ", ":parameter ", ":arg ", ":argument ", ":key ", ":keyword ", "@param ")


def _indent(line):
    return len(line) - len(line.lstrip())


def _lines(text):
    return text.expandtabs().split("\n")


def type_of(texts, name):
    """What the docstrings say of the type of a parameter, or None."""
    for text in texts:
        for found in (_by_field(text, name), _by_section(text, name)):
            if found:
                return found
    return None


def _by_field(text, name):
    """:type name: TYPE, :param TYPE name: ..., :param name: TYPE ..."""
    described = None
    for line in _lines(text):
        line = line.strip()
        for start in (":type %s:" % name, "@type %s:" % name):
            if line.startswith(start):
                return line[len(start):].strip()
        for start in _SPHINX:
            if line.startswith(start):
                head, colon, rest = line[len(start):].partition(":")
                words = head.split()
                if colon and words and words[-1] == name:
                    if len(words) > 1:
                        return " ".join(words[:-1])
                    described = _first_words(rest.strip())
    return described


def _by_section(text, name):
    """The entry of a parameter in a section of Google's or NumPy's style."""
    lines = _lines(text)
    inside = None
    for i, line in enumerate(lines):
        title = line.strip().rstrip(":").lower()
        below = lines[i + 1].strip() if i + 1 < len(lines) else ""
        if title in _PARAMETERS and (line.strip().endswith(":") or below and not below.strip("-")):
            inside = _indent(line)
            continue
        if inside is None or not line.strip() or not line.strip().strip("-"):
            continue
        if below and not below.strip("-") and _indent(line) <= inside:  # NumPy's next section
            inside = None
            continue
        if _indent(line) < inside:
            inside = None
            continue
        head, colon, rest = line.strip().partition(":")
        first, _, bracket = head.partition("(")
        if colon and name in [n.strip().lstrip("*") for n in first.split(",")]:
            if bracket:
                return bracket.rpartition(")")[0] or bracket
            return rest.strip() if _annotated(rest) else _first_words(rest.strip())
    return None


def _annotated(rest):
    """Whether it is a type and nothing else, as NumPy's style has it."""
    return annotation(rest.strip(), {}) is not None


def _first_words(sentence):
    """The type that a sentence begins with: `(optional) String to be parsed`, `a list of integers`."""
    words = sentence.replace("(optional)", "").replace("`", "").strip().split()
    while words and words[0].lower() in ("a", "an", "the", "optional", "optional,"):
        words = words[1:]
    if not words:
        return None
    first = words[0].strip(",.:;").lower()
    if first in ("int", "integer", "str", "string", "bool", "boolean", "float", "bytes", "bytestring", "dict", "dictionary", "list", "tuple") and WORDS.get(first) is not None:
        return first
    return None


def annotation(said, names):
    """(what a type that a docstring says means,), or None where that is not known."""
    said = said.strip().rstrip(".").replace("`", "").replace(":class:", "").replace(":obj:", "").replace("~", "").strip()
    if not said:
        return None
    if said[0] == "{" and said[-1] == "}":
        return _literal(said[1:-1])
    options = []
    for part in _split(said):
        part = part.strip()
        if part.lower() in ("optional", "") or part.lower().startswith("default"):
            continue
        one = _one(part, names)
        if one is None:
            return None
        options.append(one[0])
    if not options:
        return None
    return (options[0],) if len(options) == 1 else (Said("options", options),)


class Said:
    """A type that a docstring says: one of several options, of several constants, or a container of items. Nothing of typing is asked: that calls
    what the module under test may have replaced."""

    def __init__(self, kind, parts):
        self.kind, self.parts = kind, parts  # kind: "options", "constants" or a type


def _literal(text):
    """NumPy's {'a', 'b'}."""
    values = []
    for word in text.split(","):
        word = word.strip()
        if len(word) >= 2 and word[0] == word[-1] and word[0] in "'\"" and "\\" not in word:
            values.append(word[1:-1])
        elif word.lstrip("-").isdigit():
            values.append(int(word))
        else:
            return None
    return (Said("constants", values),) if values else None


def _split(said):
    """At commas, bars, "or", not within brackets."""
    parts, depth, part = [], 0, ""
    for word in said.replace("|", " or ").replace(",", " , ").replace("[", " [ ").replace("]", " ] ").replace("(", " ( ").replace(")", " ) ").split():
        depth += (word in "[(") - (word in "])")
        if depth == 0 and word in ("or", ","):
            parts.append(part)
            part = ""
        elif word in "[]()" or part.endswith("["):
            part += word
        else:
            part += (" " if part else "") + word
    return parts + [part]


def _one(part, names):
    word = part.lower()
    if word in WORDS:
        return (WORDS[word],)
    for joint in (" of ", "["):
        outer, found, inner = part.partition(joint)
        outer = outer.strip().lower()
        if found and outer in ("list", "set", "tuple", "sequence", "iterable", "frozenset"):
            inner = inner.strip().rstrip("]").strip()
            item = _one(inner, names) or (inner.endswith("s") and _one(inner[:-1], names))
            if not item:
                return None
            return (Said(WORDS[outer], [item[0]]),)
    if part.isidentifier():
        value = names.get(part)
        if is_a(value, type) and not inherits(value, BaseException):
            return (value,)
    return None


def exceptions(texts):
    """The names of exceptions that docstrings mention: behind `Raises:`, `:raises X:`, or anywhere in the text by a name that only exceptions have."""
    found = []

    def add(word):
        word = word.strip("`.,;:()[]'\"*~")
        for prefix in ("class:", "exc:", ":class:`", ":exc:`"):
            word = word[len(prefix):] if word.startswith(prefix) else word
        word = word.strip("`.,;:~")
        if word and all([w.isidentifier() for w in word.split(".")]) and word not in found:
            found.append(word)

    for text in texts:
        inside = None
        for line in _lines(text):
            bare = line.strip()
            if bare.rstrip(":").lower() in _RAISES:
                inside = _indent(line)
                continue
            for start in (":raises ", ":raise ", ":except ", ":exception ", "@raise ", "@raises "):
                if bare.startswith(start):
                    for word in bare[len(start):].partition(":")[0].replace(",", " ").split():
                        add(word)
            if inside is not None and bare and bare.strip("-"):
                if _indent(line) < inside:
                    inside = None
                else:
                    for word in bare.partition(":")[0].replace(",", " ").split():
                        add(word)
            for word in bare.replace("`", " ").replace("(", " ").replace(")", " ").replace("/", " ").replace(",", " ").replace(":", " ").split():
                if word.rstrip(".,;").endswith(("Error", "Exception", "Exit", "Interrupt", "Stop", "Errors", "Exceptions")):
                    add(word)
                    add(word.rstrip(".,;").rstrip("s"))
    return found
