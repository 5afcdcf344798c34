package complete

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"symchef/internal/expr"
	"symchef/internal/rundir"
	"symchef/internal/session"
	"symchef/internal/testcase"
)

const python = "/usr/bin/python3.11"

// nativeRun is a line of native.py or native.lua.
type nativeRun struct {
	Program string
	Inputs  map[string]int64
	Output  string // hexadecimal
	Outcome testcase.Outcome
}

// nativePython runs all Python programs on all inputs. The programs' order is that of their numbers.
func nativePython(t *testing.T) (names []string, runs map[string][]run) {
	t.Helper()
	lib, cleanup, err := session.GuestLibrary()
	if err != nil {
		t.Fatal(err)
	}
	defer cleanup()
	cmd := exec.Command(python, "testdata/python/native.py")
	cmd.Env = append(os.Environ(), "PYTHONPATH="+filepath.Join(lib, "python"))
	cmd.Stderr = os.Stderr
	lines, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	return readRuns(t, lines)
}

// readRuns reads the lines of native.py or native.lua.
func readRuns(t *testing.T, lines []byte) (names []string, runs map[string][]run) {
	t.Helper()
	runs = map[string][]run{}
	for dec := json.NewDecoder(bytes.NewReader(lines)); ; {
		var l nativeRun
		err := dec.Decode(&l)
		if errors.Is(err, io.EOF) {
			return names, runs
		}
		out, err2 := hex.DecodeString(l.Output)
		if err := errors.Join(err, err2); err != nil {
			t.Fatal(err)
		}
		if runs[l.Program] == nil {
			names = append(names, l.Program)
		}
		l.Inputs["program"] = int64(len(names) - 1)
		runs[l.Program] = append(runs[l.Program], run{l.Inputs, out, l.Outcome})
	}
}

// One exploration of all Python programs accounts for every input of each.
func TestPython(t *testing.T) { testPython(t, *only, false) }

// testPython explores those whose name matches the regular expression wanted.
func testPython(t *testing.T, wanted string, merge bool) {
	needs(t, python)
	t.Setenv("PYTHONDONTWRITEBYTECODE", "1")
	t.Setenv("COMPLETE_ONLY", wanted)
	names, runs := nativePython(t)
	if len(names) < 40 && wanted == "" {
		t.Errorf("%d programs", len(names))
	}
	r := exploreAll(t, session.Options{Test: "testdata/python/programs.py", Interpreter: python, StdinLen: -1, Workers: 2, Merge: merge})
	tests, _, err := r.Tests()
	if err != nil {
		t.Fatal(err)
	}
	checkAll(t, r, names, runs, tests)
}

// checkAll compares the tests of the exploration r of programs, of which the first input chooses one, with the native
// runs of each.
func checkAll(t *testing.T, r *rundir.Reader, names []string, runs map[string][]run, tests []testcase.Test) {
	t.Helper()
	of := make([][]testcase.Test, len(names))
	for _, test := range tests {
		n, err := test.Inputs[0].Choice()
		if err != nil {
			t.Fatal(err)
		}
		of[n] = append(of[n], test)
	}
	for i, name := range names {
		t.Run(name, func(t *testing.T) {
			ctx := expr.New()
			paths := readPaths(t, ctx, r, of[i])
			check(t, ctx, paths, runs[name])
			if behaviours(runs[name]) < 2 {
				t.Error("one behaviour for every input")
			}
			t.Logf("%d inputs, %d behaviours, %d paths", len(runs[name]), behaviours(runs[name]), len(paths))
		})
	}
}
