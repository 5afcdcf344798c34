package languages_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"symchef/internal/testcase"
)

// returns are bodies of test functions and what they return, as testcase.Value shows it.
var returns = []struct{ name, body, want string }{
	{"nothing", "pass", "None"},
	{"numbers", "return [0, 1, -1, 2**29, -2**29, 2**30, -2**30, 2**60, -2**60, 2**63 - 1, -2**63, 2**63, 2**64, 2**89, -2**90, 2**100, -7**99]",
		"[0, 1, -1, 536870912, -536870912, 1073741824, -1073741824, 1152921504606846976, -1152921504606846976, 9223372036854775807, " +
			"-9223372036854775808, 9223372036854775808, 18446744073709551616, 618970019642690137449562112, -1237940039285380274899124224, " +
			"1267650600228229401496703205376, -462068072803536855906378252728602401551029028414946485847699333055955922805275437143]"},
	{"floats", "return (1.5, -0.0, float('inf'), float('nan'), 1e-300)", "(1.5, -0.0, inf, nan, 1e-300)"},
	{"texts", `return ["", "a", "é€😀", "\ud800", b"", b"\xff", bytearray(b"x"), "'"]`, `['', 'a', 'é€😀', '\ud800', b'', b'\xff', bytearray(b'x'), '\'']`},
	{"containers", "return {'a': [None, True, False], 1: ((),), (2,): {}, None: {3, 1, 2}, 4: frozenset(), 5: {'x'}}",
		"{'a': [None, True, False], 1: ((),), (2,): {}, None: {1, 2, 3}, 4: frozenset(set()), 5: {'x'}}"},
	{"objects", "import enum, collections\n  class C(enum.Enum): RED = 1\n  class S(str): pass\n  return [object(), C.RED, S('x'), collections.OrderedDict(), ValueError('v'), C, len, 1j]",
		"[<object>, <test_r.test_a.<locals>.C.RED>, test_r.test_a.<locals>.S('x'), collections.OrderedDict({}), ValueError(('v',)), enum.EnumType(<test_r.test_a.<locals>.C>), builtin_function_or_method(<len>), complex((0.0, 1.0))]"},
	{"kinds", "return [int, str, range(3), slice(1, 2), {1: 2}.items(), {1: 2}.keys(), memoryview(b'ab'), test_a, (lambda: 0), frozenset({1}), [].append, __import__('sys')]",
		"[type(<int>), type(<str>), range((0, 3, 1)), slice((1, 2, None)), dict_items([(1, 2)]), dict_keys([1]), memoryview(('B', b'ab')), function(<test_a:2>), function(<test_a.<locals>.<lambda>:3>), frozenset({1}), builtin_function_or_method(<append>), module('sys')]"},
	{"kinds of modules", "import array, collections, datetime as d, decimal, fractions, types\n  o = collections.OrderedDict(a=1, b=2)\n  o.move_to_end('a')\n  class T(d.datetime): pass\n  return [array.array('B', [1, 2]), collections.deque([1], 5), o, collections.Counter('aa'), T(2020, 1, 2, 3), d.date(2020, 1, 2), d.timedelta(1, 2), decimal.Decimal('1.50'), fractions.Fraction(1, 2), collections.namedtuple('N', 'a')(1), types.SimpleNamespace(a=1)]",
		"[array.array(('B', b'\\x01\\x02')), collections.deque([1]), collections.OrderedDict({'b': 2, 'a': 1}), collections.Counter({'a': 2}), test_r.test_a.<locals>.T((2020, 1, 2, 3, 0, 0, 0, None)), datetime.date((2020, 1, 2)), datetime.timedelta((1, 2, 0)), decimal.Decimal('1.50'), fractions.Fraction((1, 2)), test_r.N((1,)), types.SimpleNamespace({'a': 1})]"},
	{"dataclasses", "import dataclasses\n  @dataclasses.dataclass\n  class P:\n    x: int\n    y: int = 3\n    def __repr__(self): 1 / 0\n    @property\n    def __dict__(self): 1 / 0\n  @dataclasses.dataclass\n  class Q:\n    __slots__ = 'x'\n    x: int\n  @dataclasses.dataclass\n  class R:\n    x: int\n  return [P(1), Q(2), R(3)]",
		"[test_r.test_a.<locals>.P({}), test_r.test_a.<locals>.Q({'x': 2}), test_r.test_a.<locals>.R({'x': 3})]"},
	{"code of the test's", "class S(str):\n    def __getattribute__(self, n): 1 / 0\n    __str__ = __len__ = __iter__ = __getitem__ = __hash__ = __eq__ = isascii = encode = None\n  class L(list):\n    __iter__ = __len__ = __getitem__ = None\n  class D(dict):\n    items = __iter__ = keys = None\n  class I(int):\n    __int__ = __add__ = __index__ = to_bytes = None\n  class M(type):\n    def __eq__(self, o): 1 / 0\n    def __hash__(self): 1 / 0\n    mro = lambda c: type.mro(c)\n  class F(frozenset, metaclass=M):\n    __iter__ = None\n  return [S('x'), L([1]), D(a=1), I(3), F({1})]",
		"[test_r.test_a.<locals>.S('x'), test_r.test_a.<locals>.L([1]), test_r.test_a.<locals>.D({'a': 1}), test_r.test_a.<locals>.I(3), test_r.test_a.<locals>.F({1})]"},
	{"cycle", "l = []\n  l.append(l)\n  return l", "[[[[[[[[...]]]]]]]]"},
	{"long text", "return ['x' * 300000, 'y', 'é' * 300000]", "['" + strings.Repeat("x", 64) + "'...(300000 in all, None), 'y', '" + strings.Repeat("é", 64) + "'...(300000 in all, None)]"},
	{"long list", "return [[0] * 9000, set(range(9000)), 1]", "[[]...(9000 in all, None), set()...(9000 in all, None), 1]"},
	{"full", "return ['x' * 75000, 'y' * 55000, b'z' * 75000, 'w' * 100]",
		"['" + strings.Repeat("x", 75000) + "', '" + strings.Repeat("y", 55000) + "', b'" + strings.Repeat("z", 64) + "'...(75000 in all, None), '" + strings.Repeat("w", 100) + "']"},
}

// TestReturned holds what the library says a Python test returned, in both modes.
func TestReturned(t *testing.T) {
	lib := library(t)
	for _, tt := range returns {
		t.Run(tt.name, func(t *testing.T) {
			text := "# -*- coding: utf-8 -*-\ndef test_a():\n  " + tt.body + "\n"
			file := filepath.Join(t.TempDir(), "test_r.py")
			if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
				t.Fatal(err)
			}
			r := replay(t, lib, file)
			if got := r.returned(t).Sorted(); got.String() != tt.want {
				t.Errorf("replay: %s %s\n%s, want\n%s", r.Kind, r.Message, got, tt.want)
			}
			d := machine(t, lib, text, nil)
			want := strings.ReplaceAll(tt.want, "test_r.", "test_m.")
			if d.returned.Sorted().String() != want || len(d.returned) > 1<<17 {
				t.Errorf("machine: %s %s\n%s, want\n%s", d.kind, d.message, d.returned, want)
			}
		})
	}
}

// TestReturnedInputs: inputs of every kind come back as they were sent.
func TestReturnedInputs(t *testing.T) {
	const test = `
import symchef
def test_a(s: symchef.Str(3, 0), e: symchef.Str(3, 0), o: symchef.Str(1), b: symchef.Bytes(1), i: symchef.Int(), j: symchef.Int(-9, 9), k: symchef.Int(0, 2**40), f: symchef.Float(), t: symchef.Bool()):
  return [s, e, o, b, i, j, k, f, t, (s + o, i + 1, j * 2)]
`
	d := machine(t, library(t), test, map[string]any{"s": "a\x00'", "e": "", "o": "z", "b": []byte{0x80}, "i": int64(-1 << 63), "j": int64(-5), "k": int64(1 << 39), "f": int64(0x3ff8 << 48), "t": int64(1)})
	if got, want := d.returned.String(), `['a\x00\'', '', 'z', b'\x80', -9223372036854775808, -5, 549755813888, 1.5, True, ('a\x00\'z', -9223372036854775807, -10)]`; got != want {
		t.Errorf("%s %s %s\n%s, want\n%s", d.kind, d.message, d.usage, got, want)
	}
}

// TestFrames: the user's frames of an exception, and no others.
func TestFrames(t *testing.T) {
	lib := library(t)
	const text = `
import symchef, json
class C:
  def method(self, n):
    if n == 0:
      json.loads("{")
    self.method(n - 1)
def test_a():
  symchef.log("x")
  C().method(1)
`
	file := filepath.Join(t.TempDir(), "test_m.py")
	if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	const want = "test_m.py:10:test_a test_m.py:7:C.method test_m.py:6:C.method __init__.py:346:loads decoder.py:337:JSONDecoder.decode decoder.py:353:JSONDecoder.raw_decode"
	var got []string
	for _, f := range replay(t, lib, file).Frames {
		got = append(got, filepath.Base(f))
	}
	if strings.Join(got, " ") != want {
		t.Errorf("replay: %s", got)
	}
	if d := machine(t, lib, text, nil); strings.Join(d.frames, " ") != want {
		t.Errorf("machine: %s", d.frames)
	}
	deep := filepath.Join(t.TempDir(), "test_d.py")
	if err := os.WriteFile(deep, []byte("def f(n): f(n + 1)\ndef test_a(): f(0)\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	if r := replay(t, lib, deep); r.Type != "RecursionError" || len(r.Frames) != 50 || r.Frames[49] != deep+":1:f" {
		t.Errorf("%s: %d frames", r.Type, len(r.Frames))
	}
}

// returned is the value that a replay tells.
func (r result) returned(t *testing.T) testcase.Value {
	t.Helper()
	var v testcase.Value
	if err := v.UnmarshalJSON([]byte(`{"bytes_hex":"` + r.Hex + `"}`)); err != nil {
		t.Fatal(err)
	}
	if err := v.Check(); err != nil {
		t.Errorf("%q: %v", string(v), err)
	}
	return v
}
