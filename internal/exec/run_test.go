package exec_test

import (
	"encoding/binary"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"symchef/internal/cpu"
	"symchef/internal/exec"
	"symchef/internal/expr"
	"symchef/internal/guest"
	"symchef/internal/ir"
	"symchef/internal/kernel"
	"symchef/internal/mem"
	"symchef/internal/state"
	"symchef/internal/testcase"
)

// The memory of the programs here: code, data, a stack; each has room around it.
const (
	codeBase  = 0x30000000
	dataBase  = 0x10000000
	stackBase = 0x20000000
	stackTop  = stackBase + guest.PageSize/2
	rw        = guest.ProtRead | guest.ProtWrite
	rx        = guest.ProtRead | guest.ProtExec
)

// boot returns a state whose only task is about to execute code; hlt, which kills it, fills the rest of the page.
func boot(t testing.TB, prot guest.Prot, code ...byte) *state.State {
	t.Helper()
	elf := make([]byte, 120)
	copy(elf, "\x7fELF\x02\x01\x01")
	le := binary.LittleEndian
	le.PutUint16(elf[16:], 2)  // ET_EXEC
	le.PutUint16(elf[18:], 62) // EM_X86_64
	le.PutUint64(elf[24:], 0x400078)
	le.PutUint64(elf[32:], 64) // program headers
	le.PutUint16(elf[54:], 56)
	le.PutUint16(elf[56:], 1)
	le.PutUint32(elf[64:], 1) // PT_LOAD
	le.PutUint32(elf[68:], 5)
	le.PutUint64(elf[80:], 0x400000)
	le.PutUint64(elf[96:], 120)
	le.PutUint64(elf[104:], 120)
	path := filepath.Join(t.TempDir(), "prog")
	if err := os.WriteFile(path, elf, 0o755); err != nil {
		t.Fatal(err)
	}
	sys, err := kernel.Boot(kernel.Config{Path: path, Argv: []string{"prog"}})
	if err != nil {
		t.Fatal(err)
	}
	s := sys.CurrentProcess().Mem
	for _, a := range []mem.Area{
		{Start: codeBase, End: codeBase + guest.PageSize, Prot: prot},
		{Start: dataBase, End: dataBase + 2*guest.PageSize, Prot: rw},
		{Start: stackBase, End: stackBase + guest.PageSize, Prot: rw},
	} {
		if err := s.MapArea(a); err != nil {
			t.Fatal(err)
		}
	}
	page := append(code, strings.Repeat("\xf4", guest.PageSize-len(code))...)
	if err := s.Poke(codeBase, page); err != nil {
		t.Fatal(err)
	}
	c := &sys.Current().CPU
	c.PC = codeBase
	c.Set(ir.RSP, stackTop)
	return state.New(sys)
}

// parts returns the registers and the memory of the state's first task, which stay readable when it has ended.
func parts(st *state.State) (*cpu.CPU, *mem.Space) {
	return &st.Sys.Current().CPU, st.Sys.CurrentProcess().Mem
}

// finish runs st to its end, deciding as its model says, and returns the decisions' kinds.
func finish(t testing.TB, m *exec.Machine, st *state.State) (kinds []exec.DecisionKind) {
	t.Helper()
	for range 20000 {
		switch stop := m.Run(st.Sys, &st.Facts, 1<<20); stop.Kind {
		case exec.Exited:
			return kinds
		case exec.Bounds:
			st.Facts.Ranges[stop.Ref] = [2]uint64{0, ^uint64(0)}
		case exec.Decide:
			kinds = append(kinds, stop.Decision)
			decide(t, m.Ctx, st, stop)
		default:
			t.Fatalf("%+v", stop)
		}
	}
	t.Fatalf("still not ended after %d decisions", len(kinds))
	return nil
}

// decide records what the state's model says.
func decide(t testing.TB, e *expr.Ctx, st *state.State, stop exec.Stop) {
	t.Helper()
	if _, known := st.Facts.Fixed[stop.Ref]; known {
		t.Fatalf("%v at %#x is decided twice", stop.Decision, stop.PC)
	}
	st.Record(e, stop.Decision, stop.PC, stop.Ref, e.Eval(stop.Ref, st.Model))
}

// TestUndo: an instruction that stops for a decision has not happened, whatever instructions
// without uops stand before it; and happens once when it is made.
func TestUndo(t *testing.T) {
	for _, c := range []struct {
		name string
		code []byte
	}{
		{"call", []byte{0xff, 0xd0}},
		{"nop; call", []byte{0x90, 0xff, 0xd0}},
		{"nop; nop; call", []byte{0x90, 0x90, 0xff, 0xd0}},
		{"endbr64; three nops; call", []byte{0xf3, 0x0f, 0x1e, 0xfa, 0x90, 0x90, 0x90, 0xff, 0xd0}},
		{"mov; dead cmp; nop; dead cmp; nop; call", []byte{0x89, 0xd9, 0x39, 0xd9, 0x90, 0x39, 0xd9, 0x90, 0x39, 0xc1, 0xff, 0xd0}},
		{"push; nop; nop; call", []byte{0x50, 0x90, 0x90, 0xff, 0xd0}},
		{"call in memory", []byte{0x90, 0x90, 0xff, 0x13}},
	} {
		t.Run(c.name, func(t *testing.T) {
			st := boot(t, rx, c.code...)
			cpu, s := parts(st)
			m := exec.New(expr.New())
			x := m.Ctx.Var("x", 64)
			st.Model = expr.Assignment{codeBase + 0x800}
			cpu.SetSym(ir.RAX, codeBase+0x800, x)
			cpu.Set(ir.RBX, dataBase)
			if err := s.WriteSym(dataBase, m.Split(codeBase+0x800, x)); err != nil {
				t.Fatal(err)
			}
			at, next := uint64(codeBase+len(c.code)-2), uint64(codeBase+len(c.code))
			rsp := uint64(stackTop)
			if c.code[0] == 0x50 {
				rsp -= 8
			}
			stop := m.Run(st.Sys, &st.Facts, 100)
			if stop.Kind != exec.Decide || stop.Decision != exec.Target || stop.PC != at || cpu.PC != at || cpu.R[ir.RSP] != rsp {
				t.Fatalf("%+v at %#x, rsp %#x, want a target at %#x, rsp %#x", stop, cpu.PC, cpu.R[ir.RSP], at, rsp)
			}
			decide(t, m.Ctx, st, stop)
			if kinds := finish(t, m, st); len(kinds) != 0 {
				t.Errorf("decided again: %v", kinds)
			}
			if ret, _ := s.ReadU(rsp-8, 8); cpu.PC != codeBase+0x800 || cpu.R[ir.RSP] != rsp-8 || ret != next {
				t.Errorf("at %#x, rsp %#x, return address %#x, want rsp %#x, return address %#x", cpu.PC, cpu.R[ir.RSP], ret, rsp-8, next)
			}
		})
	}
}

// TestSelfModifying: code written by the guest is what runs next, on the side of a fork that wrote it.
func TestSelfModifying(t *testing.T) {
	st := boot(t, rw|guest.ProtExec,
		0x88, 0x1d, 3, 0, 0, 0, // mov %bl, 3(%rip): the immediate of the second mov
		0xeb, 0, // jmp over nothing
		0xb8, 0, 0, 0, 0) // mov $0, %eax
	m := exec.New(expr.New())
	again := func(st *state.State, pc, bl uint64) uint64 {
		t.Helper()
		st = st.Fork() // the run kills the process
		st.Resume(m.Ctx)
		c, s := parts(st)
		c.PC = codeBase + pc
		c.Set(ir.RBX, bl)
		finish(t, m, st)
		if v, _ := s.ReadU(codeBase+9, 1); pc == 0 && v != bl {
			t.Fatalf("the code holds %d, want %d", v, bl)
		}
		return c.R[ir.RAX]
	}
	for bl := range uint64(5) {
		if got := again(st, 0, bl); got != bl {
			t.Errorf("wrote %d, executed %d", bl, got)
		}
		if got := again(st, 8, 99); got != 0 {
			t.Errorf("the other side of the fork executes %d", got)
		}
	}
	_, s := parts(st)
	if err := s.Write(codeBase+9, []byte{7}); err != nil { // as a system call does
		t.Fatal(err)
	}
	if got := again(st, 8, 99); got != 7 {
		t.Errorf("executed %d after a write from outside", got)
	}
}

// TestSymbolicCode: code bytes that depend on the input are decided before they run.
func TestSymbolicCode(t *testing.T) {
	st := boot(t, rw|guest.ProtExec, 0xb8, 0, 0, 0, 0) // mov $0, %eax
	m := exec.New(expr.New())
	c, s := parts(st)
	st.Model = expr.Assignment{42}
	if err := s.WriteSym(codeBase+1, mem.Bytes{Data: []byte{42}, Sym: []expr.Ref{m.Ctx.Var("x", 8)}}); err != nil {
		t.Fatal(err)
	}
	if kinds := finish(t, m, st); len(kinds) != 1 || c.R[ir.RAX] != 42 || st.Facts.Fixed[m.Ctx.Var("x", 8)] != 42 {
		t.Errorf("decisions %v, executed %d", kinds, c.R[ir.RAX])
	}
}

// TestFaults: an access that faults kills the process there, with nothing done.
func TestFaults(t *testing.T) {
	for _, c := range []struct {
		name string
		code []byte
		rbx  uint64
		want string
	}{
		{"load from nowhere", []byte{0x48, 0x8b, 0x03}, 0x1234, "accessing 0x1234"},
		{"load next to the top", []byte{0x48, 0x8b, 0x43, 0xf0}, 0, "accessing 0xfffffffffffffff0"},
		{"load around the top", []byte{0x48, 0x8b, 0x43, 0xfc}, 0, "accessing 0xfffffffffffffffc"},
		{"load that is not canonical", []byte{0x48, 0x8b, 0x03}, 1<<63 | dataBase, "accessing 0x8000000010000000"},
		{"load across the end", []byte{0x48, 0x8b, 0x03}, dataBase + 2*guest.PageSize - 4, "accessing 0x10001ffc"},
		{"store across the end", []byte{0x48, 0x89, 0x03}, dataBase + 2*guest.PageSize - 4, "accessing 0x10001ffc"},
		{"store to code", []byte{0x48, 0x89, 0x03}, codeBase, "accessing 0x30000000"},
		{"add to code", []byte{0x48, 0x01, 0x03}, codeBase, "accessing 0x30000000"},
		{"push to nowhere", []byte{0x48, 0x89, 0xdc, 0x50}, 0x5000, "accessing 0x4ff8"},
		{"jump to nowhere", []byte{0xff, 0xe3}, 0x5000, "jump to 0x5000"},
		{"jump to data", []byte{0xff, 0xe3}, dataBase, "jump to 0x10000000"},
	} {
		for _, symbolic := range []bool{false, true} {
			t.Run(fmt.Sprint(c.name, symbolic), func(t *testing.T) {
				st := boot(t, rx, c.code...)
				cpu, s := parts(st)
				m := exec.New(expr.New())
				cpu.Set(ir.RAX, 0x1111)
				if symbolic {
					st.Model = expr.Assignment{0x1111}
					cpu.SetSym(ir.RAX, 0x1111, m.Ctx.Var("x", 64))
				}
				cpu.Set(ir.RBX, c.rbx)
				before := s.Fork()
				finish(t, m, st)
				if status := st.Sys.ExitStatus(); status.Signal != 11 || !strings.Contains(m.LastFault, c.want) {
					t.Errorf("%+v, %q, want %q", status, m.LastFault, c.want)
				}
				if cpu.R[ir.RAX] != 0x1111 || cpu.Sym.Has(ir.RAX) != symbolic {
					t.Errorf("rax %#x, symbolic %v", cpu.R[ir.RAX], cpu.Sym.Has(ir.RAX))
				}
				if c.name == "push to nowhere" && cpu.R[ir.RSP] != c.rbx {
					t.Errorf("rsp %#x", cpu.R[ir.RSP])
				}
				for at := uint64(dataBase); at < dataBase+2*guest.PageSize; at += 8 {
					a, _ := before.ReadU(at, 8)
					if b, _ := s.ReadU(at, 8); a != b {
						t.Fatalf("%#x became %#x at %#x", a, b, at)
					}
				}
			})
		}
	}
}

// TestCallArguments: a call's number, arguments and memory are decided, also in memory that is read-only by now.
func TestCallArguments(t *testing.T) {
	st := boot(t, rx, 0x0f, 0x05) // syscall: access(path, mode)
	c, s := parts(st)
	m := exec.New(expr.New())
	e := m.Ctx
	st.Model = expr.Assignment{21, '/', 4}
	c.SetSym(ir.RAX, 21, e.ZExt(e.Var("nr", 8), 64))
	if err := s.WriteSym(dataBase+4, mem.Bytes{Data: []byte{'/', 0}, Sym: []expr.Ref{e.Var("path", 8), 0}}); err != nil {
		t.Fatal(err)
	}
	if err := s.Protect(dataBase, guest.PageSize, guest.ProtRead); err != nil {
		t.Fatal(err)
	}
	c.Set(ir.RDI, dataBase+4)
	c.SetSym(ir.RSI, 4, e.Var("mode", 64))
	c.SetSym(ir.RDX, 0, e.Var("not an argument", 64))
	kinds := finish(t, m, st)
	if fmt.Sprint(kinds) != "[value value value]" || c.R[ir.RAX] != 0 || !c.Sym.Has(ir.RDX) || s.HasSym(dataBase, guest.PageSize) {
		t.Errorf("decided %v, returned %d, third argument symbolic %v", kinds, int64(c.R[ir.RAX]), c.Sym.Has(ir.RDX))
	}
	for i, d := range st.Decisions() {
		if want := []testcase.Hex{21, 4, '/'}[i]; d.Value != want || d.PC != codeBase {
			t.Errorf("decision %d: %#x at %#x, want %#x", i, d.Value, d.PC, want)
		}
	}
}
