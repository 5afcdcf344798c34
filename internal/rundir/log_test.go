package rundir

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"testing"

	"symchef/internal/seed"
	"symchef/internal/testcase"
)

// randomTests are test cases whose logs branch from one another, as those of a search do.
func randomTests(r *rand.Rand, n, length int) []testcase.Test {
	var tests []testcase.Test
	for i := range n {
		var log []testcase.Decision
		if i > 0 {
			like := tests[r.IntN(i)].Decisions
			log = append(log, like[:r.IntN(len(like)+1)]...)
		}
		for range r.IntN(length) {
			d := testcase.Decision{Kind: "branch", PC: testcase.Hex(0x401000 + 16*r.IntN(50)), Value: testcase.Hex(r.IntN(2)), Source: "/a/test_x.py:12 f"}
			if r.IntN(20) == 0 {
				d.Kind, d.Value = "value", testcase.Hex(r.Uint64())
			}
			log = append(log, d)
		}
		if log == nil {
			log = []testcase.Decision{}
		}
		t := sampleTest(fmt.Sprintf("t%06d", i+1))
		t.Decisions, t.PathID = log, testcase.PathID(log)
		tests = append(tests, t)
	}
	return tests
}

// Logs are read as they were written, also where the writer was killed and another went on.
func TestLogs(t *testing.T) {
	r := seed.Rand(t)
	for range 20 {
		dir := t.TempDir()
		want := randomTests(r, 40, 60)
		w := mustCreate(t, dir)
		for i, x := range want {
			if r.IntN(10) == 0 { // the test cases after a checkpoint are dropped, and found again
				size := w.Size()
				for _, y := range want[i:min(i+3, len(want))] {
					if err := w.Append(y); err != nil {
						t.Fatal(err)
					}
				}
				w.Close()
				w = nil
				var err error
				if w, err = Lock(dir); err != nil {
					t.Fatal(err)
				}
				if err := w.Resume(size); err != nil {
					t.Fatal(err)
				}
			}
			if err := w.Append(x); err != nil {
				t.Fatal(err)
			}
		}
		w.Close()
		d, err := Open(dir)
		if err != nil {
			t.Fatal(err)
		}
		got, torn, err := d.Tests()
		if err != nil || torn || !reflect.DeepEqual(got, want) {
			t.Fatalf("%d of %d test cases, torn %v, %v", len(got), len(want), torn, err)
		}
	}
}

// What a log shares with an earlier one takes no room.
func TestShortLogs(t *testing.T) {
	dir := t.TempDir()
	w := mustCreate(t, dir)
	all := 0
	for _, x := range randomTests(seed.Rand(t), 300, 400) {
		if err := w.Append(x); err != nil {
			t.Fatal(err)
		}
		all += len(x.Decisions)
	}
	if per := float64(w.Size()) / float64(all); per > 12 {
		t.Errorf("%.1f bytes for a decision", per)
	}
}

// A line that was changed is found, whatever it says then.
func TestChangedLogs(t *testing.T) {
	r := seed.Rand(t)
	dir := t.TempDir()
	w := mustCreate(t, dir)
	want := randomTests(r, 8, 30)
	for _, x := range want {
		if err := w.Append(x); err != nil {
			t.Fatal(err)
		}
	}
	d, err := Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(dir, testsName)
	whole, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for range 2000 {
		b := append([]byte(nil), whole...)
		b[r.IntN(len(b))] ^= byte(1 << r.IntN(7))
		if err := os.WriteFile(path, b, 0o644); err != nil {
			t.Fatal(err)
		}
		got, _, err := d.Tests()
		if err != nil {
			continue
		}
		for i, x := range got { // what is no log may have changed, and which line of the source decided, too
			if i < len(want) && x.PathID == want[i].PathID && testcase.PathID(x.Decisions) != want[i].PathID {
				t.Fatalf("another log of %s was read", x.ID)
			}
		}
	}
}
