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
	w, err := rundir.Create(dir, rundir.Summary{Target: shell(t, "cat")}, nil)
	if err != nil {
		t.Fatal(err)
	}
	ok := testcase.Outcome{Kind: testcase.OK}
	for _, c := range []testcase.Test{
		wants("good", ok, "a", testcase.Stdin([]byte("a"))),
		wants("bad", ok, "b", testcase.Stdin([]byte("a"))),
	} {
		c.PathID = testcase.PathID(nil)
		if err := w.Append(c); err != nil {
			t.Fatal(err)
		}
	}
	defer w.Close()
	r, err := rundir.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	tests, _, err := r.Tests()
	if err != nil {
		t.Fatal(err)
	}
	if rep, err := Dir(context.Background(), r, nil, tests[1:], Options{Mode: m}); err != nil || rep.Agreed != 1 || rep.Diverged != 0 {
		t.Errorf("one test: %+v, %v", rep, err)
	}
	if rep, err := Dir(context.Background(), r, w, tests, Options{Mode: m}); err != nil || rep.Agreed != 1 || rep.Diverged != 1 {
		t.Errorf("all tests: %+v, %v", rep, err)
	}
	r, err = rundir.Open(dir)
	if err != nil || r.Summary.Replay != (rundir.Replay{Agreed: 1, Diverged: 1}) {
		t.Errorf("recorded %+v, %v", r.Summary.Replay, err)
	}
}
