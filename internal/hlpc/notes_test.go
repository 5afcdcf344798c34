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

// Programs that call what is deeper than compiled code knows, and code objects that come to lie where others were.
const (
	luaCalls = `local function deep(n) if n == 0 then return 0 end return 1 + deep(n - 1) end
for i = 1, 5 do deep(3 * i) deep(90) end
local function walk(n) for i = 1, n do coroutine.yield(i) end end
local a, b = coroutine.wrap(function() walk(20) walk(15) end), coroutine.wrap(function() walk(34) end)
for i = 1, 34 do deep(i % 3) a() b() end
local n = 0
for i = 1, 60 do
  local f = load("local n = ... if n > " .. i .. " then n = n - " .. i .. " end return n")
  for j = 1, 12 do n = n + f(j) end
  f = nil
  collectgarbage()
end
for i = 1, 30 do pcall(function() deep(i % 4) error(n) end) end
print(n)
`
	pythonCalls = `import sys
def deep(n):
    return n and 1 + deep(n - 1)
def inner(n):
    for i in range(n):
        yield i
def outer(n):
    for i in range(n):
        yield from inner(i % 3)
for i in range(5):
    deep(3 * i)
    deep(90)
a, b = outer(60), outer(50)
for x, y in zip(a, b):
    deep(x + y)
n = 0
for i in range(60):
    d = {}
    exec(f"def f{i}(n):\n  if n > {i}: n -= {i}\n  return n\n", d)
    f = d[f"f{i}"]
    for j in range(12):
        n += f(j)
    del f, d
def fail(n):
    deep(n)
    raise ValueError(n)
for i in range(30):
    try:
        fail(i % 4)
    except ValueError:
        pass
sys.stdout.write(str(n))
`
)

// TestNotes: compiled code that notes steps by itself tells of the same steps as the evaluator, which tells of each at once.
func TestNotes(t *testing.T) {
	for _, c := range []struct{ path, name, text string }{
		{"/usr/bin/lua5.4", "a.lua", luaProgram},
		{"/usr/bin/lua5.4", "calls.lua", luaCalls},
		{"/usr/bin/python3.11", "a.py", pythonProgram},
		{"/usr/bin/python3.11", "calls.py", pythonCalls},
	} {
		t.Run(c.name, func(t *testing.T) {
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
