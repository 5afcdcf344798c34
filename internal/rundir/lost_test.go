package rundir

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"symchef/internal/testcase"
)

// ended is a run directory of a run that has ended, with two test cases and their verdicts.
func ended(t *testing.T) (dir string, tests []byte) {
	dir = t.TempDir()
	w, sum := mustCreate(t, dir), holding()
	for _, id := range []string{"a", "b"} {
		if err := w.Append(sampleTest(id)); err != nil {
			t.Fatal(err)
		}
		sum.Tests.Add(testcase.Crash)
	}
	if err := errors.Join(w.SetReplay(sum, Replay{Agreed: 1, Unstable: 1}, []Verdict{{ID: "a", Verdict: "agreed"}, {ID: "b", Verdict: "unstable"}}), w.Close()); err != nil {
		t.Fatal(err)
	}
	tests, err := os.ReadFile(filepath.Join(dir, testsName))
	if err != nil {
		t.Fatal(err)
	}
	return dir, tests
}

// Test cases of a run that has ended are all there, or it is said: tests.jsonl cut anywhere, gone, a line of it twice. Those of a run that goes
// on, or was killed, may end anywhere.
func TestLost(t *testing.T) {
	dir, whole := ended(t)
	name := filepath.Join(dir, testsName)
	read := func(finished bool) ([]testcase.Test, error) {
		t.Helper()
		r, err := Open(dir)
		if err != nil {
			t.Fatal(err)
		}
		r.Summary.Finished = finished
		tests, _, err := r.Tests()
		return tests, err
	}
	cuts := []int{bytes.IndexByte(whole, '\n'), bytes.IndexByte(whole, '\n') + 1, len(whole) - 1}
	for cut := 0; cut < len(whole); cut += 23 {
		cuts = append(cuts, cut)
	}
	for _, cut := range cuts {
		if err := os.WriteFile(name, whole[:cut], 0o644); err != nil {
			t.Fatal(err)
		}
		if _, err := read(true); err == nil || !strings.Contains(err.Error(), testsName+": damaged: ") {
			t.Fatalf("cut at %d of %d: %v", cut, len(whole), err)
		}
		if _, err := read(false); err != nil {
			t.Fatalf("of a killed run, cut at %d: %v", cut, err)
		}
	}
	os.Remove(name)
	if _, err := read(true); err == nil || !strings.Contains(err.Error(), "2 of 2 test cases are missing") {
		t.Errorf("gone: %v", err)
	}
	os.WriteFile(name, append(whole, whole...), 0o644)
	if _, err := read(true); err == nil || !strings.Contains(err.Error(), "stands there twice") {
		t.Errorf("twice: %v", err)
	}
	os.WriteFile(name, whole, 0o644)
	if tests, err := read(true); err != nil || len(tests) != 2 {
		t.Errorf("whole: %d, %v", len(tests), err)
	}
}

// Verdicts that are lost are no good ones: emit would take what is unstable for what is sure.
func TestLostVerdicts(t *testing.T) {
	dir, _ := ended(t)
	name, whole, r := opened(t, dir, replayName)
	if v, err := r.Verdicts(); err != nil || len(v) != 2 {
		t.Errorf("whole: %v, %v", v, err)
	}
	for cut := range len(whole) - 1 {
		os.WriteFile(name, whole[:cut], 0o644)
		if v, err := r.Verdicts(); err == nil {
			t.Fatalf("cut at %d of %d: %v", cut, len(whole), v)
		}
	}
	os.Remove(name)
	if v, err := r.Verdicts(); err == nil {
		t.Errorf("gone: %v", v)
	}
}

// A summary that says nothing of what was explored makes no proof of a replay.
func TestNoPremises(t *testing.T) {
	var s Summary
	if s.replayed(Replay{}); s.Exhausted {
		t.Error("exhausted")
	}
}
