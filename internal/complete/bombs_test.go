package complete

import (
	"bytes"
	"context"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"symchef/internal/replay"
	"symchef/internal/rundir"
	"symchef/internal/session"
	"symchef/internal/testcase"
)

var (
	long   = flag.Bool("long", false, "run the bombs that take minutes, too")
	update = flag.Bool("update", false, "write docs/logic-bombs.md")
)

// bombs are the files of testdata/bombs and why those that are not solved are not.
var bombs = []struct {
	file  string
	bytes int    // of standard input
	slow  bool   // only with -long
	why   string // "": solved
}{
	{"memory_array.c", 4, false, ""},
	{"memory_store.c", 4, false, ""},
	{"memory_malloc.c", 4, true, ""},
	{"memory_bounds.c", 4, false, ""},
	{"test_memory_dict.py", 0, false, ""},
	{"buffer_stack.c", 8, false, ""},
	{"buffer_heap.c", 4, false, ""},
	{"overflow_plus.c", 4, false, ""},
	{"overflow_times.c", 4, false, ""},
	{"test_overflow_big.py", 0, false, ""},
	{"loop_collatz.c", 4, true, "thousands of paths are searched in no helpful order"},
	{"loop_bound.c", 4, true, ""},
	{"test_loop_collatz.py", 0, false, ""},
	{"float_byte.c", 4, false, ""},
	{"float_parse.c", 4, true, ""},
	{"float_wide.c", 4, false, ""},
	{"float_sin.c", 4, true, "the solver's budget: a polynomial of floats"},
	{"test_float_small.py", 0, false, ""},
	{"test_float_wide.py", 0, false, ""},
	{"external_printf.c", 4, false, ""},
	{"external_atoi.c", 4, false, ""},
	{"external_rand.c", 4, true, "the solver's budget: a chain of 64-bit remainders"},
	{"external_crc.c", 4, false, ""},
	{"test_external_format.py", 0, false, ""},
	{"test_external_parse.py", 0, false, ""},
	{"test_external_regex.py", 0, false, ""},
	{"crypto_sha1.c", 4, true, "the solver's budget: cryptography"},
	{"test_crypto_sha256.py", 0, false, ""},
	{"jump_pointer.c", 4, false, ""},
	{"jump_computed.c", 4, false, ""},
	{"jump_arithmetic.c", 4, false, ""},
	{"test_jump_name.py", 0, false, ""},
	{"test_jump_eval.py", 0, false, ""},
	{"covert_file.c", 4, false, ""},
	{"covert_pipe.c", 4, false, ""},
	{"covert_control.c", 4, false, ""},
	{"covert_signal.c", 4, false, ""},
	{"covert_name.c", 4, true, "names of files are decided value by value"},
	{"covert_shell.c", 4, false, ""},
	{"covert_stack.c", 4, false, ""},
	{"test_covert_file.py", 0, false, ""},
	{"test_covert_pipe.py", 0, false, ""},
	{"test_covert_exception.py", 0, false, ""},
	{"thread_two.c", 4, false, ""},
	{"thread_race.c", 4, false, "one schedule is explored, not all"},
	{"test_thread_queue.py", 0, false, ""},
	{"process_shared.c", 4, false, ""},
}

const bombDir = "testdata/bombs"

// explode explores o until done says that a finding is the last, and returns those
// that wanted accepts. Every one is confirmed natively.
func explode(t *testing.T, o session.Options, wanted func(testcase.Test) bool, done func() bool) []testcase.Test {
	t.Helper()
	c, cancel := context.WithCancel(context.Background())
	defer cancel()
	o.Out = filepath.Join(t.TempDir(), "out")
	o.Pass = passed()
	o.AllPaths, o.NoReplay, o.NoCache = true, true, true
	o.Progress, o.Strategy, o.MaxMemory, o.Time = "none", "random-path", 2<<30, *limit
	var found []testcase.Test
	o.OnTest = func(x testcase.Test) {
		if wanted(x) {
			if found = append(found, x); done() {
				cancel()
			}
		}
	}
	var out, errs bytes.Buffer
	session.Run(c, o, &out, &errs)
	r, err := rundir.Open(o.Out)
	if err != nil {
		t.Fatal(err, errs.String())
	}
	if len(found) == 0 {
		return nil
	}
	lib, cleanup, err := session.GuestLibrary()
	if err != nil {
		t.Fatal(err)
	}
	defer cleanup()
	rep, err := replay.Run(context.Background(), r.Summary.Target, found, replay.Options{GuestLib: lib, Unconfined: true})
	if err != nil || rep.Agreed != len(found) {
		t.Errorf("%d of %d findings confirmed natively: %v %+v", rep.Agreed, len(found), err, rep.Results)
	}
	return found
}

// Every C bomb that should be solved is, and no other.
func TestBombs(t *testing.T) {
	needs(t, gcc)
	for _, b := range bombs {
		name, isC := strings.CutSuffix(b.file, ".c")
		if !isC || !regexp.MustCompile(*only).MatchString(name) {
			continue
		}
		t.Run(name, func(t *testing.T) {
			if b.slow && !*long {
				t.Skip("skipped: takes long; use -long")
			}
			t.Parallel()
			program := filepath.Join(t.TempDir(), name)
			compile(t, program, "-O1", filepath.Join(bombDir, b.file), "-lm", "-pthread")
			abort := func(x testcase.Test) bool { return x.Outcome.Signal == "SIGABRT" }
			found := explode(t, session.Options{Program: []string{program}, StdinLen: b.bytes, Instructions: 100e6}, abort, func() bool { return true })
			if solved := len(found) > 0; solved != (b.why == "") {
				t.Errorf("solved: %v", solved)
			}
		})
	}
}

// Every Python bomb that should be solved is.
func TestPythonBombs(t *testing.T) {
	needs(t, python)
	folder, err := filepath.Abs(bombDir)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, b := range bombs {
		if name, ok := strings.CutSuffix(b.file, ".py"); ok && b.why == "" {
			names = append(names, strings.TrimPrefix(name, "test_"))
		}
	}
	slices.Sort(names)
	t.Setenv("COMPLETE_FOLDER", folder)
	t.Setenv("COMPLETE_ONLY", "^("+strings.Join(names, "|")+")$")
	t.Setenv("PYTHONDONTWRITEBYTECODE", "1")
	left := map[string]bool{}
	for _, name := range names {
		left[name] = true
	}
	first := func(x testcase.Test) bool {
		n, err := x.Inputs[0].Choice()
		if err != nil || x.Outcome.Kind != testcase.Assertion || !left[names[n]] {
			return false
		}
		delete(left, names[n])
		return true
	}
	explode(t, session.Options{Test: "testdata/python/programs.py", Interpreter: python, StdinLen: -1, Instructions: 3e9}, first, func() bool { return len(left) == 0 })
	for name := range left {
		t.Errorf("%s is not solved", name)
	}
}

// docs/logic-bombs.md says of every bomb whether it is solved.
func TestBombsDocument(t *testing.T) {
	var rows strings.Builder
	solved := 0
	head := regexp.MustCompile(`^(?:/\* (.*) \*/|"""(.*)""")\n`)
	for _, b := range bombs {
		text, err := os.ReadFile(filepath.Join(bombDir, b.file))
		if err != nil {
			t.Fatal(err)
		}
		m := head.FindSubmatch(text)
		if m == nil {
			t.Fatalf("%s has no first line", b.file)
		}
		verdict := "yes"
		if b.why != "" {
			verdict = "no: " + b.why
		} else {
			solved++
		}
		fmt.Fprintf(&rows, "| %s | %s | %s |\n", b.file, string(m[1])+string(m[2]), verdict)
	}
	files, err := filepath.Glob(bombDir + "/*")
	if err != nil || len(files) != len(bombs)+1 { // and bomb.h
		t.Errorf("%d files, %d bombs", len(files), len(bombs))
	}
	doc := fmt.Sprintf(`# Logic bombs

The ideas of the public collection of logic bombs, rewritten as small programs in
internal/complete/testdata/bombs. Each ends in abort or AssertionError for some inputs. A bomb is solved when
such an input is found and confirmed by running the program on it. %d of %d are.

Generated: go test ./internal/complete -run Bombs -update. Those that take minutes run with -long.

| program | idea | solved |
|---|---|---|
%s`, solved, len(bombs), rows.String())
	const path = "../../docs/logic-bombs.md"
	if *update {
		if err := os.WriteFile(path, []byte(doc), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if old, err := os.ReadFile(path); err != nil || string(old) != doc {
		t.Errorf("%s is not current: go test ./internal/complete -run BombsDocument -update", path)
	}
}
