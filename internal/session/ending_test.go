package session

import (
	"bytes"
	"context"
	"strings"
	"testing"
	"time"

	"symchef/internal/pace"
	"symchef/internal/rundir"
	"symchef/internal/testcase"
)

// Whatever a run is stuck in, it ends soon after a signal or when --time is over, and shows what its directory holds.
func TestForced(t *testing.T) {
	for _, x := range []struct {
		name   string
		time   time.Duration
		status int
		why    string
	}{{"signal", 0, StatusCtrlC, "interrupted"}, {"time", 100 * time.Millisecond, StatusFailing, limitTime}} {
		t.Run(x.name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			g := testcase.Target{Kind: testcase.Program, Path: "/bin/cat", Argv: []string{"cat"}, Cwd: "/"}
			w, err := rundir.Create(dir, rundir.Summary{Test: "cat", Target: g}, nil)
			if err != nil {
				t.Fatal(err)
			}
			defer w.Close()
			found := testcase.Test{ID: "t000001", PathID: testcase.PathID(nil), Inputs: []testcase.Input{testcase.Stdin([]byte("x"))},
				Observation: testcase.Observation{Outcome: testcase.Outcome{Kind: testcase.Crash, Signal: "SIGSEGV"}, OutputSHA256: testcase.OutputDigest(nil)}}
			for _, id := range []string{"t000001", "t000002"} {
				if found.ID, found.Group = id, "group"; w.Append(found) != nil {
					t.Fatal("not written")
				}
			}
			o := &Options{Time: x.time}
			r := newRun(o, &target{tc: g, name: "cat"})
			r.w = w
			var out, errs bytes.Buffer
			e := &ending{o: o, stdout: &out, stderr: &errs}
			c, cancel := context.WithCancel(context.Background())
			defer cancel()
			began := time.Now()
			status := e.within(c, func(context.Context) int {
				e.begins(r)
				if x.time == 0 {
					cancel()
				}
				select {} // stuck
			})
			if status != x.status || pace.Exceeds(t, began, 3*grace) {
				t.Errorf("status %d after %v", status, time.Since(began))
			}
			d, err := rundir.Open(dir)
			if err != nil || !d.Summary.Finished || d.Summary.Exhausted || d.Summary.Tests.Crash != 2 || d.Summary.Replay.NotReplayed != 2 || d.Summary.Paths.Low != 2 || d.Summary.Paths.High != 1 {
				t.Errorf("%+v, %v", d, err)
			}
			if !strings.Contains(out.String(), "2 test cases (2 failing) from 1 high-level path, 2 low-level paths") || !strings.Contains(out.String(), "not exhausted:\n  - "+x.why) || !strings.Contains(out.String(), "SIGSEGV") {
				t.Errorf("%s%s", out.String(), errs.String())
			}
		})
	}
}
