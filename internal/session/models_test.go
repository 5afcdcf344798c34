package session

import (
	"bytes"
	"context"
	"io"
	"os"
	osexec "os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"symchef/internal/exec"
	"symchef/internal/explore"
	"symchef/internal/expr"
	"symchef/internal/interp"
	"symchef/internal/mem"
	"symchef/internal/model"
	"symchef/internal/rundir"
	"symchef/internal/state"
	"symchef/internal/testcase"
)

// subsets are all sets of families.
func subsets() (out [][]string) {
	all := model.Families()
	for i := range 1 << len(all) {
		set := []string{}
		for k, name := range all {
			if i>>k&1 != 0 {
				set = append(set, name)
			}
		}
		out = append(out, set)
	}
	return out
}

// Models of interpreter functions change which low-level paths there are, and never what the program does: under
// every set of families the classes and the high-level paths are the same, and native runs agree. What cannot be explored whole without
// some family has no others, and the inputs of each class take the same high-level path there. With SYMCHEF_SLOW=1 that is all
// examples, else two whose low-level paths the families change.
func TestModelFamilies(t *testing.T) {
	files := []string{"python/test_casefold.py", "lua/email.lua"}
	slow := os.Getenv("SYMCHEF_SLOW") == "1"
	if slow {
		files = examples(t)
	}
	for _, file := range files {
		t.Run(file, func(t *testing.T) {
			o := Options{Test: filepath.Join("../../examples", file)}
			o.Interpreter = stockFor(t, file)
			all := runIt(t, o)
			all.sound(t)
			if o.MaxPaths = 20; slow { // what has more is not explored whole
				o.MaxPaths, o.Time = 0, 30*time.Second
			}
			for _, families := range subsets() {
				o.Models = families
				e := runIt(t, o)
				t.Logf("%q: %d low-level paths, exhausted: %v", families, e.summary.Paths.Low, e.summary.Exhausted)
				if !e.summary.Exhausted {
					for _, c := range e.classes() {
						if !slices.Contains(all.classes(), c) {
							t.Errorf("models %q: class %s, which there is not with all of them", families, c)
						}
					}
					if r := e.summary.Replay; r.Agreed != len(e.tests) {
						t.Errorf("models %q: replay %+v", families, r)
					}
					for _, x := range all.tests {
						if got := concretely(t, o, x); got.Group != x.Group || !got.Outcome.Same(x.Outcome) || got.OutputSHA256 != x.OutputSHA256 {
							t.Errorf("models %q: the inputs of %s take high-level path %s to %v, not %s to %v", families, x.ID, got.Group, got.Outcome, x.Group, x.Outcome)
						}
					}
					continue
				}
				e.sound(t)
				if !slices.Equal(e.classes(), all.classes()) || e.summary.Paths.High != all.summary.Paths.High {
					t.Errorf("models %q: classes %q, %d high-level paths, with all of them %q, %d", families, e.classes(), e.summary.Paths.High, all.classes(), all.summary.Paths.High)
				}
			}
		})
	}
}

// concretely is the path that the inputs of x take under o.
func concretely(t *testing.T, o Options, x testcase.Test) (got testcase.Test) {
	t.Helper()
	o.CacheDir, o.MaxMemory, o.StdinLen = cacheDir, 3<<30, -1
	tgt, err := resolve(&o)
	if err != nil {
		t.Fatal(err)
	}
	r := newRun(&o, tgt)
	r.help, r.prog = func() {}, newProgress("none", io.Discard)
	r.findHigh()
	defer r.settle()
	w := r.newWorker()
	root, err := w.boot(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	model, err := explore.ModelOf(w.ctx, x.Inputs)
	if err != nil {
		t.Fatal(err)
	}
	w.x, err = explore.New(w.ctx, w.m, w.chain, explore.Config{
		Strategy: "dfs", High: w.high, Layouts: tgt.found.Image.Layouts, References: tgt.found.Image.References, OnBegin: w.onBegin,
		OnPath: func(s *state.State, e explore.End) func() {
			got, _ = w.testOf(s, e)
			return func() {}
		}})
	if err != nil {
		t.Fatal(err)
	}
	if err := w.x.Follow(t.Context(), root, &explore.Trail{Model: model, Unlogged: true}); err != nil {
		t.Fatal(err)
	}
	return got
}

// examples are the symbolic tests of the examples that have an end.
func examples(t *testing.T) (files []string) {
	for _, f := range allExamples(t) {
		if rel, _ := filepath.Rel("../../examples", f); rel != "python/test_argparse.py" {
			files = append(files, rel)
		}
	}
	return files
}

// allExamples are the paths of the examples in all languages.
func allExamples(t *testing.T) (files []string) {
	t.Helper()
	for _, pattern := range []string{"python/*.py", "lua/*.lua", "r/*.R"} {
		found, err := filepath.Glob("../../examples/" + pattern)
		if err != nil {
			t.Fatal(err)
		}
		files = append(files, found...)
	}
	return files
}

// Comparisons without early exit: fewer low-level paths, each the same when it is executed again.
func TestFastPath(t *testing.T) {
	needPython(t)
	o := Options{Test: "../../examples/python/test_casefold.py"}
	e := runIt(t, o)
	e.sound(t)
	if strings.Contains(e.stderr, "explored without") {
		t.Error(e.stderr)
	}
	o.Models = []string{"hash", "pointers"}
	without := runIt(t, o)
	if low := e.summary.Paths.Low; low != 4 || without.summary.Paths.Low <= low {
		t.Errorf("%d low-level paths, %d without", low, without.summary.Paths.Low)
	}
	var log bytes.Buffer
	if status := Rerun(context.Background(), e.dir, "", &log, &log); status != StatusOK {
		t.Errorf("rerun: status %d\n%s", status, log.Bytes())
	}
}

// A Lua that lacks a function by which a model is found is explored without the model: as completely, and the summary, standard
// error and doctor's source say what it goes without.
func TestWithout(t *testing.T) {
	stock, err := osexec.LookPath("lua5.4")
	if err != nil {
		t.Skip("skipped: lua5.4 is not installed")
	}
	data, err := os.ReadFile(stock)
	if err != nil {
		t.Fatal(err)
	}
	other := filepath.Join(t.TempDir(), "lua5.4")
	changed := bytes.Replace(data, []byte("\x00lua_rawset\x00"), []byte("\x00lua_rawse_\x00"), 1)
	if bytes.Equal(changed, data) {
		t.Fatal("no such export")
	}
	if err := os.WriteFile(other, changed, 0o755); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "test_x.lua")
	if err := os.WriteFile(file, []byte("local symchef = require 'symchef'\nreturn function() if symchef.string('s', 2) == 'ab' then error('found') end end\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	e := runIt(t, Options{Test: file, Interpreter: other})
	want := []rundir.Without{{Name: "model deferred-identity", Why: "lua_rawset is not exported"}}
	if !slices.Equal(e.summary.Without, want) || !e.summary.Exhausted || !strings.Contains(e.stderr, "explored without: model deferred-identity: lua_rawset is not exported") {
		t.Errorf("without %+v, exhausted: %v %q\n%s", e.summary.Without, e.summary.Exhausted, e.summary.WhyNotExhausted, e.stderr)
	}
}

// A function that no library of the process has goes without its model, and the run says so.
func TestNotImported(t *testing.T) {
	img := &interp.Image{Path: "/bin/true", Models: []model.Binding{{Name: "early-exit", Imports: []string{"memcmp"}}}}
	m := exec.New(expr.New())
	got := hookImports(m, img, mem.NewSpace())
	want := []interp.Missing{{Name: "import memcmp", Why: "no library that /bin/true needs exports it"}}
	if !slices.Equal(got, want) || len(m.Hooks) != 0 {
		t.Errorf("%q, %d hooks", got, len(m.Hooks))
	}
}

// What the models are for: dictionaries with symbolic keys are explored whole.
func TestSymbolicKeys(t *testing.T) {
	needPython(t)
	for name, x := range map[string]struct {
		source string
		low    int
	}{
		"dictionary": {"import symchef\ndef test_dict(key: symchef.Bytes(6)):\n    print({key: 1}.get(b'abcdef', 0))\n", 3},
		"constants":  {"import symchef\nD = {'ab': 1, 'cd': 2, 'ef': 3}\ndef test_dict(s: symchef.Str(2)):\n    print(D.get(s, 0))\n", 4},
	} {
		t.Run(name, func(t *testing.T) {
			file := filepath.Join(t.TempDir(), "test_keys.py")
			if err := os.WriteFile(file, []byte(x.source), 0o644); err != nil {
				t.Fatal(err)
			}
			e := runIt(t, Options{Test: file})
			e.sound(t)
			if e.summary.Paths.Low > x.low {
				t.Errorf("%d low-level paths, want at most %d", e.summary.Paths.Low, x.low)
			}
		})
	}
}
