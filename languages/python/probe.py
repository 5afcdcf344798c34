"""What the objects of this interpreter look like. It makes objects of known content and looks for the content in their memory, says
what it found, and is read from standard input by an interpreter that no code under test runs in (docs/interpreters.md).

A line is `number NAME N`, an offset or a value; `place NAME ADDRESS BASE`, a variable and where the file that it belongs to
begins; `none NAME`, of a place that it does without; `without NAME WHY`; or `word FORM TEXT`, what a form of the description may hold. A field is believed where exactly one offset fits all objects."""

import posix
import sys

memory = posix.open("/proc/self/mem", posix.O_RDONLY | posix.O_CLOEXEC)
HEAD = object.__basicsize__  # of an object: its count of references, and its type


def read(address, n):
    data = posix.pread(memory, n, address)
    if len(data) != n:
        raise LookupError("nothing is at %#x" % address)
    return data


def number(address, n=8, signed=False):
    return int.from_bytes(read(address, n), sys.byteorder, signed=signed)


def only(found):
    found = list(found)
    if len(found) != 1:
        raise LookupError("%d places fit" % len(found))
    return found[0]


def field(values, end, n=8, start=HEAD):
    """The one offset at which all objects of [(object, number)] hold their number."""
    return only(o for o in range(start, end, n) if all([number(id(x) + o, n) == v for x, v in values]))


def payload(objects):
    """The one offset at which all objects of [(object, bytes)] hold their bytes."""
    return only(o for o in range(HEAD, 128) if all([read(id(x) + o, len(b)) == b for x, b in objects]))


def text(n, first="q"):
    return "".join([first] + ["x", "w"] * n)  # of 2n + 1 characters, made now


def strings():
    some = [text(n) for n in range(1, 9)]
    yield "str-type", field([(s, id(str)) for s in some], HEAD, start=0)
    data = payload([(s, s.encode()) for s in some])
    yield "str-payload", data
    yield "str-length", field([(s, len(s)) for s in some], data)
    before = {o for o in range(HEAD, data, 8) if all([number(id(s) + o, 8, True) == -1 for s in some])}
    at = field([(s, hash(s) & (1 << 64) - 1) for s in some], data)
    if at not in before:
        raise LookupError("a hash that is not known is not -1")
    yield "str-hash", at
    some, wide, shared = [text(n) for n in range(1, 9)], [text(n, "\xe9") for n in range(1, 9)], [sys.intern(text(n)) for n in range(20, 28)]

    def states(strings, o):
        return {read(id(s) + o, 1) for s in strings}

    fields = range(at + 8, data)
    at = only(o for o in fields if len(states(some, o)) == len(states(wide, o)) == len(states(shared, o)) == 1
              and len(states(some, o) | states(wide, o) | states(shared, o)) == 3)
    yield "str-state", at
    yield "str-fresh", number(id(some[0]) + at, 1)


def byte_strings():
    some = [bytes([7 + n] + [n, 200] * n) for n in range(1, 9)]
    data = payload([(b, b) for b in some])
    yield "bytes-payload", data
    yield "bytes-length", field([(b, len(b)) for b in some], data)
    before = {o for o in range(HEAD, data, 8) if all([number(id(b) + o, 8, True) == -1 for b in some])}
    at = field([(b, hash(b) & (1 << 64) - 1) for b in some], data)
    if at not in before:
        raise LookupError("a hash that is not known is not -1")
    yield "bytes-hash", at


def floats():
    yield "float-value", field([(float("1.5"), 0x3FF8000000000000), (float("-2"), 0xC000000000000000)], HEAD + 16)


class Int(int):
    """Its instances are no singletons."""

    __slots__ = ()


def integers():
    if sys.int_info.bits_per_digit != 30 or sys.int_info.sizeof_digit != 4:
        raise LookupError("digits of %d bits" % sys.int_info.bits_per_digit)
    low, high = 0x12345678, 0x0ABCDEF1
    one = [Int(low), Int(-low)]
    digit = field([(x, low) for x in one], HEAD + 32, 4)
    two, three = [Int(s * (high << 30 | low)) for s in (1, -1)], [Int(s * (1 << 60 | high << 30 | low)) for s in (1, -1)]
    zero = Int(0)
    for some, digits in ((two, (low, high)), (three, (low, high, 1)), ([zero], (0,))):
        for x in some:
            if [number(id(x) + digit + 4 * k, 4) for k in range(len(digits))] != list(digits):
                raise LookupError("the digits of %d are not where those of others are" % x)
    yield "int-digit", digit

    def heads(o):
        return [[number(id(some[s]) + o, 8, True) for some in (one, two, three)] for s in (0, 1)]

    def regular(o):  # sign and number of digits: one less step, one step, ... more
        plus, minus = heads(o)
        return all([h[1] - h[0] == h[2] - h[1] != 0 for h in (plus, minus)]) and plus != minus

    at = only(o for o in range(HEAD, digit, 8) if regular(o))
    (plus, more, _), (minus, less, _) = heads(at)
    for x, want in ((int("123456789"), plus), (int("-123456789"), minus), (int("123456789012345678"), more)):
        if number(id(x) + at, 8, True) != want:
            raise LookupError("%d is not like those of a class" % x)
    yield "int-head", at
    yield "int-zero", number(id(zero) + at, 8, True)
    yield "int-plus-digit", more - plus
    yield "int-plus", 2 * plus - more
    yield "int-minus-digit", less - minus
    yield "int-minus", 2 * minus - less
    yield "int-one-digit", plus
    yield "int-two-digits", more
    yield "int-three-digits", 2 * more - plus


def references():
    x = []
    one = [number(id(x) + o) for o in range(0, HEAD, 8)]
    many = [x] * 1000
    yield "references", only(8 * k for k, n in enumerate(one) if number(id(x) + 8 * k) == n + len(many))


def variables():
    """The mappings that may be written of the file that the interpreter's types are in: [(lo, hi)], and where it begins."""
    with open("/proc/self/maps") as f:
        lines = [line.split(None, 5) for line in f]
    maps = [(int(line[0].split("-")[0], 16), int(line[0].split("-")[1], 16), line[1], line[5].strip() if len(line) > 5 else "") for line in lines]
    name = only(path for lo, hi, _, path in maps if lo <= id(int) < hi or path == "" and False)
    if not name:  # zeroed variables
        name = [path for lo, _, _, path in maps if lo <= id(int) and path.startswith("/")][-1]
    base, found, end = None, [], 0
    for lo, hi, mode, path in maps:
        if path == name and base is None:
            base = lo
        if path == name or path in ("", "[heap]") and lo == end and path == "":
            end = hi
            if mode.startswith("rw"):
                found.append((lo, hi))
    return found, base, [(lo, hi) for lo, hi, mode, _ in maps if mode.startswith("rw")]


def interned():
    """The variable with the dict of interned strings: one more is in it when one more string is interned."""
    some = [dict.fromkeys(range(n)) for n in (3, 5, 8)]
    used = field([(d, len(d)) for d in some], dict.__basicsize__)
    mapped, base, writable = variables()
    dicts = {}  # by address, the variables that hold it
    of_dict = id(dict).to_bytes(8, sys.byteorder)
    for lo, hi in mapped:
        words = memoryview(read(lo, hi - lo)).cast("Q")
        for k, p in enumerate(words):
            if p & 7 or p in dicts and dicts[p] is None:
                continue
            if p not in dicts:
                if not any([a <= p < b - 64 for a, b in writable]) or read(p, 2 * 8)[8:] != of_dict:
                    dicts[p] = None
                    continue
                dicts[p] = []
            dicts[p].append(lo + 8 * k)
    dicts = {p: at for p, at in dicts.items() if at is not None}
    keep = []
    for n in range(30, 33):
        before = {p: number(p + used) for p in dicts}
        keep.append(sys.intern(text(n)))
        dicts = {p: at for p, at in dicts.items() if number(p + used) == before[p] + 1}
    return only(dicts.values())[0], base


def shared(interned):
    """The variable with the table in which interned strings are looked for before the dict, and the function that does: (variable, function, base). None where
    the dict holds such strings, too. A table counts its entries and buckets, and has its functions beside; an entry has the string behind its hash."""
    mapped, base, writable = variables()
    with open("/proc/self/maps") as f:
        lines = [line.split(None, 5) for line in f]
    code = [tuple([int(x, 16) for x in line[0].split("-")]) for line in lines if "x" in line[1]]

    def within(ranges, p, n):
        return any([lo <= p <= hi - n for lo, hi in ranges])

    def strings(at):  # how many are in the table
        count, size, buckets = [number(at + 8 * k) for k in range(3)]
        if not 100 < count < 1 << 16 or size & size - 1 or not 16 <= size < 1 << 17 or not within(writable, buckets, 8 * size):
            return False
        if not all([within(code, number(at + 8 * k), 1) for k in (3, 4, 5)]):
            return False
        found = 0
        for item in memoryview(read(buckets, 8 * size)).cast("Q"):
            while item and found <= count and number(number(item + 16) + HEAD - 8) == id(str):
                item, found = number(item), found + 1
        return found == count

    some = set()
    for lo, hi in mapped:
        for k, p in enumerate(memoryview(read(lo, hi - lo)).cast("Q")):
            if p and p & 7 == 0 and within(writable, p, 64):
                try:
                    if strings(p):
                        some.add((lo + 8 * k, number(p + 24)))
                except (LookupError, OSError, OverflowError):
                    pass
    if some:
        return only(some) + (base,)
    table, name = number(interned), id(sys.intern("__init__")).to_bytes(8, sys.byteorder)
    for k in range(HEAD, dict.__basicsize__, 8):
        keys = number(table + k)
        for lo, hi in writable:
            if lo <= keys < hi and name in read(keys, min(hi - keys, 1 << 20)):
                return None
    raise LookupError("strings are interned in another table")


def compiles(source):
    try:
        compile(source, "probe", "exec")
    except SyntaxError:
        return False
    return True


def asserts(word):
    try:
        exec(word + " 0")
    except AssertionError:
        return True
    except Exception:
        pass
    return False


def words():
    """What the language calls its files, and what its lines look like."""
    import keyword
    from importlib import machinery, util

    for suffix in machinery.all_suffixes():
        yield "modules", "*" + suffix
    yield "modules", "*/__init__" + machinery.SOURCE_SUFFIXES[0]
    yield "compiled", util.cache_from_source("/a/b" + machinery.SOURCE_SUFFIXES[0]).split("/")[-2]
    for sign in map(chr, range(33, 127)):
        if compiles("1 " + sign + " ) ]"):
            yield "comment", sign
        if compiles("if 1" + sign + "\n 1"):
            yield "body", sign
    for word in sorted(keyword.kwlist):
        if compiles(word + " 1:\n 1") or compiles("if 1:\n 1\n" + word + " 1:\n 1"):
            yield "condition", word
        if compiles(word + " 1") and asserts(word):
            yield "assertion", word
        if compiles("a %s b" % word):
            yield "joint", word


for names, make in (("str-type str-payload str-length str-hash str-state str-fresh", strings), ("bytes-payload bytes-length bytes-hash", byte_strings),
                    ("float-value", floats), ("int-digit int-head int-zero int-plus-digit int-plus int-minus-digit int-minus", integers),
                    ("references", references)):
    names, found = names.split(), {}
    try:
        for name, n in make():
            print("number", name, n)
            found[name] = n
    except Exception as e:
        for name in names:
            if name not in found:
                print("without", name, e)
variable = None
try:
    variable = interned()
    print("place interned %d %d" % variable)
except Exception as e:
    print("without interned", e)
try:
    table = shared(variable[0])
    if table:
        print("place shared %d %d" % (table[0], table[2]))
        print("place lookup %d %d" % table[1:])
    else:
        print("none shared")
        print("none lookup")
except Exception as e:
    print("without shared", e)
    print("without lookup", e)
for form, word in words():
    print("word", form, word)
