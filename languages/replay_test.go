package languages_test

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"symchef/languages"
)

// stock is the interpreter the guest library is for.
const stock = "/usr/bin/python3.11"

// library extracts the guest library and returns what PYTHONPATH needs.
func library(t *testing.T) string {
	t.Helper()
	if _, err := os.Stat(stock); err != nil {
		t.Skipf("skipped: %s is not installed", stock)
	}
	dir := t.TempDir()
	if err := languages.Extract(dir); err != nil {
		t.Fatal(err)
	}
	return filepath.Join(dir, "python")
}

// value is one input of a replay file.
type value struct {
	Name  string `json:"name"`
	Type  string `json:"type"`
	Value any    `json:"value,omitempty"`
	Hex   string `json:"bytes_hex,omitempty"`
}

func str(name, v string) value         { return value{name, "str", v, ""} }
func integer(name string, v int) value { return value{name, "int", v, ""} }

// result is what a replay says of itself.
type result struct {
	Version             int
	Kind, Type, Message string
	Log                 []string
	Hex                 string `json:"returned_hex"`
	Frames              []string
	stdout, stderr      string
	status              int
}

// replay runs a test natively over the given inputs.
func replay(t *testing.T, lib, test string, inputs ...value) result {
	t.Helper()
	dir := t.TempDir()
	in, out := filepath.Join(dir, "in.json"), filepath.Join(dir, "out.json")
	if inputs == nil {
		inputs = []value{}
	}
	data, err := json.Marshal(map[string]any{"version": 1, "inputs": inputs})
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(in, data, 0o600); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(stock, "-m", "symchef", test)
	cmd.Env = append(os.Environ(), "PYTHONPATH="+lib, "PYTHONDONTWRITEBYTECODE=1", "PYTHONHASHSEED=0", "SYMCHEF_REPLAY="+in, "SYMCHEF_OUTCOME="+out)
	cmd.Dir = dir
	var stdout, stderr strings.Builder
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	err = cmd.Run()
	var r result
	if data, err := os.ReadFile(out); err != nil {
		t.Fatalf("%s: no outcome: %v\n%s", test, err, stderr.String())
	} else if err := json.Unmarshal(data, &r); err != nil {
		t.Fatal(err)
	}
	if e, ok := err.(*exec.ExitError); ok {
		r.status = e.ExitCode()
	} else if err != nil {
		t.Fatal(err)
	}
	r.stdout, r.stderr = stdout.String(), stderr.String()
	return r
}

func example(t *testing.T, name string) string {
	t.Helper()
	p, err := filepath.Abs("../examples/python/" + name)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// TestExamples replays inputs of every class of each example: exactly the stated
// number of distinct (outcome, output).
func TestExamples(t *testing.T) {
	lib := library(t)
	strs := func(name string, vs ...string) (out [][]value) {
		for _, v := range vs {
			out = append(out, []value{str(name, v)})
		}
		return
	}
	ints := func(name string, vs ...int) (out [][]value) {
		for _, v := range vs {
			out = append(out, []value{integer(name, v)})
		}
		return
	}
	var three, all [][]value
	for _, p := range [][3]int{{1, 2, 3}, {1, 3, 2}, {2, 1, 3}, {2, 3, 1}, {3, 1, 2}, {3, 2, 1}, {1, 1, 1}, {1, 1, 0}, {-1000, 1000, -1000}} {
		three = append(three, []value{integer("a", p[0]), integer("b", p[1]), integer("c", p[2])})
	}
	for v := range 101 {
		all = append(all, []value{integer("x", v)})
	}
	args := func(a, b, c, d string) []value {
		return []value{str("arg1_name", a), str("arg2_name", b), str("arg1", c), str("arg2", d)}
	}
	for _, tt := range []struct {
		file    string
		classes int
		inputs  [][]value
	}{
		{"test_email.py", 2, strs("email", "aaaaaaaaaa", "@aaaaaaaaa", "aa@aaaaaaa", "aaa@aaaaaa", "aaaaaaaaa@")},
		{"test_average.py", 1, [][]value{{integer("x", 0), integer("y", 0)}, {integer("x", -1<<63), integer("y", -1<<63)}, {integer("x", 1<<40), integer("y", -3)}}},
		{"test_tree_leaning.py", 6, ints("x", 0, 9, 10, 24, 25, 49, 50, 74, 75, 89, 90, 100)},
		{"test_tree_balanced.py", 8, ints("x", 0, 11, 12, 24, 25, 36, 37, 49, 50, 61, 62, 74, 75, 86, 87, 100)},
		{"test_binary_search.py", 101, all},
		{"test_predicates.py", 6, strs("name", "ab\x00\x00\x00.py", "ab\x00\x00\x00\x00\x00\x00", "abpy\x00\x00\x00\x00", "xxxxx.py", "xxxxxxxx", "xxxxxxpy")},
		{"test_casefold.py", 4, strs("text", "strawberry", "STRAWberry", "aaaaaaaaaa", "Aaaaaaaaaa", "\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00")},
		{"test_quicksort.py", 6, three},
	} {
		t.Run(tt.file, func(t *testing.T) {
			t.Parallel()
			classes := map[string]bool{}
			for _, in := range tt.inputs {
				r := replay(t, lib, example(t, tt.file), in...)
				if r.status != 0 || r.Version != 1 || r.Kind != "ok" && r.Kind != "expected" {
					t.Fatalf("%v: %+v", in, r)
				}
				classes[r.Kind+" "+r.Type+" "+r.stdout] = true
			}
			if len(classes) != tt.classes {
				t.Errorf("%d classes, want %d: %v", len(classes), tt.classes, classes)
			}
		})
	}
	t.Run("test_argparse.py", func(t *testing.T) {
		for kind, in := range map[string][]value{
			"ok ":                              args("\x00\x00\x00", "\x00\x00\x00", "\x00\x00\x00", "\x00\x00\x00"),
			"exit SystemExit":                  args("-a\x00", "aaa", "aaa", "bbb"),
			"exception ValueError":             args("---", "aaa", "aaa", "bbb"),
			"exception argparse.ArgumentError": args("-h ", "-h ", "aaa", "bbb"),
		} {
			if r := replay(t, lib, example(t, "test_argparse.py"), in...); r.Kind+" "+r.Type != kind {
				t.Errorf("%+v, want %s", r, kind)
			}
		}
	})
}

// bruteForce prints the number of classes of each example over an exhaustive (ints,
// short alphabets) or generated set of inputs, one process for all.
const bruteForce = `
import contextlib, io, itertools, json, random, sys
sys.path.insert(0, sys.argv[1])
def classes(function, inputs):
    seen = set()
    for args in inputs:
        out = io.StringIO()
        with contextlib.redirect_stdout(out):
            try:
                function(*args)
                kind = "ok"
            except Exception as e:
                kind = type(e).__name__
        seen.add((kind, out.getvalue()))
    return len(seen)
def words(alphabet, n):
    return ((("".join(w)),) for w in itertools.product(alphabet, repeat=n))
import test_email, test_tree_leaning, test_tree_balanced, test_binary_search, test_predicates, test_casefold, test_quicksort
ints = [(v,) for v in range(101)]
random.seed(7)
folds = ["".join(c.upper() if random.random() < .3 else c for c in random.choice(["strawberry", "strawberrx", "aaaaaaaaaa"])) for _ in range(3000)]
print(json.dumps({
    "email": classes(test_email.validate_email, words("@a.", 10)),
    "leaning": classes(test_tree_leaning.test_tree_leaning, ints),
    "balanced": classes(test_tree_balanced.test_tree_balanced, ints),
    "search": classes(test_binary_search.test_binary_search, ints),
    "predicates": classes(lambda n: print(test_predicates.describe(n)), words("abpy.", 7)) ,
    "predicates8": classes(lambda n: print(test_predicates.describe(n)), ((a + w,) for a in "ax" for (w,) in words("bpy.", 7))),
    "casefold": classes(test_casefold.test_casefold, [(f,) for f in folds]),
    "quicksort": classes(test_quicksort.test_quicksort, itertools.product(range(-3, 4), repeat=3)),
}))
`

func TestExampleClassesByBruteForce(t *testing.T) {
	lib := library(t)
	cmd := exec.Command(stock, "-c", bruteForce, example(t, ""))
	cmd.Env = append(os.Environ(), "PYTHONPATH="+lib, "PYTHONDONTWRITEBYTECODE=1")
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	var got map[string]int
	if err := json.Unmarshal(out, &got); err != nil {
		t.Fatal(err)
	}
	want := map[string]int{"email": 2, "leaning": 6, "balanced": 8, "search": 101, "predicates": 6, "predicates8": 6, "casefold": 4, "quicksort": 6}
	if fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("got %v, want %v", got, want)
	}
}

// TestCrash compiles and runs the C example over one input per class.
func TestCrash(t *testing.T) {
	cc, err := exec.LookPath("cc")
	if err != nil {
		t.Skip("skipped: no C compiler")
	}
	bin := filepath.Join(t.TempDir(), "crash")
	if out, err := exec.Command(cc, "-O1", "-Wall", "-Werror", "-o", bin, "../examples/c/crash.c").CombinedOutput(); err != nil {
		t.Fatalf("%s", out)
	}
	classes := map[string]bool{}
	for _, in := range []string{"", "BUG", "xUG!", "BxG!", "BUx!", "BUGx", "BUG!", "BUG!more"} {
		cmd := exec.Command(bin)
		cmd.Stdin = strings.NewReader(in)
		out, err := cmd.Output()
		classes[fmt.Sprint(err, string(out))] = true
	}
	if len(classes) != 6 {
		t.Errorf("%d classes: %v", len(classes), classes)
	}
}

// TestRunner covers how tests are chosen, imported and judged.
func TestRunner(t *testing.T) {
	lib := library(t)
	dir := t.TempDir()
	file := func(name, text string) string {
		p := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(p), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(p, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		return p
	}
	const head = "import symchef\nfrom symchef import *\nfrom symchef import SymbolicTest, Str, Int, getString, getInt, getBytes, getBool, getChoice, log, concretize, assume, expect\n"
	two := file("two.py", head+"class A(SymbolicTest):\n  def runTest(self): print('A')\ndef test_b(): print('b')\ndef helper(): pass\n")
	file("pkg/__init__.py", "")
	file("pkg/mod.py", "X = 'relative'\n")
	inPackage := file("pkg/test_p.py", head+"from .mod import X\ndef test_p(): print(X, __name__)\n")
	kinds := file("kinds.py", head+`
class T(SymbolicTest):
  def setUp(self): self.n = 7
  def runTest(self):
    print(self.getString('s', 'abc', max_size=5), self.getBytes('b', b'xy'), self.getInt('i', 5, 9, 1), self.getBool('f', True),
      self.getChoice('c', ['p', 'q'], 'q'), self.n, self.concretize('z'))
    self.log('one', 2)
`)
	for _, tt := range []struct {
		name, test string
		inputs     []value
		want       string // kind type message|stdout|log
		status     int
	}{
		{"several", two, nil, "usage  " + two + ": several tests in the file, choose one with ::NAME: A, test_b||[]", 2},
		{"by name", two + "::test_b", nil, "ok  |b\n|[]", 0},
		{"class by name", two + "::A", nil, "ok  |A\n|[]", 0},
		{"wrong name", two + "::C", nil, "usage  " + two + ": no test named C; tests here: A, test_b||[]", 2},
		{"none", file("none.py", "x = 1\n"), nil, "usage  " + dir + "/none.py: no test_* function, no class with methods test* and no SymbolicTest in the file||[]", 2},
		{"missing file", dir + "/absent.py", nil, "usage  " + dir + "/absent.py: importing it failed: FileNotFoundError: [Errno 2] No such file or directory: '" + dir + "/absent.py'||[]", 2},
		{"syntax", file("syntax.py", "def f(:\n"), nil, "usage  " + dir + "/syntax.py:1: syntax error: invalid syntax||[]", 2},
		{"import", file("imp.py", "import nothing_like_this\n"), nil, "usage  " + dir + "/imp.py: importing it failed: ModuleNotFoundError: No module named 'nothing_like_this' (line 1); PYTHONPATH says where modules are, --interpreter which Python has them||[]", 2},
		{"package", inPackage, nil, "ok  |relative pkg.test_p\n|[]", 0},
		{"all kinds", kinds, []value{str("s", ""), {Name: "b", Type: "bytes", Hex: "00ff"}, integer("i", 3), {Name: "f", Type: "bool", Value: false}, {Name: "c", Type: "choice", Value: 0}},
			"ok  | b'\\x00\\xff' 3 False p 7 z\n|[one 2]", 0},
		{"mismatch", kinds, []value{integer("s", 1)}, "usage  " + kinds + ": replay: the test declares str s, the file has int s (line 8)||[]", 2},
		{"too few", kinds, nil, "usage  " + kinds + ": replay: no value for input s (line 8)||[]", 2},
		{"assertion", file("a.py", head+"def test_a(): assert 1 > 2, 'no'\n"), nil, "assertion AssertionError no||[]", 0},
		{"exit", file("e.py", head+"import sys\ndef test_a(): sys.exit(3)\n"), nil, "exit SystemExit ||[]", 3},
		{"exit none", file("e0.py", head+"import sys\ndef test_a(): sys.exit()\n"), nil, "exit SystemExit ||[]", 0},
		{"interrupt", file("k.py", head+"def test_a(): raise KeyboardInterrupt\n"), nil, "exception KeyboardInterrupt ||[]", 0},
		{"key error", file("ke.py", head+"def test_a(): {}['k']\n"), nil, "exception KeyError k||[]", 0},
		{"own type", file("o.py", head+"class E(Exception):\n  class F(Exception):\n    def __str__(self): return 1\ndef test_a(): raise E.F('x')\n"), nil, "exception o.E.F ||[]", 0},
		{"expected", file("x.py", head+"def test_a():\n  expect(LookupError)\n  [][0]\n"), nil, "expected IndexError list index out of range||[]", 0},
		{"pruned", file("p.py", head+"def test_a(n: Int(0, 9)):\n  assume(n > 5)\n  print(n)\n"), []value{integer("n", 3)}, "pruned  ||[]", 0},
		{"future annotations", file("f.py", "from __future__ import annotations\n"+head+"def test_a(s: Str(4, 1), /, *, b: symchef.Bool): print(s, b)\n"), []value{str("s", "hi"), {Name: "b", Type: "bool", Value: true}}, "ok  |hi True\n|[]", 0},
		{"defaults", file("d.py", head+"def test_a(n: Int(0, 9) = 4, *, verbose=False, word: str = 'w', c: symchef.Choice('p', 'q') = 'q', **more): print(n, verbose, word, c, more)\n"),
			[]value{integer("n", 5), {Name: "c", Type: "choice", Value: 1}}, "ok  |5 False w q {}\n|[]", 0},
		{"future annotations in quotes", file("fq.py", "from __future__ import annotations\n"+head+"def test_a(s: 'Str(4, 1)', /, *, b: 'symchef.Bool'): print(s, b)\n"), []value{str("s", "hi"), {Name: "b", Type: "bool", Value: true}}, "ok  |hi True\n|[]", 0},
		{"annotated", file("an.py", "from __future__ import annotations\nfrom typing import Annotated\n"+head+"def test_a(n: Annotated[int, Int(0, 9)], /, m=3): print(n, m)\n"),
			[]value{integer("n", 5)}, "ok  |5 3\n|[]", 0},
		{"wrapped", file("w.py", head+"import functools\ndef twice(f):\n  @functools.wraps(f)\n  def g(*args, **kw): f(*args, **kw); return f(*args, **kw)\n  return g\n@twice\ndef test_a(n: Int(0, 9)): print(n)\n"),
			[]value{integer("n", 5)}, "ok  |5\n5\n|[]", 0},
		{"method's parameters", file("mp.py", head+"class T(SymbolicTest):\n  def runTest(self, n: 'Int(0, 9)', *, s: Str(2)): print(n, s)\n"),
			[]value{integer("n", 5), str("s", "ab")}, "ok  |5 ab\n|[]", 0},
		{"annotation that fails", file("af.py", "from __future__ import annotations\n"+head+"def test_a(n: Integer(3)): pass\n"), nil,
			"usage  " + dir + "/af.py: test_a: the annotation of parameter n, Integer(3): NameError: name 'Integer' is not defined||[]", 2},
		{"coroutine", file("co.py", head+"async def test_a(): pass\n"), nil, "usage  " + dir + "/co.py: test_a: generators and coroutines cannot be tests: run them in a plain function, as asyncio.run does||[]", 2},
		{"no annotation", file("n.py", head+"def test_a(s): pass\n"), nil, "usage  " + dir + "/n.py: test_a: parameter s needs an annotation such as symchef.Str(10)||[]", 2},
		{"stars", file("st.py", head+"def test_a(*more: Int(0, 3)): return more\n"), nil, "usage  " + dir + "/st.py: test_a: *more takes no input: each input is a parameter of its own||[]", 2},
		{"two stars", file("st2.py", "from __future__ import annotations\n"+head+"def test_a(*more: Nothing, n: Int(0, 9) = 2, **named: 'Int(0, 3)'): return more\n"), nil,
			"usage  " + dir + "/st2.py: test_a: **named takes no input: each input is a parameter of its own||[]", 2},
		{"stars that are no input", file("st3.py", head+"def test_a(*more: int, n: Int(0, 9), **named: 'Nothing'): print(more, n, named)\n"), []value{integer("n", 5)}, "ok  |() 5 {}\n|[]", 0},
		{"methods of unittest", file("mu.py", head+"class T(SymbolicTest):\n  def test_one(self): pass\n  def test_two(self): pass\n"), nil,
			"usage  " + dir + "/mu.py: T: it has test_one, test_two, but a SymbolicTest is run by its method runTest||[]", 2},
		{"one among others", file("mo.py", head+"class T(SymbolicTest):\n  def runtest(self): pass\ndef test_b(): print('b')\n"), nil,
			"usage  " + dir + "/mo.py: several tests in the file, choose one with ::NAME: T, test_b||[]", 2},
		{"the others", dir + "/mo.py::test_b", nil, "ok  |b\n|[]", 0},
		{"to inherit from", file("mi.py", head+"class B(SymbolicTest):\n  def test_common(self): print('c')\nclass T(B):\n  def runTest(self): self.test_common()\n"), nil, "ok  |c\n|[]", 0},
		{"bad sizes", file("bs.py", head+"def test_a(): getString('s', 'abc', max_size=2)\n"), nil, "usage  " + dir + "/bs.py: input s: the default's length, 3, is not within the sizes 0 to 2 (line 4)||[]", 2},
		{"bad bounds", file("bb.py", head+"def test_a(): getInt('i', 5, 4)\n"), nil, "usage  " + dir + "/bb.py: input i: needs -2**63 <= min_value <= default <= max_value < 2**63, not -9223372036854775808, 5, 4 (line 4)||[]", 2},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r := replay(t, lib, tt.test, tt.inputs...)
			got := fmt.Sprintf("%s %s %s|%s|%v", r.Kind, r.Type, r.Message, r.stdout, r.Log)
			if got != tt.want || r.status != tt.status {
				t.Errorf("got  %s (%d)\nwant %s (%d)\n%s", got, r.status, tt.want, tt.status, r.stderr)
			}
		})
	}
}

// TestOutsideEverything: neither a device nor a replay is a clear error.
func TestOutsideEverything(t *testing.T) {
	lib := library(t)
	cmd := exec.Command(stock, "-m", "symchef", example(t, "test_email.py"))
	cmd.Env = append(os.Environ(), "PYTHONPATH="+lib, "PYTHONDONTWRITEBYTECODE=1")
	out, err := cmd.CombinedOutput()
	if e, ok := err.(*exec.ExitError); !ok || e.ExitCode() != 2 || strings.Count(string(out), "\n") != 1 {
		t.Errorf("%v: %s", err, out)
	}
}

// TestOwn: a test that empties the globals and the builtins of its callers' frames is told as what it is.
func TestOwn(t *testing.T) {
	lib := library(t)
	file, err := filepath.Abs("testdata/hostile/own.py")
	if err != nil {
		t.Fatal(err)
	}
	for kind, want := range []string{"12", "ValueError", "False", "SystemExit", "[4]", "'last'"} {
		said := ""
		if want == "SystemExit" {
			said = "after that\n"
		}
		r := replay(t, lib, file, integer("kind", kind))
		got := r.Type
		if r.Kind == "ok" {
			got = r.returned(t).String()
		}
		if got != want || r.stderr != said {
			t.Errorf("%d: %s %s %s, want %s\n%s", kind, r.Kind, got, r.Message, want, r.stderr)
		}
	}
}
