package hlpc

import (
	"fmt"
	"io/fs"
	"strings"
	"testing/fstest"

	"golang.org/x/arch/x86/x86asm"

	"symchef/internal/cpu"
	"symchef/internal/exec"
	"symchef/internal/ir"
	"symchef/internal/kernel"
	"symchef/internal/mem"
)

// Loc is a place whose value is sampled at a branch: a register, or with Mem the
// eight bytes at [register+Off].
type Loc struct {
	Reg ir.Slot
	Mem bool
	Off int32
}

var regNames = [16]string{"rax", "rcx", "rdx", "rbx", "rsp", "rbp", "rsi", "rdi", "r8", "r9", "r10", "r11", "r12", "r13", "r14", "r15"}

// String is the assembler's notation: r13, [rsp+0x8].
func (l Loc) String() string {
	if !l.Mem {
		return regNames[l.Reg]
	}
	if l.Off == 0 {
		return "[" + regNames[l.Reg] + "]"
	}
	return fmt.Sprintf("[%s%s]", regNames[l.Reg], signed(int64(l.Off)))
}

// signed prints a displacement: +0x8, -0x4.
func signed(n int64) string {
	if n < 0 {
		return fmt.Sprintf("-%#x", -n)
	}
	return fmt.Sprintf("+%#x", n)
}

// MarshalText and UnmarshalText store a Loc as String prints it.
func (l Loc) MarshalText() ([]byte, error) { return []byte(l.String()), nil }

// UnmarshalText parses what String prints.
func (l *Loc) UnmarshalText(b []byte) error {
	text := string(b)
	in, mem := strings.CutPrefix(text, "[")
	*l = Loc{Mem: mem}
	if mem {
		in = strings.TrimSuffix(in, "]")
	}
	for r, name := range regNames {
		if rest, ok := strings.CutPrefix(in, name); ok && (rest == "" || mem && (rest[0] == '+' || rest[0] == '-')) {
			l.Reg = ir.Slot(r)
			if rest != "" {
				_, err := fmt.Sscanf(rest, "%v", &l.Off)
				return err
			}
			return nil
		}
	}
	return fmt.Errorf("%q is not a register or cell", text)
}

// Value is the place's value at a branch. The return address that a call pushed is not
// on its stack: cells count from rsp before the call.
func (l Loc) Value(c *cpu.CPU, s *mem.Space, call bool) (uint64, bool) {
	v := c.R[l.Reg]
	if call && l.Reg == ir.RSP {
		v += 8
	}
	if !l.Mem {
		return v, true
	}
	v, err := s.ReadU(v+uint64(int64(l.Off)), 8)
	return v, err == nil
}

// stackCells and heapCells are how far the cells of a trace reach, in words.
const (
	stackCells = 12 // [rsp] .. [rsp+0x58]
	heapCells  = 24 // [reg] .. [reg+0xb8]
)

// plainLocs are the registers and the top of the stack.
func plainLocs() []Loc {
	var out []Loc
	for r := range regNames {
		out = append(out, Loc{Reg: ir.Slot(r)})
	}
	for i := range stackCells {
		out = append(out, Loc{Reg: ir.RSP, Mem: true, Off: int32(8 * i)})
	}
	return out
}

// deepLocs are plainLocs and the cells that registers point to.
func deepLocs() []Loc {
	out := plainLocs()
	for r := range regNames {
		if r == int(ir.RSP) {
			continue
		}
		for i := range heapCells {
			out = append(out, Loc{Reg: ir.Slot(r), Mem: true, Off: int32(8 * i)})
		}
	}
	return out
}

// Event is one execution of an indirect branch.
type Event struct {
	Site, Target uint64
	Vals         []uint64 // of Trace.Locs; 0 where a cell was not readable
	Dispatch     bool     // the recorder's candidate explains it
}

// Memory is what a process could read at some time.
type Memory interface {
	Read(addr uint64, p []byte) error
	ReadU(addr uint64, n int) (uint64, error)
	Areas() []*mem.Area
}

// Window is the part of a trace between two marks, for one Branch.
type Window struct {
	Events        []Event
	Before, After Memory
}

// Branch is the indirect jumps, or the indirect calls, of one function.
type Branch struct {
	Function *Function
	Call     bool
	Bias     uint64 // where the module is loaded
	Windows  map[string]*Window
}

// Kind is "jump" or "call".
func (b *Branch) Kind() string { return kindOf(b.Call) }

func kindOf(call bool) string {
	if call {
		return "call"
	}
	return "jump"
}

// Trace is what calibration sees of an interpreter.
type Trace struct {
	Locs       []Loc
	Statements int       // in the window short
	Branches   []*Branch // in order of first execution
}

// marks is the tree at interp.MarkDir: it holds nothing, and remembers what was asked for.
type marks struct {
	window string          // now recorded; "" between windows
	asked  map[string]bool // every name so far
}

// Open implements fs.FS.
func (m *marks) Open(name string) (fs.File, error) {
	if name != "." {
		if m.asked == nil {
			m.asked = map[string]bool{}
		}
		m.window, m.asked[name] = name, true
		if name == endMark {
			m.window = ""
		}
	}
	return fstest.MapFS{}.Open(name) // there is nothing but the folder
}

// endMark ends a window.
const endMark = "end"

// recorder makes a Trace; its watch method is an exec.Machine's Watch.
type recorder struct {
	trace   Trace
	marks   *marks
	modules modules
	only    func(*Function, bool) bool // which branches to record; nil: all
	judge   *Candidate                 // explains events, or not; nil: none
	by      map[branchKey]*Branch

	window string
	before *mem.Space
	opened []*Window // of the present window
}

type branchKey struct {
	module string
	lo     uint64
	call   bool
}

// indirect says what kind of branch stands at site.
func indirect(s *mem.Space, site uint64) (call, ok bool) {
	var code [15]byte
	n := s.Fetch(site, code[:])
	in, err := x86asm.Decode(code[:n], 64)
	if err != nil {
		return false, false
	}
	return in.Op == x86asm.CALL, in.Op == x86asm.CALL || in.Op == x86asm.JMP
}

func (r *recorder) watch(s *mem.Space, site uint64) exec.Watcher {
	call, ok := indirect(s, site)
	if !ok {
		return nil
	}
	fn, bias := r.modules.function(s, site)
	if fn == nil || r.only != nil && !r.only(fn, call) {
		return nil
	}
	key := branchKey{fn.Module, fn.Offset, call}
	b := r.by[key]
	if b == nil {
		b = &Branch{Function: fn, Call: call, Bias: bias, Windows: map[string]*Window{}}
		r.by[key] = b
		r.trace.Branches = append(r.trace.Branches, b)
	}
	return func(_ *kernel.System, s *mem.Space, c *cpu.CPU, target uint64) {
		if r.marks.window != r.window {
			r.turn(s)
		}
		if r.window == "" {
			return
		}
		w := b.Windows[r.window]
		if w == nil {
			w = &Window{Before: r.before, After: r.before}
			b.Windows[r.window] = w
			r.opened = append(r.opened, w)
		}
		e := Event{Site: site, Target: target, Vals: make([]uint64, len(r.trace.Locs))}
		for i, l := range r.trace.Locs {
			e.Vals[i], _ = l.Value(c, s, call)
		}
		if r.judge != nil {
			v, ok := r.judge.Loc.Value(c, s, call)
			e.Dispatch = ok && r.judge.Dispatch.explains(s, v, target, b.Bias)
		}
		w.Events = append(w.Events, e)
	}
}

// turn closes the present window and opens the one that the marks say.
func (r *recorder) turn(s *mem.Space) {
	at := s.Fork()
	for _, w := range r.opened {
		w.After = at
	}
	r.opened, r.before, r.window = nil, at, r.marks.window
}
