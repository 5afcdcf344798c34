package hlpc_test

import (
	"os"
	"path/filepath"
	"testing"

	"symchef/internal/exec"
	"symchef/internal/expr"
	"symchef/internal/hlpc"
	"symchef/internal/kernel"
	"symchef/internal/testcase"
)

// TestNotes: compiled code that notes steps by itself tells of the same steps as the evaluator, which tells of each at once.
func TestNotes(t *testing.T) {
	for _, c := range []struct{ path, name, text string }{
		{"/usr/bin/lua5.4", "a.lua", luaProgram},
		{"/usr/bin/python3.11", "a.py", pythonProgram},
	} {
		t.Run(filepath.Base(c.path), func(t *testing.T) {
			r, _ := calibrate(t, c.path)
			path := filepath.Join(t.TempDir(), c.name)
			if err := os.WriteFile(path, []byte(c.text), 0o644); err != nil {
				t.Fatal(err)
			}
			// No site is known to dispatch always: each target is compared with the table. With a bit of the opcode less,
			// many of them are found elsewhere, and are no steps.
			asks, less := *r, *r
			asks.Sites, less.Sites = nil, nil
			less.Dispatch.Bits--
			run := func(r *hlpc.Result, compileAfter int, chunk uint64) (steps []hlpc.Step) {
				sys, err := kernel.Boot(kernel.Config{Path: c.path, Argv: []string{c.path, path}, Env: testcase.PinEnv(nil), Cwd: "/"})
				if err != nil {
					t.Fatal(err)
				}
				m := exec.New(expr.New())
				m.CompileAfter = compileAfter
				(&hlpc.Tracer{Result: r, Cursor: &hlpc.Cursor{}, OnStep: func(_ *kernel.System, s *hlpc.Step) { steps = append(steps, *s) }}).Attach(m)
				for m.Run(sys, &exec.Facts{}, chunk).Kind == exec.Budget {
				}
				return steps
			}
			counts := map[*hlpc.Result]int{}
			for _, r := range []*hlpc.Result{r, &asks, &less} {
				want := run(r, 0, 1e10)
				for _, chunk := range []uint64{1e10, 1009} {
					got := run(r, 1, chunk)
					for i := range min(len(got), len(want)) {
						if got[i] != want[i] {
							t.Fatalf("in chunks of %d, step %d: %+v, want %+v", chunk, i, got[i], want[i])
						}
					}
					if len(got) != len(want) || len(got) < 100 {
						t.Fatalf("in chunks of %d: %d steps, want %d", chunk, len(got), len(want))
					}
				}
				counts[r] = len(want)
			}
			if counts[r] != counts[&asks] || counts[&less] >= counts[r] {
				t.Errorf("%d steps, %d by the table, %d with a bit less", counts[r], counts[&asks], counts[&less])
			}
			t.Logf("%d steps", counts[r])
		})
	}
}
