package session

import (
	"bytes"
	"debug/elf"
	"fmt"
	"slices"

	"symchef/internal/cpu"
	"symchef/internal/ehframe"
	"symchef/internal/ir"
	"symchef/internal/mem"
)

// maxDepth bounds how many frames of a program are looked at.
const maxDepth = 256

// maxTold bounds how many of them a test case has.
const maxTold = 64

// columns are the registers in the order of call frame tables.
var columns = [16]ir.Slot{ir.RAX, ir.RDX, ir.RCX, ir.RBX, ir.RSI, ir.RDI, ir.RBP, ir.RSP, ir.R8, ir.R9, ir.R10, ir.R11, ir.R12, ir.R13, ir.R14, ir.R15}

// modules are the ELF files that are mapped, by name; nil: it is none.
type modules map[string]*places

// of is the file that area shows, and where it is loaded.
func (ms modules) of(a *mem.Area) (*places, uint64) {
	if a == nil || a.Back == nil {
		return nil, 0
	}
	p, known := ms[a.Name]
	if !known {
		if f, err := elf.NewFile(bytes.NewReader(a.Back.Data)); err == nil {
			p = newPlaces(f, a.Name)
		}
		ms[a.Name] = p
	}
	if p == nil {
		return nil, 0
	}
	for _, h := range p.file.Progs {
		if h.Type == elf.PT_LOAD && h.Off&^0xfff <= a.Off && a.Off < h.Off+h.Filesz {
			return p, a.Start - (h.Vaddr + a.Off - h.Off)
		}
	}
	return nil, 0
}

// frame is one of a program that has stopped.
type frame struct {
	module *places // nil: the code is in no file
	place
}

// backtrace are the frames of a program that has stopped with registers c, those of the user's code alone, outermost first, as far as they
// can be told from what does not depend on an input. exe is the program's file.
//
// The user's code is what has lines; if nothing has, it is the program's file; if that is on no frame, it is all.
func (ms modules) backtrace(s *mem.Space, c *cpu.CPU, exe string) (out []string) {
	frames := ms.frames(s, c)
	mine := func(f frame) bool { return f.file != "" }
	if !slices.ContainsFunc(frames, mine) {
		mine = func(f frame) bool { return f.module != nil && f.module == ms[exe] }
	}
	all := !slices.ContainsFunc(frames, mine)
	for _, f := range frames {
		switch {
		case !all && !mine(f):
		case f.module != nil:
			out = append(out, f.module.String(f.place))
		default:
			out = append(out, fmt.Sprintf("%#x", f.offset))
		}
	}
	slices.Reverse(out)
	return out[max(0, len(out)-maxTold):]
}

// frames are all of them, innermost first, without the code at the entry of a file.
func (ms modules) frames(s *mem.Space, c *cpu.CPU) (out []frame) {
	read := func(addr uint64) (uint64, bool) {
		v, err := s.ReadU(addr, 8)
		return v, err == nil && !s.HasSym(addr, 8)
	}
	var r ehframe.Registers
	for column, slot := range columns {
		if !c.Sym.Has(slot) {
			r.Set(column, c.R[slot])
		}
	}
	pc, called := c.PC, false
	for range maxDepth {
		link := pc
		if called {
			link-- // in the call, behind which nothing need be
		}
		p, bias := ms.of(s.Find(link))
		if p == nil {
			out = append(out, frame{place: place{offset: pc}})
			if called { // no code
				return out[:len(out)-1]
			}
			// A call of what is no code: the return address is where it was put.
			if pc, called = read(r.Value[ehframe.ColumnRSP]); !called {
				return out
			}
			r.Value[ehframe.ColumnRSP] += 8
			continue
		}
		link -= bias
		if link < p.entry.Lo || link >= p.entry.Hi {
			for _, at := range p.stack(link) {
				out = append(out, frame{p, at})
			}
		}
		if !p.table.Caller(link, &r, read) {
			break
		}
		pc, called = r.Value[ehframe.ColumnRA], true
	}
	return out
}
