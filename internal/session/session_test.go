package session

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"sort"
	"strings"
	"testing"

	"symchef/internal/expr"
	"symchef/internal/replay"
	"symchef/internal/rundir"
	"symchef/internal/smtlib"
	"symchef/internal/solver"
	"symchef/internal/testcase"
)

const python = "/usr/bin/python3.11"

// cacheDir holds the boot snapshots and calibrations of this package's tests.
var cacheDir string

func TestMain(m *testing.M) {
	replay.MaybeConfineChild()
	var err error
	if cacheDir, err = os.MkdirTemp("", "symchef-test-cache-"); err != nil {
		panic(err)
	}
	status := m.Run()
	os.RemoveAll(cacheDir)
	os.Exit(status)
}

// needPython skips where the stock interpreter is missing.
func needPython(t *testing.T) {
	t.Helper()
	if _, err := os.Stat(python); err != nil {
		t.Skipf("skipped: %s is not installed", python)
	}
}

// stockFor is the interpreter for an example, which is skipped where it is not installed.
func stockFor(t *testing.T, file string) string {
	t.Helper()
	switch filepath.Ext(file) {
	case ".lua":
		return luas(t)[0]
	case ".R":
		needR(t)
		return stockR
	}
	needPython(t)
	return python
}

// compile builds a C program, or skips where gcc is missing.
func compile(t *testing.T, src string, flags ...string) string {
	t.Helper()
	gcc, err := exec.LookPath("gcc")
	if err != nil {
		t.Skip("skipped: gcc is not installed")
	}
	out := filepath.Join(t.TempDir(), "prog")
	cmd := exec.Command(gcc, append(append([]string{"-o", out}, flags...), src)...)
	if b, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("gcc: %v\n%s", err, b)
	}
	return out
}

// explored is what a run gave.
type explored struct {
	dir     string
	status  int
	summary rundir.Summary
	tests   []testcase.Test
	stdout  string
	stderr  string
}

// runIt runs o in a fresh run directory and reads that back.
func runIt(t *testing.T, o Options) explored {
	t.Helper()
	return runIn(t, t.TempDir(), o)
}

// runIn is runIt with the run directory in the folder at.
func runIn(t *testing.T, at string, o Options) explored {
	t.Helper()
	o.Out = filepath.Join(at, "out")
	if o.Strategy == "" {
		o.Strategy = "dfs"
	}
	if o.Program == nil {
		o.StdinLen = -1
		if o.Interpreter == "" {
			o.Interpreter = python
		}
	}
	if o.CacheDir == "" {
		o.CacheDir = cacheDir
	}
	o.Progress = "none"
	o.MaxMemory = 3 << 30
	var out, errb bytes.Buffer
	e := explored{dir: o.Out}
	e.status = Run(context.Background(), o, &out, &errb)
	e.stdout, e.stderr = out.String(), errb.String()
	r, err := rundir.Open(o.Out)
	if err != nil {
		return e
	}
	e.summary = r.Summary
	if e.tests, _, err = r.Tests(); err != nil {
		t.Fatal(err)
	}
	return e
}

// classes returns the distinct (outcome, output) pairs, sorted.
func (e explored) classes() []string {
	set := map[string]bool{}
	for _, x := range e.tests {
		set[string(x.Outcome.Kind)+" "+x.Outcome.Type+" "+x.Outcome.Signal+" "+x.OutputSHA256[:8]] = true
	}
	var l []string
	for k := range set {
		l = append(l, k)
	}
	sort.Strings(l)
	return l
}

// coverage is what the run's coverage.json has: lines by file.
func (e explored) coverage(t *testing.T) map[string][]int {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(e.dir, "coverage.json"))
	if err != nil {
		t.Fatal(err)
	}
	var cover struct{ Files map[string][]int }
	if err := json.Unmarshal(text, &cover); err != nil {
		t.Fatal(err)
	}
	return cover.Files
}

// sound fails t unless the run is exhausted and every test case agreed natively.
func (e explored) sound(t *testing.T) {
	t.Helper()
	if !e.summary.Exhausted {
		t.Errorf("not exhausted: %v", e.summary.WhyNotExhausted)
	}
	if e.summary.Replay.Diverged > 0 || e.summary.Replay.Unstable > 0 {
		t.Errorf("replay: %+v\n%s", e.summary.Replay, e.stdout)
	}
	if e.summary.Replay.Agreed != len(e.tests) {
		t.Errorf("%d of %d test cases agreed natively; %s%s", e.summary.Replay.Agreed, len(e.tests), e.stdout, e.stderr)
	}
}

// The examples have exactly as many classes of (outcome, output) as their headers say, and as many high-level paths.
// A second solver agrees with a sample of the unsatisfiable queries.
func TestExamples(t *testing.T) {
	needPython(t)
	second := append(smtlib.Find(), "")
	if second[0] == "" {
		fmt.Println("TestExamples: neither cvc5 nor z3 is installed, no query is checked by a second solver")
	}
	for _, x := range []struct {
		file    string
		classes int
		maxLow  int // low-level paths; 0: any number
	}{
		{"test_email.py", 2, 0},
		{"test_average.py", 1, 0},
		{"test_tree_leaning.py", 6, 24},
		{"test_tree_balanced.py", 8, 32},
		{"test_binary_search.py", 101, 0},
		{"test_predicates.py", 6, 0},
		{"test_casefold.py", 4, 4},
		{"test_attributes.py", 2, 2},
		{"test_dictionary.py", 4, 7},
		{"test_quicksort.py", 6, 0},
		{"test_quadratic.py", 3, 3},
	} {
		t.Run(x.file, func(t *testing.T) {
			if x.file == "test_average.py" {
				slow(t)
			}
			e := runIt(t, Options{Test: filepath.Join("../../examples/python", x.file), CrossCheck: second[0], CrossEvery: 50})
			e.sound(t)
			if got := len(e.classes()); got != x.classes {
				t.Errorf("%d classes, want %d\n%s%s", got, x.classes, e.stdout, e.stderr)
			}
			if e.summary.Paths.High != x.classes {
				t.Errorf("%d high-level paths, want %d", e.summary.Paths.High, x.classes)
			}
			if e.summary.Paths.Complete != x.classes {
				t.Errorf("%d complete high-level paths, want all", e.summary.Paths.Complete)
			}
			if x.maxLow > 0 && e.summary.Paths.Low > x.maxLow {
				t.Errorf("%d low-level paths, want at most %d", e.summary.Paths.Low, x.maxLow)
			}
			t.Logf("%d classes, %d low-level paths, %d infeasible, %d queries", len(e.classes()), e.summary.Paths.Low, e.summary.Paths.Infeasible, e.summary.Solver.Queries)
		})
	}
}

// An input may be of another type on another path, and look like another input's second one.
func TestOneNameManyTypes(t *testing.T) {
	needPython(t)
	file := filepath.Join(t.TempDir(), "test_types.py")
	src := `
from symchef import SymbolicTest

class TypesTest(SymbolicTest):
    def runTest(self):
        if self.getBool("x", False):
            print("int", self.getInt("y", 0, min_value=0, max_value=9) > 4)
        elif self.getBool("x", False):
            print("bool", self.getBool("y", False), self.getBool("x#2", True))
        else:
            print("str", self.getString("y", "a") == "b", self.getBool("x#2", True))
`
	if err := os.WriteFile(file, []byte(src), 0o644); err != nil {
		t.Fatal(err)
	}
	e := runIt(t, Options{Test: file})
	e.sound(t)
	if len(e.classes()) != 2+4+4 {
		t.Errorf("%d classes\n%s", len(e.classes()), e.stdout)
	}
}

// Files and environment variables are inputs: the planted bugs behind them are found, and all of it agrees natively.
func TestFilesAndEnv(t *testing.T) {
	bin := compile(t, "../../examples/c/config.c", "-O1")
	e := runIt(t, Options{Program: []string{bin}, StdinLen: -1, Files: []Named{{"app.conf", 8}}, Env: []Named{{"MODE", 6}}})
	e.sound(t)
	found := map[string]bool{}
	for _, x := range e.tests {
		if x.Outcome.Kind != testcase.Crash {
			continue
		}
		for _, in := range x.Inputs {
			b, _ := in.Bytes()
			if in.Type == testcase.TypeFile && in.Name == "app.conf" {
				found[x.Outcome.Signal+" "+string(b[:1])] = true
			}
		}
	}
	var log bytes.Buffer
	if status := Rerun(context.Background(), e.dir, "", &log, &log); status != StatusOK {
		t.Errorf("rerun: status %d\n%s", status, log.Bytes())
	}
	if !found["SIGFPE #"] || !found["SIGSEGV l"] {
		t.Errorf("crashes %v\n%s", found, e.stdout)
	}
}

// Coverage is the lines of the test that run natively, decisions name the line that makes them, and
// samples tell how many paths there were.
func TestRecords(t *testing.T) {
	needPython(t)
	file := "../../examples/python/test_tree_leaning.py"
	e := runIt(t, Options{Test: file})
	src, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	abs, _ := filepath.Abs(file)
	trace := `
import sys, json
lines = set()
def local(frame, event, arg):
    if event == "line" or event == "call": lines.add(frame.f_lineno)
    return local
src = open(sys.argv[1]).read()
names = {}
exec(compile(src, "F", "exec"), names)
test = [v for k, v in names.items() if k.startswith("test_")][0]
sys.settrace(lambda f, e, a: local(f, e, a) if f.f_code.co_filename == "F" else None)
for i in range(-1, 102):
    test(i)
sys.settrace(None)
sys.stderr.write(json.dumps(sorted(lines)))`
	cmd := exec.Command(python, "-c", trace, abs)
	dir, cleanup, err := GuestLibrary()
	if err != nil {
		t.Fatal(err)
	}
	defer cleanup()
	cmd.Env = append(os.Environ(), "PYTHONPATH="+filepath.Join(dir, "python"))
	var natively bytes.Buffer
	cmd.Stderr = &natively
	err = cmd.Run()
	if err != nil {
		t.Fatal(err)
	}
	got, _ := json.Marshal(e.coverage(t)[abs])
	if compact := strings.ReplaceAll(strings.TrimSpace(natively.String()), " ", ""); string(got) != compact {
		t.Errorf("lines %s, natively %s", got, compact)
	}
	lines := strings.Split(string(src), "\n")
	for _, x := range e.tests {
		ifs := 0
		for _, d := range x.Decisions {
			var name string
			var line int
			if fmt.Sscanf(d.Source, "test_tree_leaning.py:%d %s", &line, &name); line > 0 && strings.Contains(lines[line-1], "if ") {
				ifs++
			}
		}
		if ifs == 0 || x.GroupLength == 0 {
			t.Errorf("%s: %d decisions at an if; path of %d instructions; %+v", x.ID, ifs, x.GroupLength, x.Decisions)
		}
	}
	p := e.summary.Progress
	if len(p) == 0 || p[0].Low != 1 || p[len(p)-1].High > e.summary.Paths.High || p[len(p)-1].Low > e.summary.Paths.Low {
		t.Errorf("samples %+v, in the end %+v", p, e.summary.Paths)
	}
}

// The planted crash is found, in static and dynamic programs.
func TestCrash(t *testing.T) {
	for _, flags := range [][]string{{"-static", "-O0"}, {"-O2"}, {"-static-pie", "-fPIE", "-O1"}} {
		t.Run(strings.Join(flags, ""), func(t *testing.T) {
			prog := compile(t, "../../examples/c/crash.c", flags...)
			e := runIt(t, Options{Program: []string{prog}, StdinLen: 4})
			e.sound(t)
			if e.status != StatusFailing || e.summary.Tests.Crash != 1 {
				t.Errorf("status %d, tests %+v\n%s%s", e.status, e.summary.Tests, e.stdout, e.stderr)
			}
			if got := len(e.classes()); got != 5 {
				t.Errorf("%d classes, want 5\n%s", got, e.stdout)
			}
		})
	}
}

// paths returns the path ids of a run with all paths, sorted.
func paths(t *testing.T, o Options) []string {
	t.Helper()
	o.AllPaths, o.NoReplay = true, true
	e := runIt(t, o)
	if !e.summary.Exhausted {
		t.Fatalf("not exhausted: %v %s", e.summary.WhyNotExhausted, e.stderr)
	}
	var l []string
	for _, x := range e.tests {
		l = append(l, x.PathID)
	}
	sort.Strings(l)
	for i := 1; i < len(l); i++ {
		if l[i] == l[i-1] {
			t.Errorf("path %s was reported twice", l[i])
		}
	}
	return l
}

// The tree is a function of program and inputs: strategies, seeds of the
// search and adversarially random models leave the set of paths as it is.
func TestSameTree(t *testing.T) {
	needPython(t)
	crash := compile(t, "../../examples/c/crash.c", "-O1")
	for name, o := range map[string]Options{
		"program": {Program: []string{crash}, StdinLen: 6},
		"python":  {Test: "../../examples/python/test_quicksort.py"},
		"merged":  merged(t),
	} {
		t.Run(name, func(t *testing.T) {
			want := paths(t, o)
			for _, v := range []struct {
				strategy string
				model    uint64
			}{{"bfs", 0}, {"random", 0}, {"random-path", 0}, {"dfs", 1}, {"random", 99}} {
				o.Strategy, o.ModelSeed = v.strategy, v.model
				got := paths(t, o)
				if strings.Join(got, " ") != strings.Join(want, " ") {
					t.Errorf("%s with model seed %d: %d paths, not the %d of dfs", v.strategy, v.model, len(got), len(want))
				}
			}
		})
	}
}

// A second start comes from the boot snapshot and explores the same paths; a
// changed source file or a corrupt cache entry is not used.
// A run that boots finds the paths of one that loads the boot's snapshot, also where the interpreter is a shared library, which is
// not mapped yet when the boot begins.
func TestBootLikeSnapshot(t *testing.T) {
	needPython(t)
	const lib = "/usr/lib/x86_64-linux-gnu/libpython3.11.so.1.0"
	if _, err := os.Stat(lib); err != nil {
		t.Skip("skipped: libpython3.11 is not installed")
	}
	src := filepath.Join(t.TempDir(), "main.c")
	if err := os.WriteFile(src, []byte("int Py_BytesMain(int, char **);\nint main(int n, char **a) { return Py_BytesMain(n, a); }\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "test_s.py") // the sum may be one of the interpreter's own objects
	if err := os.WriteFile(file, []byte("import symchef\ndef test_s(x: symchef.Int(-300, 300), y: symchef.Int(-300, 300)):\n    (x + y) // 2\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	o := Options{Test: file, Interpreter: compile(t, src, "-O1", "-Wl,--no-as-needed", lib), CacheDir: t.TempDir(), AllPaths: true, NoReplay: true}
	boots, loads := runIt(t, o), runIt(t, o)
	if boots.summary.FromSnapshot || !loads.summary.FromSnapshot {
		t.Fatalf("from snapshots: %v, %v\n%s", boots.summary.FromSnapshot, loads.summary.FromSnapshot, boots.stderr)
	}
	if outcomes(boots.tests) != outcomes(loads.tests) || len(boots.tests) == 0 {
		t.Errorf("%d paths after a boot, %d from its snapshot", len(boots.tests), len(loads.tests))
	}
}

func TestSnapshot(t *testing.T) {
	needPython(t)
	dir := t.TempDir()
	file := filepath.Join(dir, "test_s.py")
	write := func(body string) {
		if err := os.WriteFile(file, []byte("import symchef\ndef test_s(x: symchef.Int(0, 9)):\n    "+body+"\n"), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	write("print(x > 4)")
	o := Options{Test: file, CacheDir: t.TempDir(), NoReplay: true}
	first := runIt(t, o)
	second := runIt(t, o)
	if len(first.tests) != 2 || strings.Join(first.classes(), ",") != strings.Join(second.classes(), ",") {
		t.Fatalf("first %v, second %v %s", first.classes(), second.classes(), first.stderr)
	}
	if a, b := first.summary.Instructions, second.summary.Instructions; a.Boot == 0 || b.Boot != 0 || a.Total != b.Total {
		t.Errorf("instructions of the first run %+v, of the second %+v: no snapshot was used", a, b)
	}
	write("print(x > 4, x > 7)")
	if third := runIt(t, o); len(third.classes()) != 3 {
		t.Errorf("after a change of the test: %v", third.classes())
	}
	files, _ := filepath.Glob(filepath.Join(o.CacheDir, "*.snap"))
	if len(files) == 0 {
		t.Fatal("no cache file")
	}
	for _, f := range files {
		b, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(f, b[:len(b)/2], 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if fourth := runIt(t, o); len(fourth.classes()) != 3 {
		t.Errorf("with a corrupt cache: %v", fourth.classes())
	}
}

// Bad input gives one line and status 2.
func TestBadInput(t *testing.T) {
	needPython(t)
	dir := t.TempDir()
	file := func(name, text string) string {
		p := filepath.Join(dir, name)
		if err := os.WriteFile(p, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		return p
	}
	arm := file("arm", "\x7fELF\x02\x01\x01"+strings.Repeat("\x00", 9)+"\x02\x00\xb7\x00\x01\x00\x00\x00"+strings.Repeat("\x00", 40))
	for name, o := range map[string]Options{
		"missing file":        {Test: filepath.Join(dir, "none.py")},
		"unknown language":    {Test: file("test.xyz", "")},
		"syntax error":        {Test: file("test_syntax.py", "def test_x(:\n")},
		"no test":             {Test: file("test_none.py", "x = 1\n")},
		"unknown test":        {Test: file("test_one.py", "def test_a(): pass\n") + "::test_b"},
		"missing interpreter": {Test: file("test_i.py", "def test_a(): pass\n"), Interpreter: "/nonexistent/python"},
		"not an ELF file":     {Program: []string{file("data", "hello")}, StdinLen: 1},
		"another machine":     {Program: []string{arm}, StdinLen: 1},
		"missing program":     {Program: []string{filepath.Join(dir, "gone")}, StdinLen: 1},
		"bad interpreter":     {Test: file("test_j.py", "def test_a(): pass\n"), Interpreter: "/bin/true"},
	} {
		t.Run(name, func(t *testing.T) {
			e := runIt(t, o)
			if e.status != StatusUsage {
				t.Errorf("status %d\n%s%s", e.status, e.stdout, e.stderr)
			}
			if n := strings.Count(strings.TrimSpace(e.stderr), "\n"); n != 0 || e.stderr == "" {
				t.Errorf("want one line, got %q", e.stderr)
			}
		})
	}
	t.Run("unwritable output", func(t *testing.T) {
		var out, errb bytes.Buffer
		st := Run(context.Background(), Options{Test: file("test_k.py", "def test_a(): pass\n"), Interpreter: python, Out: "/proc/nowhere/out", Strategy: "dfs", StdinLen: -1}, &out, &errb)
		if st != StatusUsage || errb.Len() == 0 {
			t.Errorf("status %d, %q", st, errb.String())
		}
	})
}

// Limits leave a result that says it is incomplete, and JSON is the summary.
func TestLimits(t *testing.T) {
	prog := compile(t, "../../examples/c/crash.c", "-O1")
	e := runIt(t, Options{Program: []string{prog}, StdinLen: 4, MaxPaths: 2, JSON: true, NoReplay: true})
	if e.summary.Exhausted || len(e.summary.WhyNotExhausted) == 0 || e.summary.Paths.Low != 2 {
		t.Errorf("%+v", e.summary)
	}
	var s rundir.Summary
	if err := json.Unmarshal([]byte(e.stdout), &s); err != nil || s.Paths.Low != 2 {
		t.Errorf("JSON: %v %q", err, e.stdout)
	}
}

// An input may be called like the output in a path's SMT-LIB2 text.
func TestInputCalledOutput(t *testing.T) {
	needPython(t)
	file := filepath.Join(t.TempDir(), "test_output.py")
	if err := os.WriteFile(file, []byte("import symchef\ndef test_output(output: symchef.Str(2)):\n    print('yes' if output == 'xy' else 'no', output)\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	e := runIt(t, Options{Test: file, NoReplay: true, SMT2: true})
	r, err := rundir.Open(e.dir)
	if err != nil || !e.summary.Exhausted {
		t.Fatal(err, e.stderr)
	}
	symbolic := false
	for _, x := range e.tests {
		text, err := r.PathCondition(x.ID)
		if err != nil {
			t.Fatal(err)
		}
		ctx := expr.New()
		conj, err := smtlib.Parse(ctx, text)
		if err != nil {
			t.Fatalf("%v\n%s", err, text)
		}
		if res, _ := solver.New(ctx, solver.Options{}).Check(solver.Query{Conjuncts: conj}); res != solver.Sat {
			t.Errorf("%s is %v\n%s", x.ID, res, text)
		}
		symbolic = symbolic || strings.Contains(text, "_output[")
	}
	if !symbolic {
		t.Error("no path has symbolic output")
	}
}
