package replay

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"symchef/internal/testcase"
)

// The search for what a test depends on comes when all have run: it may take all the time that is left, and what was reached stays. Where it was cut off nothing has diverged.
func TestCauseIsCutOff(t *testing.T) {
	modes(t)
	g := shell(t, "echo hello")
	ok := testcase.Outcome{Kind: testcase.OK}
	tests := []testcase.Test{wants("t1", ok, "bye\n"), wants("t2", ok, "hello\n"), wants("t3", ok, "bye\n"), wants("t4", ok, "hello\n")}
	for _, c := range []struct {
		name       string
		cause, cut string
		blocks     bool
		want       Verdict
		why        string
	}{
		{name: "nothing found", want: Diverged},
		{name: "found", cause: "the clock", want: Unstable, why: "it depends on the clock: "},
		{name: "found, and cut off", cause: "the clock", cut: "the time was over", want: Unstable, why: "it depends on the clock: "},
		{name: "cut off", cut: "the time was over", want: Skipped, why: "what it depends on was not found, the time was over: "},
		{name: "for ever", cut: "the time was over", blocks: true, want: Skipped, why: "what it depends on was not found, "},
	} {
		ctx, cancel := context.WithCancel(context.Background())
		agreed := 0
		rep, err := Run(ctx, g, tests, Options{
			Progress: func(r Result) {
				if r.Verdict == Agreed {
					agreed++
				}
			},
			Cause: func(ctx context.Context, _ testcase.Test, _ Doubt) (string, string) {
				if agreed != 2 {
					t.Errorf("%s: asked when %d of 2 had agreed", c.name, agreed)
				}
				if c.blocks {
					time.AfterFunc(100*time.Millisecond, cancel)
					<-ctx.Done()
				}
				return c.cause, c.cut
			},
			Parallel: 2,
		})
		if cancel(); err != nil && !(c.blocks && errors.Is(err, context.Canceled)) {
			t.Fatal(err)
		}
		if len(rep.Results) != 4 || rep.Agreed != 2 || rep.NotReplayed != 0 {
			t.Fatalf("%s: %+v", c.name, rep)
		}
		for _, r := range rep.Results {
			if r.ID == "t1" || r.ID == "t3" {
				if r.Verdict != c.want || !strings.HasPrefix(r.Why, c.why) {
					t.Errorf("%s: %s %s: %s", c.name, r.ID, r.Verdict, r.Why)
				}
			}
		}
	}
}
