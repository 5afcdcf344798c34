package rundir

import (
	"bufio"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"symchef/internal/disk"
	"symchef/internal/testcase"
)

func sampleSummary() Summary {
	return Summary{
		Test:        "mail\xff.py::test_email",
		Interpreter: Interpreter{Path: "/usr/bin/python3.11\x80", Version: "3.11.2", BuildID: "00ff"},
		Target: testcase.Target{
			Kind: "python", Path: "/t/\xff.py", Name: "test_\xff", Interpreter: "/usr/bin/python3.11",
			Argv: []string{"python3.11", "\x80"}, Env: []string{"A=b\xff"}, Cwd: "/t",
			Before: []testcase.FileEffect{{Path: "/tmp/Rtmpx", Change: testcase.Made, Kind: testcase.Directory, Mode: "0700"}},
		},
		Strategy: "dfs", Seed: 7, ElapsedS: 1.5, BootS: 0.25,
		WhyNotExhausted: []string{"time limit"}, Without: []Without{{"model unshared", "not found"}}, Lines: 3, Progress: []Sample{{Instructions: 9, Low: 2, High: 1}},
		Merging: &Merging{Merges: 1, Branches: 2, Forked: map[string]int{"trap": 3}},
	}
}

var sampleLog = []testcase.Decision{{Kind: "branch", PC: 16, Value: 1, Source: "/t/\xff.py:1 f"}}

func sampleTest(id string) testcase.Test {
	return testcase.Test{
		ID: id, PathID: testcase.PathID(sampleLog), Inputs: []testcase.Input{
			testcase.Str("s", "x"), testcase.Bytes("b", []byte{1}), testcase.Int("n", -1), testcase.Bool("f", false),
			testcase.Choice("c", 0), testcase.Stdin(nil), testcase.Argv(1, []byte("a")), testcase.File("f\xff", []byte("a")), sampleShape(),
		},
		Decisions: sampleLog,
		Observation: testcase.Observation{
			Outcome: testcase.Outcome{Kind: testcase.Crash, Signal: "SIGSEGV", Message: "m\xff"}, OutputSHA256: testcase.OutputDigest(nil),
			StderrSHA256: testcase.OutputDigest(nil), StderrBytes: 1, Returned: "b1:\xff", Frames: []string{"/t\xff.py:1:f"},
			Files: []testcase.FileEffect{
				{Path: "/t/\xff", Change: testcase.Removed}, {Path: "/t/a", Change: testcase.Made, Kind: testcase.RegularFile, Mode: "0644", Size: 1, SHA256: testcase.OutputDigest([]byte("a"))},
				{Path: "/t/l", Change: testcase.Changed, Kind: testcase.Symlink, Target: "a\x80"},
			},
		},
		Words: "raw(255)", Class: testcase.OutputDigest(nil), Log: []string{"l\xff"},
		FoundAt: 0.1,
	}
}

func sampleShape() testcase.Input {
	part := 1
	in := testcase.Shape("l", []testcase.Input{testcase.Choice("len(l)", 1), testcase.Bool("l[0]", true)},
		[]testcase.Piece{{Name: &testcase.Name{Path: "P", Module: "m"}}, {Text: "("}, {Part: &part}, {Text: ")"}})
	in.Label = "P(True)"
	return in
}

func mustCreate(t *testing.T, dir string) *Writer {
	t.Helper()
	w, err := Create(dir, sampleSummary(), nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { w.Close() })
	return w
}

func TestWriteRead(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "new", "run")
	w := mustCreate(t, dir)
	for _, id := range []string{"a", "b"} {
		if err := errors.Join(w.WriteCondition(id, "(check-sat)\n"), w.WriteOutput("digest of "+id, []byte(id+"\x00"))); err != nil {
			t.Fatal(err)
		}
		if err := w.Append(sampleTest(id)); err != nil {
			t.Fatal(err)
		}
	}
	// No Close: what a kill leaves is what is tested.
	r, err := Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	want := sampleSummary()
	want.SchemaVersion = SchemaVersion
	want.Findings, want.Classes = []Finding{}, []Class{}
	if !reflect.DeepEqual(r.Summary, want) {
		t.Errorf("summary %+v", r.Summary)
	}
	tests, torn, err := r.Tests()
	if err != nil || torn || len(tests) != 2 || !reflect.DeepEqual(tests[1], sampleTest("b")) {
		t.Errorf("tests %+v, torn %v, %v", tests, torn, err)
	}
	if out, err := r.Output("digest of b"); err != nil || string(out) != "b\x00" {
		t.Errorf("output %q, %v", out, err)
	}
	if smt, err := r.PathCondition("a"); err != nil || smt != "(check-sat)\n" {
		t.Errorf("condition %q, %v", smt, err)
	}
	if _, err := r.Test("c"); err == nil {
		t.Error("found a test that is not there")
	}
	if _, err := r.PathCondition("../summary"); err == nil {
		t.Error("read a file outside paths/")
	}
	bad := Verdict{ID: "b", Verdict: "diverged", Why: "outcome <x>"}
	if err := w.SetReplay(r.Summary, Replay{Agreed: 1, Diverged: 1}, []Verdict{{ID: "a", Verdict: "agreed"}, bad}); err != nil {
		t.Fatal(err)
	}
	if r, err = Open(dir); err != nil || r.Summary.Replay.Agreed != 1 {
		t.Errorf("replay counts %+v, %v", r.Summary.Replay, err)
	}
	if v, err := r.Verdicts(); err != nil || len(v) != 2 || v["b"] != bad {
		t.Errorf("verdicts %+v, %v", v, err)
	}
	w.Close()
	mustCreate(t, dir)
	if v, err := r.Verdicts(); err != nil || len(v) != 0 {
		t.Errorf("verdicts of an earlier run: %+v, %v", v, err)
	}
}

// opened are the path and the content of a file of a run directory, and its reader.
func opened(t *testing.T, dir, file string) (name string, whole []byte, r *Reader) {
	t.Helper()
	name = filepath.Join(dir, file)
	whole, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	if r, err = Open(dir); err != nil {
		t.Fatal(err)
	}
	return name, whole, r
}

// TestTornLine cuts tests.jsonl at every byte: all whole lines are read.
func TestTornLine(t *testing.T) {
	dir := t.TempDir()
	w := mustCreate(t, dir)
	for _, id := range []string{"a", "b"} {
		if err := w.Append(sampleTest(id)); err != nil {
			t.Fatal(err)
		}
	}
	name, whole, r := opened(t, dir, testsName)
	for cut := 0; cut <= len(whole); cut++ {
		if err := os.WriteFile(name, whole[:cut], 0o644); err != nil {
			t.Fatal(err)
		}
		want := strings.Count(string(whole[:cut]), "\n")
		wantTorn := cut > 0 && whole[cut-1] != '\n'
		tests, torn, err := r.Tests()
		if err != nil || len(tests) != want || torn != wantTorn {
			t.Fatalf("cut at %d: %d tests, torn %v, %v; want %d, %v", cut, len(tests), torn, err, want, wantTorn)
		}
	}
	if err := os.WriteFile(name, []byte("{\n"+string(whole)), 0o644); err != nil {
		t.Fatal(err)
	}
	if _, _, err := r.Tests(); err == nil || !strings.Contains(err.Error(), "tests.jsonl:1:") {
		t.Errorf("bad first line: %v", err)
	}
}

// TestKilled reads what a writer left that was killed by SIGKILL.
func TestKilled(t *testing.T) {
	if dir := os.Getenv("RUNDIR_TEST_WRITER"); dir != "" {
		w := mustCreate(t, dir)
		for n := 0; ; n++ {
			if err := w.Append(sampleTest(fmt.Sprint(n))); err != nil {
				t.Fatal(err)
			}
			if err := w.WriteSummary(sampleSummary()); err != nil {
				t.Fatal(err)
			}
			os.Stdout.WriteString("one\n")
		}
	}
	dir := t.TempDir()
	cmd := exec.Command(os.Args[0], "-test.run=^TestKilled$")
	cmd.Env = append(os.Environ(), "RUNDIR_TEST_WRITER="+dir)
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	seen := 0
	for in := bufio.NewScanner(out); seen < 50 && in.Scan(); {
		if in.Text() == "one" {
			seen++
		}
	}
	if _, err := Create(dir, Summary{}, nil); err == nil || !strings.Contains(err.Error(), "another run") {
		t.Errorf("create while another run writes: %v", err)
	}
	cmd.Process.Kill()
	cmd.Wait()
	r, err := Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	tests, _, err := r.Tests()
	if err != nil || len(tests) < seen {
		t.Errorf("%d tests of at least %d, %v", len(tests), seen, err)
	}
	if err := os.WriteFile(filepath.Join(dir, disk.TempPrefix+"1"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	mustCreate(t, dir)
	if stray, _ := filepath.Glob(filepath.Join(dir, disk.TempPrefix+"*")); len(stray) != 0 {
		t.Errorf("left %v", stray)
	}
	if tests, _, err := r.Tests(); err != nil || len(tests) != 0 {
		t.Errorf("after replacing: %d tests, %v", len(tests), err)
	}
}

func TestCreateRefuses(t *testing.T) {
	tmp := t.TempDir()
	file := filepath.Join(tmp, "file")
	if err := os.WriteFile(file, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	for _, dir := range []string{file, filepath.Join(file, "x"), tmp, "/proc/symchef"} {
		_, err := Create(dir, Summary{}, nil)
		if err == nil || strings.Contains(err.Error(), "\n") || !strings.Contains(err.Error(), dir) {
			t.Errorf("Create(%s): %v", dir, err)
		}
	}
	if _, err := os.Stat(file); err != nil {
		t.Error("a refused directory was changed")
	}
}

func TestOpenRefuses(t *testing.T) {
	tmp := t.TempDir()
	for _, dir := range []string{tmp, filepath.Join(tmp, "none")} {
		if _, err := Open(dir); err == nil {
			t.Errorf("Open(%s) succeeded", dir)
		}
	}
	if err := os.WriteFile(filepath.Join(tmp, summaryName), []byte(`{"schema_version":1}`), 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := Open(tmp); err == nil || !strings.Contains(err.Error(), "version 1") {
		t.Errorf("version 1: %v", err)
	}
}

func TestCounts(t *testing.T) {
	var c Tests
	for _, k := range testcase.Kinds {
		c.Add(k)
	}
	if c.Total() != 8 || c.Failing() != 4 {
		t.Errorf("total %d, failing %d", c.Total(), c.Failing())
	}
}
