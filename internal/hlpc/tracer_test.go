package hlpc_test

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"os"
	osexec "os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"symchef/internal/exec"
	"symchef/internal/expr"
	"symchef/internal/hlpc"
	"symchef/internal/kernel"
	"symchef/internal/testcase"
)

// step is a Step with the machine word that stood there.
type step struct {
	hlpc.Step
	word uint64
}

// record runs a program to its end and returns its high-level steps and output.
func record(t *testing.T, r *hlpc.Result, argv ...string) ([]step, string) {
	t.Helper()
	return recordWith(t, r, nil, argv...)
}

// recordWith is record that also reports code objects.
func recordWith(t *testing.T, r *hlpc.Result, onCode func(hlpc.Digest, hlpc.Label), argv ...string) ([]step, string) {
	t.Helper()
	var steps []step
	out := trace(t, &hlpc.Tracer{Result: r, OnStep: func(sys *kernel.System, s *hlpc.Step) {
		w, err := sys.CurrentProcess().Mem.ReadU(s.HLPC, 4)
		if err != nil {
			t.Fatalf("no code at %+v", s)
		}
		steps = append(steps, step{*s, w})
	}, OnCode: onCode}, testcase.PinEnv(nil), argv)
	return steps, out
}

// trace runs a program to its end with a tracer and returns its output.
func trace(t *testing.T, tracer *hlpc.Tracer, env, argv []string) string {
	t.Helper()
	sys, err := kernel.Boot(kernel.Config{Path: argv[0], Argv: argv, Env: env, Cwd: "/"})
	if err != nil {
		t.Fatal(err)
	}
	m := exec.New(expr.New())
	tracer.Cursor = &hlpc.Cursor{}
	tracer.Attach(m)
	if stop := m.Run(sys, &exec.Facts{}, 1e9); stop.Kind != exec.Exited || sys.ExitStatus() != (kernel.Status{}) {
		t.Fatalf("%+v, %+v: %s", stop, sys.ExitStatus(), sys.Stderr().Data)
	}
	return string(sys.Stdout().Data)
}

// programFile writes a program and returns its path.
func programFile(t *testing.T, name, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	return path
}

// sameTrace checks that two runs execute the same high-level program counters; it reports whether any lies at another address.
func sameTrace(t *testing.T, a, b []step) (moved bool) {
	t.Helper()
	if len(a) == 0 || len(a) != len(b) {
		t.Fatalf("%d steps, at other addresses %d", len(a), len(b))
	}
	for i := range a {
		if a[i].Code.Digest != b[i].Code.Digest || a[i].Offset != b[i].Offset {
			t.Fatalf("step %d differs at other addresses: %+v, %+v", i, a[i].Step, b[i].Step)
		}
		moved = moved || a[i].HLPC != b[i].HLPC
	}
	return moved
}

// instruction is one line of the interpreter's own disassembler.
type instruction struct {
	offset uint64
	name   string
	jump   int // index of the instruction it may jump to; -1: none
}

// function is a code object as the disassembler shows it.
type function struct {
	name  string
	code  []instruction
	index map[uint64]int // by offset
	extra []int          // instructions that control may reach from anywhere: exception handlers
	after func(f *function, i int) []int
	calls int // activations seen
}

// walk checks a trace against disassembled functions: each step is on an instruction; within an activation it
// follows the last one as the instructions allow; a new activation begins at a function's start; and the depth goes up by
// one at a call, and at a return goes down to what the caller had. Steps of other functions are not looked at.
func walk(t *testing.T, steps []step, find func(step) *function, starts func(*function, int) bool) {
	t.Helper()
	type activation struct {
		f    *function
		last int
	}
	live := map[uint64]*activation{}
	bad, depth := 0, -1
	var stack []uint64 // frames by depth
	for k, s := range steps {
		if s.Depth > depth+1 {
			t.Errorf("step %d: depth goes from %d to %d", k, depth, s.Depth)
		}
		if s.Depth < len(stack) && stack[s.Depth] != s.Frame && s.Depth < depth {
			t.Errorf("step %d: return to frame %#x at depth %d, which belongs to %#x", k, s.Frame, s.Depth, stack[s.Depth])
		}
		depth = s.Depth
		stack = append(stack[:min(len(stack), s.Depth)], s.Frame)
		f := find(s)
		if f == nil {
			delete(live, s.Frame)
			continue
		}
		i, ok := f.index[s.Offset]
		a := live[s.Frame]
		switch {
		case !ok:
			t.Errorf("step %d: %s+%d is not on an instruction", k, f.name, s.Offset)
			bad++
		case a != nil && a.f == f && slices.Contains(f.after(f, a.last), i):
			a.last = i
		case a != nil && a.f == f && slices.Contains(f.extra, i):
			a.last = i
		case starts(f, i):
			live[s.Frame] = &activation{f, i}
			if i == 0 {
				f.calls++
			}
		default:
			from := "another function"
			if a != nil && a.f == f {
				from = fmt.Sprintf("%d %s", f.code[a.last].offset, f.code[a.last].name)
			}
			t.Errorf("step %d: %s: %d %s after %s", k, f.name, s.Offset, f.code[i].name, from)
			live[s.Frame] = &activation{f, i}
			bad++
		}
		if bad > 10 {
			t.FailNow()
		}
	}
}

// luaProgram has a loop, branches, calls, recursion, an error, a coroutine and closures. Its functions
// have different numbers of instructions.
const luaProgram = `local function fib(n)
  if n < 2 then return n end
  return fib(n - 1) + fib(n - 2)
end
local function counter()
  local n = 0
  return function() n = n + 1; if n > 3 then error("full") end return n end
end
local function range(n)
  return coroutine.wrap(function() for i = 1, n do coroutine.yield(i * i) end end)
end
local sum = 0
for i = 1, 5 do
  if i % 2 == 0 then sum = sum + i else sum = sum - 1 end
end
for v in range(4) do sum = sum + v end
local c = counter()
local ok = true
while ok do ok = pcall(c) end
for i = 1, 7 do end
local t = {3, 1, 2}
table.sort(t, function(a, b) local less = {a < b, b, a}; less.x = 1; less.y = 2; return less[1] end)
print(fib(6), sum, ok, t[1], t[3])
`

// TestLua compares the steps of a program with what luac lists.
func TestLua(t *testing.T) {
	r, _ := calibrate(t, "/usr/bin/lua5.4")
	luac, err := osexec.LookPath("luac5.4")
	if err != nil {
		t.Skip("skipped: luac5.4 is not installed")
	}
	path := programFile(t, "program.lua", luaProgram)
	listing, err := osexec.Command(luac, "-p", "-l", path).Output()
	if err != nil {
		t.Fatal(err)
	}
	bySize := map[uint64]*function{}
	for _, f := range luaFunctions(string(listing)) {
		size := uint64(4 * len(f.code))
		if bySize[size] != nil {
			t.Fatalf("%s and %s have as many instructions", f.name, bySize[size].name)
		}
		bySize[size] = f
	}
	steps, out := record(t, r, "/usr/bin/lua5.4", path)
	if want := "8\t33\tfalse\t1\t3\n"; out != want {
		t.Errorf("output %q, want %q", out, want)
	}
	names, numbers := map[uint64]string{}, map[string]uint64{}
	digests := map[hlpc.Digest]uint64{}
	walk(t, steps, func(s step) *function {
		f := bySize[s.Code.Size]
		if f == nil {
			t.Fatalf("a code object of %d bytes: %+v", s.Code.Size, s)
		}
		if n, ok := digests[s.Code.Digest]; ok && n != s.Code.Size {
			t.Fatalf("one digest for two functions")
		}
		digests[s.Code.Digest] = s.Code.Size
		// One handler for each opcode: number and name go together.
		op, name := s.word&0x7f, f.code[f.index[s.Offset]].name
		if old, ok := names[op]; ok && old != name {
			t.Fatalf("opcode %d is %s and %s", op, old, name)
		}
		if old, ok := numbers[name]; ok && old != op {
			t.Fatalf("%s is opcode %d and %d", name, old, op)
		}
		names[op], numbers[name] = name, op
		return f
	}, func(_ *function, i int) bool { return i == 0 })
	for _, f := range bySize {
		want := map[string]int{"1,4": 25, "7,7": 4, "10,10": 1, "5,8": 1, "9,11": 1, "0,0": 1}[f.name]
		if want != 0 && f.calls != want || f.calls == 0 {
			t.Errorf("function %s was called %d times, want %d", f.name, f.calls, want)
		}
	}
	empty := 0 // times that the loop without a body goes back to itself
	for i := 1; i < len(steps); i++ {
		if steps[i].HLPC == steps[i-1].HLPC {
			empty++
		}
	}
	if empty != 6 {
		t.Errorf("an instruction follows itself %d times, want 6", empty)
	}
	if len(digests) != len(bySize) {
		t.Errorf("%d digests for %d functions", len(digests), len(bySize))
	}
	// The same program in another process at other addresses has the same high-level trace.
	again, _ := record(t, r, "/usr/bin/lua5.4", "-e", "x = {}; for i = 1, 1000 do x[i] = {} end", path)
	sameTrace(t, steps, again[len(again)-len(steps):])
}

var (
	luaHead = regexp.MustCompile(`^(?:main|function) <[^:]*:(\d+,\d+)> \((\d+) instructions`)
	luaLine = regexp.MustCompile(`^\t(\d+)\t\[\S+\]\t(\w+) *\t([^\t;]*)(?:\t; (?:to|exit to) (\d+))?`)
)

// luaFunctions parses what luac -l prints.
func luaFunctions(listing string) (out []*function) {
	var f *function
	for _, line := range strings.Split(listing, "\n") {
		if h := luaHead.FindStringSubmatch(line); h != nil {
			f = &function{name: h[1], index: map[uint64]int{}, after: luaAfter}
			out = append(out, f)
		} else if m := luaLine.FindStringSubmatch(line); m != nil {
			n, _ := strconv.Atoi(m[1])
			jump := -1
			if m[4] != "" {
				to, _ := strconv.Atoi(m[4])
				jump = to - 1
			}
			f.index[uint64(4*(n-1))] = len(f.code)
			f.code = append(f.code, instruction{uint64(4 * (n - 1)), m[2], jump})
		}
	}
	return out
}

// luaAfter lists what may follow instruction i. A test executes the jump behind it, TFORPREP the TFORCALL, and that
// the TFORLOOP, without a dispatch of its own; many instructions skip the one behind them (lvm.c).
func luaAfter(f *function, i int) (out []int) {
	switch name := f.code[i].name; {
	case strings.HasPrefix(name, "RETURN"), name == "TAILCALL":
		return nil
	case name == "JMP":
		return []int{f.code[i].jump}
	case name == "TFORPREP":
		return append(luaAfter(f, f.code[i].jump), f.code[i].jump)
	case name == "FORPREP" || name == "FORLOOP":
		// FORPREP leaves the loop behind its FORLOOP.
		return []int{i + 1, f.code[i].jump, f.code[i].jump + 1}
	}
	out = []int{i + 1, i + 2}
	if i+1 < len(f.code) {
		if next := f.code[i+1]; next.name == "JMP" || next.name == "TFORLOOP" {
			out = append(out, next.jump)
		}
	}
	return out
}

// pythonProgram has what luaProgram has, and a function that gets hot enough to be specialised.
const pythonProgram = `import sys
class Full(Exception):
    pass
def fib(n):
    return n if n < 2 else fib(n - 1) + fib(n - 2)
def counter():
    n = 0
    def step():
        nonlocal n
        n += 1
        if n > 3:
            raise Full(n)
        return n
    return step
def squares(n):
    for i in range(n):
        yield i * i
def delegate(n):
    yield from squares(n)
    return 1
class Point:
    def __init__(self, x):
        self.x = x
    def get(self):
        return self.x
def hot():
    total = 0
    p = Point(2)
    for i in range(60):
        total = total + i * p.get()
        if total == 7.5 or i in (1, 2):
            continue
        total -= len('abc')
    return total
total = 0
for i in range(5):
    if i % 2 == 0:
        total += i
    else:
        total -= 1
for v in delegate(5):
    total += v
c = counter()
while True:
    try:
        c()
    except Full as e:
        total += e.args[0]
        break
    finally:
        total += 1
words = sorted(['b', 'c', 'a'], key=lambda w: -ord(w))
print(fib(7), total, words[0], [x for x in squares(3)], hot())
`

// pythonLister prints the code objects of a program as JSON.
const pythonLister = `
import dis, json, opcode, sys, types
path = sys.argv[1]
out = []
base = {n: n for n in dis.opmap}
for name, family in opcode._specializations.items():
    for special in family: base[special] = name
numbers = {n: base.get(name, name) for n, name in enumerate(dis._all_opname)}
def visit(co):
    ins = list(dis.get_instructions(co))
    at = {i.offset: k for k, i in enumerate(ins)}
    jumps = {i.offset: at[i.argval] for i in ins if i.opcode in dis.hasjrel or i.opcode in dis.hasjabs}
    handlers = [at[e.target] for e in dis._parse_exception_table(co)]
    out.append(dict(name=co.co_qualname, size=len(co.co_code), line=co.co_firstlineno, table=co.co_linetable.hex(), file=path,
        ops=[[i.offset, i.opname, jumps.get(i.offset, -1)] for i in ins], handlers=handlers))
    for c in co.co_consts:
        if isinstance(c, types.CodeType): visit(c)
visit(compile(open(path).read(), path, 'exec'))
print(json.dumps(dict(functions=out, numbers=numbers)))
`

// TestPython compares the steps of a program with what dis lists.
func TestPython(t *testing.T) {
	r, _ := calibrate(t, "/usr/bin/python3.11")
	path := programFile(t, "program.py", pythonProgram)
	listing, err := osexec.Command("/usr/bin/python3.11", "-I", "-S", "-c", pythonLister, path).Output()
	if err != nil {
		t.Fatal(err)
	}
	var all struct {
		Functions []struct {
			Name, Table, File string
			Size              uint64
			Line              uint32
			Ops               [][3]any
			Handlers          []int
		}
		Numbers map[string]string
	}
	if err := json.Unmarshal(listing, &all); err != nil {
		t.Fatal(err)
	}
	functions := map[hlpc.Digest]*function{}
	for _, c := range all.Functions {
		f := &function{name: c.Name, index: map[uint64]int{}, extra: c.Handlers, after: pythonAfter}
		for i, op := range c.Ops {
			off := uint64(op[0].(float64))
			f.index[off] = i
			f.code = append(f.code, instruction{off, op[1].(string), int(op[2].(float64))})
		}
		table, _ := hex.DecodeString(c.Table)
		length := func(s string) []byte { return binary.LittleEndian.AppendUint64(nil, uint64(len(s))) }
		functions[digest(table, []byte(c.File), []byte(c.Name), binary.LittleEndian.AppendUint32(nil, c.Line), length(c.File), length(c.Name))] = f
	}
	steps, out := record(t, r, "/usr/bin/python3.11", "-I", "-S", path)
	if want := "13 42 c [0, 1, 4] 3366\n"; out != want {
		t.Errorf("output %q, want %q", out, want)
	}
	specialised := 0
	walk(t, steps, func(s step) *function {
		f := functions[s.Code.Digest]
		if f == nil {
			return nil
		}
		if i, ok := f.index[s.Offset]; ok {
			op := strconv.Itoa(int(s.word & 0xff))
			if base := all.Numbers[op]; base != f.code[i].name && !(f.code[i].name == "JUMP_BACKWARD" && strings.HasPrefix(base, "JUMP_BACKWARD")) {
				t.Fatalf("%s+%d: opcode %s is of %s, not %s", f.name, s.Offset, op, base, f.code[i].name)
			}
			specialised++
		}
		return f
	}, func(f *function, i int) bool {
		// A generator's frame moves into its object when it has been made.
		return i == 0 || f.code[i-1].name == "RETURN_GENERATOR"
	})
	for _, f := range functions {
		want, known := map[string]int{"fib": 41, "counter": 1, "counter.<locals>.step": 4, "squares": 2, "delegate": 1, "hot": 1, "Point.get": 60, "<lambda>": 3, "<module>": 1}[f.name]
		if known && f.calls != want || f.calls == 0 {
			t.Errorf("%s was called %d times, want %d", f.name, f.calls, want)
		}
	}
	if specialised == 0 {
		t.Error("no step was in the program")
	}
}

// digest is that of a code object with these identifying parts.
func digest(parts ...[]byte) hlpc.Digest {
	h := sha256.New()
	for _, p := range parts {
		h.Write(binary.LittleEndian.AppendUint64(nil, uint64(len(p))))
		h.Write(p)
	}
	return hlpc.Digest(h.Sum(nil)[:16])
}

// pythonAfter lists what may follow instruction i. Specialised instructions include the one behind them
// (a fused comparison and jump, PRECALL and CALL, two loads) without a dispatch of its own (ceval.c).
func pythonAfter(f *function, i int) []int {
	c := f.code[i]
	switch c.name {
	case "RETURN_VALUE", "RAISE_VARARGS", "RERAISE", "RETURN_GENERATOR":
		return nil
	case "JUMP_FORWARD", "JUMP_BACKWARD", "JUMP_BACKWARD_NO_INTERRUPT":
		return []int{c.jump}
	}
	out := []int{i + 1, i + 2}
	if c.jump >= 0 {
		out = append(out, c.jump)
	}
	if i+1 < len(f.code) && f.code[i+1].jump >= 0 {
		out = append(out, f.code[i+1].jump)
	}
	return out
}
