"""Dictionaries, sets and their relatives."""
import collections, types
d = {}
for i in range(3000): d[str(i * 7919 % 3001)] = i
for i in range(0, 3000, 3): d.pop(str(i), None)
print(len(d), list(d)[:10], d["1"], d.get("0", "none"), "2" in d, sum(d.values()))
d |= {"new": 1}; d.setdefault("list", []).append(1); d.update(a=1, b=2)
print(list(d.items())[-4:], d.popitem(), {**{"x": 1}, "y": 2} == {"y": 2, "x": 1}, dict(zip("abc", range(3))), dict.fromkeys("ab", 0))
print({1: "int", 1.0: "float", True: "bool"}, {(1, 2): "t", frozenset({3}): "f"}[frozenset([3])], hash((1, 2.5, "x")) == hash((1, 2.5, "x")), hash(2**61 - 1), hash(-1), hash(0.5))
s = {i * i % 101 for i in range(200)}
print(sorted(s), len(s & set(range(50))), sorted(s ^ {1, 2, 3})[:5], s >= {0, 1}, sorted(s - set(range(90))), {"b", "a", "c", "seven", "eight"})
c = collections.Counter("abracadabra"); c.subtract("aab"); print(c, c.most_common(2), +c)
o = collections.OrderedDict(a=1, b=2, c=3); o.move_to_end("a"); print(o, o.popitem(last=False))
dd = collections.defaultdict(list)
for w in "one two three four five six".split(): dd[len(w)].append(w)
print(dict(dd), collections.deque(range(10), maxlen=4), collections.ChainMap({"a": 1}, {"a": 2, "b": 3})["b"])
P = collections.namedtuple("P", "x y", defaults=[5]); print(P(1), P(1)._replace(y=2)._asdict(), types.MappingProxyType({"k": 1}))
for bad in (lambda: {}["missing"], lambda: {[]: 1}, lambda: set().pop(), lambda: P()):
    try: bad()
    except Exception as e: print(type(e).__name__, e)
try:
    for k in d: d[k + "!"] = 1
except RuntimeError as e: print(e)
print({i: {j: i * j for j in range(3)} for i in range(3)}, list(reversed({"p": 1, "q": 2})))
