package probe

import (
	"debug/elf"
	"errors"
	"fmt"

	"symchef/internal/cpu"
	"symchef/internal/exec"
	"symchef/internal/expr"
	"symchef/internal/ir"
	"symchef/internal/kernel"
	"symchef/internal/loader"
	"symchef/internal/mem"
)

// Process is a program in the machine that stands at the entry of a function, in whose place others are called.
type Process struct {
	m   *exec.Machine
	sys *kernel.System
	// Limit is how many instructions a call may take.
	Limit uint64

	values expr.Assignment // of symbolic bytes
	facts  *exec.Facts     // about them; nil: none was asked for
}

const (
	startLimit  = 1_000_000_000 // instructions, to where a process stops
	callLimit   = 100_000_000
	returned    = 0xff0 // where calls return to: nothing is mapped there
	redZone     = 128   // below the stack pointer (System V ABI for AMD64, 3.2.2)
	callPadding = 64
)

// ErrLong is in the error of a call that did not end within its limit.
var ErrLong = errors.New("it does not end")

// Start runs a program to its entry point, or where it is linked statically to main: its libraries are relocated, or their own start has run, and
// nothing of its own.
func Start(cfg kernel.Config) (*Process, error) {
	f, err := elf.Open(cfg.Path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	entry := f.Entry
	if libs, _ := f.ImportedLibraries(); len(libs) == 0 {
		syms, _ := f.Symbols() // there may be none
		for _, s := range syms {
			if s.Name == "main" && elf.ST_BIND(s.Info) == elf.STB_GLOBAL && s.Section != elf.SHN_UNDEF {
				entry = s.Value
			}
		}
	}
	if f.Type == elf.ET_DYN {
		entry += loader.PIEBase
	}
	sys, err := kernel.Boot(cfg)
	if err != nil {
		return nil, err
	}
	p := &Process{m: newMachine(), sys: sys, Limit: callLimit}
	return p, p.RunTo(entry)
}

// newMachine is a machine that stops where calls return to.
func newMachine() *exec.Machine {
	m := exec.New(expr.New())
	m.Hooks[returned] = func(*exec.Machine, *cpu.CPU, *mem.Space) (bool, *exec.Stop) { return false, &exec.Stop{Kind: exec.Met} }
	return m
}

// RunTo lets the program go on to the entry of a function.
func (p *Process) RunTo(fn uint64) error {
	_, err := p.came(p.m.Seek(p.sys, &exec.Facts{}, startLimit, fn, func() bool { return true }))
	return err
}

func (p *Process) came(stop exec.Stop) (uint64, error) {
	switch stop.Kind {
	case exec.Met:
		return p.Register(ir.RAX), nil
	case exec.Budget:
		return 0, ErrLong
	case exec.Exited:
		if st := p.sys.ExitStatus(); st.Signal != 0 {
			return 0, fmt.Errorf("signal %d: %s", st.Signal, p.m.LastFault)
		}
		return 0, fmt.Errorf("the program ended")
	case exec.Unsupported:
		return 0, errors.New(stop.What)
	}
	return 0, fmt.Errorf("the machine stopped (%d)", stop.Kind)
}

// Fork returns a copy: what is called there changes nothing here.
func (p *Process) Fork() *Process {
	return &Process{m: p.m, sys: p.sys.Fork(), Limit: p.Limit}
}

// Register is the value of a register.
func (p *Process) Register(r ir.Slot) uint64 { return p.sys.Current().CPU.R[r] }

// arguments are the registers of integer arguments (System V ABI for AMD64, 3.2.3).
var arguments = [6]ir.Slot{ir.RDI, ir.RSI, ir.RDX, ir.RCX, ir.R8, ir.R9}

// Call calls a function with integers and returns its result. The process is as it was but for what the function did to memory and files.
func (p *Process) Call(fn uint64, args ...uint64) (uint64, error) {
	return p.call(fn, args, p.run)
}

// Watch is Call that tells where each block of code starts, the function's own first.
func (p *Process) Watch(visit func(pc uint64), fn uint64, args ...uint64) (uint64, error) {
	return p.call(fn, args, func() exec.Stop { return p.m.Visit(p.sys, &exec.Facts{}, p.Limit, visit) })
}

func (p *Process) call(fn uint64, args []uint64, run func() exec.Stop) (uint64, error) {
	c := &p.sys.Current().CPU
	was := *c
	sp := (c.R[ir.RSP]-redZone-callPadding)&^15 - 8
	if err := p.Write(sp, returned, 8); err != nil {
		return 0, err
	}
	for i, v := range args {
		c.Set(arguments[i], v)
	}
	c.Set(ir.RSP, sp)
	c.Set(ir.RAX, 0) // no vector registers hold arguments
	c.PC = fn
	v, err := p.came(run())
	if err == nil {
		p.sys.Current().CPU = was
	}
	return v, err
}
