package session

import (
	"context"
	"path/filepath"
	"testing"

	"symchef/internal/replay"
)

// Replay by clones of an interpreter gives the verdicts of replay by starts of its own, on every example; and the clones see what the
// machine saw.
func TestForkVerdicts(t *testing.T) {
	if err := replay.Probe(context.Background(), replay.Namespaces); err != nil {
		t.Skipf("skipped: %v", err)
	}
	lib, cleanup, err := GuestLibrary()
	if err != nil {
		t.Fatal(err)
	}
	defer cleanup()
	for _, file := range allExamples(t) {
		name := filepath.Base(file)
		t.Run(name, func(t *testing.T) {
			slowExample(t, name)
			interpreter := stockFor(t, name)
			e := runIt(t, Options{Test: file, Interpreter: interpreter, MaxPaths: 12, NoReplay: true, AllPaths: true})
			if len(e.tests) == 0 {
				t.Fatal(e.stdout, e.stderr)
			}
			var reps [2]replay.Report
			for i := range reps {
				reps[i], err = replay.Run(context.Background(), e.summary.Target, e.tests, replay.Options{GuestLib: lib, Mode: replay.Namespaces, Parallel: 1, Fresh: i == 1})
				if err != nil {
					t.Fatal(err)
				}
			}
			for i, r := range reps[0].Results {
				if o := reps[1].Results[i]; r.Verdict != o.Verdict {
					t.Errorf("%s: %s %s; by starts of its own: %s %s", r.ID, r.Verdict, r.Why, o.Verdict, o.Why)
				}
			}
			t.Logf("%d of %d in clones; %d agreed, %d diverged, %d unstable; %s", reps[0].Cloned, len(e.tests), reps[0].Agreed, reps[0].Diverged, reps[0].Unstable, reps[0].Anew)
			if len(e.tests) > 1 && reps[0].Cloned < reps[1].Agreed-2 {
				t.Errorf("%d of %d in clones; %s", reps[0].Cloned, reps[1].Agreed, reps[0].Anew)
			}
		})
	}
}
