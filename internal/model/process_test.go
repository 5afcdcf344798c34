package model_test

import (
	"context"
	"debug/elf"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"

	"symchef/internal/cpu"
	"symchef/internal/exec"
	"symchef/internal/expr"
	"symchef/internal/guest"
	"symchef/internal/interp"
	"symchef/internal/ir"
	"symchef/internal/kernel"
	"symchef/internal/mem"
	"symchef/internal/model"
	"symchef/internal/nativeboot"
	"symchef/internal/probe"
	"symchef/internal/state"
)

// process is a stock program, held where one of its functions begins. There tests call its functions: with concrete operands as they are,
// with symbolic ones under a model. A call changes the state that it is made in and no other.
type process struct {
	t      *testing.T
	path   string
	base   uint64
	ctx    *expr.Ctx
	sys    *kernel.System
	cpu    cpu.CPU           // at the function's entry
	stock  *exec.Machine     // runs the functions as they are
	models *exec.Machine     // runs the models
	names  map[string]uint64 // exported functions
	image  *interp.Image     // nil: no interpreter
}

// Addresses below all that Linux maps: what calls return to, and memory for operands, with nothing behind it.
const (
	returnAt = 0x8000
	scratch  = 0x10000
	scratchN = 0x4000
	opened   = "/opened/now" // what a script opens when it is time
)

// openedFS notes that the script has opened a file in it.
type openedFS struct{ now bool }

func (f *openedFS) Open(name string) (fs.File, error) {
	if name == "now" {
		f.now = true
	}
	return fstest.MapFS{}.Open(name) // there is nothing but the folder
}

// hold runs a program up to the entry of its exported function until, once it has opened the file above; with "" until is the program's entry.
func hold(t *testing.T, object, until string, cfg kernel.Config) *process {
	t.Helper()
	p := &process{t: t, path: object, names: map[string]uint64{}}
	f, err := elf.Open(object)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	mark := &openedFS{now: until == ""}
	cfg.Virtual = map[string]fs.FS{filepath.Dir(opened): mark}
	cfg.Cwd, cfg.UID, cfg.GID = "/", 1000, 1000
	if p.sys, err = kernel.Boot(cfg); err != nil {
		t.Fatal(err)
	}
	if until != "" {
		b := nativeboot.Boot{Sys: p.sys, Before: func(path string) bool { return path == opened }}
		if _, err := b.Run(context.Background()); err != nil { // not allowed: in the machine
			if p.sys, err = kernel.Boot(cfg); err != nil {
				t.Fatal(err)
			}
		} else {
			p.sys = b.Sys
		}
	}
	// The object is mapped by now, or is the program.
	if f.Type == elf.ET_DYN {
		for _, a := range p.sys.CurrentProcess().Mem.Areas() {
			if a.Off == 0 && a.Back != nil && p.base == 0 && real(a.Name) == real(object) {
				p.base = a.Start
			}
		}
		if p.base == 0 {
			t.Fatalf("%s is not mapped", object)
		}
	}
	syms, err := f.DynamicSymbols()
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range syms {
		if s.Section != elf.SHN_UNDEF {
			p.names[s.Name] = p.base + s.Value
		}
	}
	at := p.base + f.Entry
	if until != "" {
		at = p.function(until)
	}
	first := exec.New(expr.New())
	first.Hooks[at] = func(*exec.Machine, *cpu.CPU, *mem.Space) (bool, *exec.Stop) {
		if mark.now {
			return false, &exec.Stop{Kind: exec.Returned}
		}
		return false, nil
	}
	if stop := first.Run(p.sys, &exec.Facts{}, 4e9); stop.Kind != exec.Returned {
		t.Fatalf("%s does not get to %s: %+v\n%s", object, until, stop, p.sys.Stderr().Data)
	}
	p.cpu = p.sys.Current().CPU
	if err := p.sys.CurrentProcess().Mem.Map(scratch, scratchN, guest.ProtRead|guest.ProtWrite, nil, 0, "operands"); err != nil {
		t.Fatal(err)
	}
	return p.of(t)
}

// of is p for a test, with expressions and machines of its own.
func (p *process) of(t *testing.T) *process {
	q := *p
	q.t, q.ctx = t, expr.New()
	q.stock, q.models = exec.New(q.ctx), exec.New(q.ctx)
	back := func(*exec.Machine, *cpu.CPU, *mem.Space) (bool, *exec.Stop) {
		return false, &exec.Stop{Kind: exec.Returned}
	}
	q.stock.Hooks[returnAt], q.models.Hooks[returnAt] = back, back
	return &q
}

// held are the interpreters that tests hold, by path: starting one takes longer than most of them.
var held = map[string]*process{}

// real is a path without symbolic links.
func real(path string) string {
	if to, err := filepath.EvalSymlinks(path); err == nil {
		return to
	}
	return path
}

// interpreter holds the stock interpreter of a language at a path with a script, always the same, or skips where it is not installed.
func interpreter(t *testing.T, language, path, until string, argv ...string) *process {
	t.Helper()
	d, ok := interp.ByName(language)
	if !ok {
		t.Fatalf("no description of %s", language)
	}
	if p := held[path]; p != nil {
		return p.of(t)
	}
	if _, err := os.Stat(path); err != nil {
		t.Skipf("skipped: %v", err)
	}
	found, err := d.Find(interp.FindOptions{Test: "/nowhere/test", Explicit: path})
	if err != nil {
		t.Fatal(err)
	}
	cfg := kernel.Config{Path: found.ELF, Argv: append([]string{found.Argv0}, argv...),
		Env: append([]string{"PATH=/usr/bin:/bin", "LC_ALL=C.UTF-8", "PYTHONHASHSEED=0"}, found.Env...)}
	for i, b := range found.Image.Models {
		if b.Kind().Functions != nil {
			base, err := probe.Find(cfg, real(found.Image.Path), &b)
			if err != nil {
				t.Fatal(err)
			}
			found.Image.Models[i] = b.Rebase(-base)
		}
	}
	p := hold(t, found.Image.Path, until, cfg)
	p.image = found.Image.Rebase(p.base)
	held[path] = p
	return p
}

// binding is the image's binding of a model, and use lets the machine of models run it.
func (p *process) binding(name string) (model.Binding, int) {
	p.t.Helper()
	for i, b := range p.image.Models {
		if b.Name == name {
			return b, i
		}
	}
	p.t.Fatalf("%s has no model %s: %v", p.path, name, p.image.Without)
	return model.Binding{}, 0
}

func (p *process) use(name string) model.Binding {
	b, i := p.binding(name)
	for at, hook := range b.Hooks(model.Address(i)) {
		p.models.Hooks[at] = hook
	}
	return b
}

func (p *process) function(name string) uint64 {
	p.t.Helper()
	at, ok := p.names[name]
	if !ok {
		p.t.Fatalf("%s does not export %s", p.path, name)
	}
	return at
}

// path is a state in which calls are made: those of m. Its assignment says which way symbolic values take it.
type path struct {
	*process
	m *exec.Machine
	s *state.State
}

// fork is a new path from where p is held.
func (p *process) fork(m *exec.Machine, a expr.Assignment) *path {
	s := state.New(p.sys.Fork())
	s.Model = a
	return &path{p, m, s}
}

func (x *path) mem() *mem.Space { return x.s.Sys.CurrentProcess().Mem }

// write puts bytes at an address of the operands; terms may be nil.
func (x *path) write(at uint64, data []byte, terms []expr.Ref) {
	x.t.Helper()
	if err := x.mem().WriteSym(at, mem.Bytes{Data: data, Sym: terms}); err != nil {
		x.t.Fatal(err)
	}
}

func (x *path) word(at uint64, n int) uint64 {
	x.t.Helper()
	v, err := x.mem().ReadU(at, n)
	if err != nil {
		x.t.Fatalf("%#x: %v", at, err)
	}
	return v
}

// result is a value of 64 bits, and its term; 0: it is concrete.
type result struct {
	v uint64
	r expr.Ref
}

// under is the result for an assignment.
func (x *path) under(r result, a expr.Assignment) uint64 {
	if r.r == 0 {
		return r.v
	}
	return x.ctx.Eval(r.r, a)
}

// call calls the function at an address.
func (x *path) call(at uint64, args ...uint64) result {
	x.t.Helper()
	list := make([]result, len(args))
	for i, v := range args {
		list[i].v = v
	}
	return x.callWith(at, list...)
}

// callWith is call with operands that may be symbolic.
func (x *path) callWith(at uint64, args ...result) result {
	x.t.Helper()
	c := &x.s.Sys.Current().CPU
	*c = x.cpu
	sp := (x.cpu.R[ir.RSP]-4096)&^15 - 8
	if err := x.mem().WriteU(sp, returnAt, 8); err != nil {
		x.t.Fatal(err)
	}
	c.Set(ir.RSP, sp)
	c.Set(ir.RAX, 0)
	for i, arg := range args {
		r := []ir.Slot{ir.RDI, ir.RSI, ir.RDX, ir.RCX, ir.R8, ir.R9}[i]
		if c.Set(r, arg.v); arg.r != 0 {
			c.SetSym(r, arg.v, arg.r)
		}
	}
	c.PC = at
	for {
		switch stop := x.m.Run(x.s.Sys, &x.s.Facts, 1e8); stop.Kind {
		case exec.Returned:
			if c := &x.s.Sys.Current().CPU; c.Sym.Has(ir.RAX) {
				return result{c.R[ir.RAX], c.S[ir.RAX]}
			}
			return result{v: x.s.Sys.Current().CPU.R[ir.RAX]}
		case exec.Decide:
			x.s.Assume(x.ctx, stop.Ref, x.ctx.Eval(stop.Ref, x.s.Model))
		case exec.Bounds: // nothing is proved: the address is decided
			x.s.Prove(x.ctx, stop.Ref, 0, expr.Mask(x.ctx.Width(stop.Ref)))
		default:
			x.t.Fatalf("a call of %#x stops: %+v %s\n%s", at, stop, x.m.LastFault, strings.TrimSpace(string(x.s.Sys.Stderr().Data)))
		}
	}
}

// takes reports whether an assignment takes this path.
func (x *path) takes(a expr.Assignment) bool {
	for c := x.s.Path; c != nil; c = c.Parent {
		if x.ctx.Eval(c.R, a) != c.V {
			return false
		}
	}
	return true
}

// assignments are all in which each of n variables has a value of the alphabet.
func assignments(n int, alphabet []byte) (all []expr.Assignment) {
	total := 1
	for range n {
		total *= len(alphabet)
	}
	for i := range total {
		a := make(expr.Assignment, n)
		for k := range a {
			a[k] = uint64(alphabet[i%len(alphabet)])
			i /= len(alphabet)
		}
		all = append(all, a)
	}
	return all
}
