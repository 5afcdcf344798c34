package replay

import (
	"context"
	"testing"

	"symchef/internal/rundir"
	"symchef/internal/testcase"
)

func TestDir(t *testing.T) {
	m := modes(t)[0]
	dir := t.TempDir()
	w, err := rundir.Create(dir, rundir.Summary{Target: shell(t, "cat")})
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	ok := testcase.Outcome{Kind: testcase.OK}
	for _, c := range []testcase.Test{
		wants("good", ok, "a", testcase.Stdin([]byte("a"))),
		wants("bad", ok, "b", testcase.Stdin([]byte("a"))),
	} {
		if err := w.Append(c); err != nil {
			t.Fatal(err)
		}
	}
	if rep, err := Dir(context.Background(), dir, "good", Options{Mode: m}); err != nil || rep.Agreed != 1 || rep.Diverged != 0 {
		t.Errorf("one test: %+v, %v", rep, err)
	}
	if _, err := Dir(context.Background(), dir, "none", Options{Mode: m}); err == nil {
		t.Error("replayed a test that is not there")
	}
	if rep, err := Dir(context.Background(), dir, "", Options{Mode: m}); err != nil || rep.Agreed != 1 || rep.Diverged != 1 {
		t.Errorf("all tests: %+v, %v", rep, err)
	}
	r, err := rundir.Open(dir)
	if err != nil || r.Summary.Replay != (rundir.Replay{Agreed: 1, Diverged: 1}) {
		t.Errorf("recorded %+v, %v", r.Summary.Replay, err)
	}
}
