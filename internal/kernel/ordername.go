package kernel

import (
	"bytes"
	"cmp"
	"debug/dwarf"
	"debug/elf"
	"fmt"
	"path/filepath"
	"slices"
	"sync"

	"golang.org/x/arch/x86/x86asm"

	"symchef/internal/mem"
)

// String names the step: a call and its object; an instruction by file and offset, and by function and line where the file says them.
func (p site) String() string {
	if p.call != "" {
		return fmt.Sprintf("%s (task %d)", p.call, p.tid)
	}
	if p.back == nil {
		return fmt.Sprintf("the code at %#x (task %d)", p.pc, p.tid)
	}
	text := codeAt(p.back, p.off)
	if p.caller != nil {
		text += " called at " + codeAt(p.caller, p.from-1)
	}
	return fmt.Sprintf("%s (task %d)", text, p.tid)
}

// codeAt names a place in a file.
func codeAt(back *mem.Backing, off uint64) string {
	text := fmt.Sprintf("%s+%#x", filepath.Base(back.Name), off)
	f, err := elf.NewFile(bytes.NewReader(back.Data))
	if err != nil {
		return text
	}
	addr := off
	for _, h := range f.Progs {
		if h.Type == elf.PT_LOAD && off >= h.Off && off < h.Off+h.Filesz {
			addr = off - h.Off + h.Vaddr
		}
	}
	if name := functionAt(f, addr); name != "" {
		text += " " + name
	}
	if line := lineAt(f, addr); line != "" {
		text += " " + line
	}
	return text
}

// asking are the C library's functions that tell what another thread does at that time, or change that: what they access by an atomic
// instruction, or of a thread, is not theirs alone.
var asking = []string{"pthread_tryjoin_np", "pthread_cancel", "pthread_kill", "pthread_sigqueue", "pthread_getattr_np", "ftrylockfile", "_IO_ftrylockfile"}

var asks sync.Map // *mem.Backing: [][2]uint64, where these functions are

// asking is how many of the n bytes of code at p are of such a function.
func (s *System) asking(p site, n uint64) (k uint64) {
	at, ok := asks.Load(p.back)
	if !ok {
		var ranges [][2]uint64
		if f, err := elf.NewFile(bytes.NewReader(p.back.Data)); err == nil {
			all, _ := f.DynamicSymbols()
			for _, x := range all {
				if slices.Contains(asking, x.Name) && x.Section != elf.SHN_UNDEF {
					off := offsetOf(f, x.Value)
					ranges = append(ranges, [2]uint64{off, off + x.Size})
				}
			}
			slices.SortFunc(ranges, func(a, b [2]uint64) int { return cmp.Compare(a[0], b[0]) })
			ranges = slices.Compact(ranges) // some have two names
		}
		at, _ = asks.LoadOrStore(p.back, ranges)
	}
	for _, r := range at.([][2]uint64) {
		if lo, hi := max(p.off, r[0]), min(p.off+n, r[1]); lo < hi {
			k += hi - lo
		}
	}
	return k
}

// offsetOf is where the file has what it loads at addr.
func offsetOf(f *elf.File, addr uint64) uint64 {
	for _, h := range f.Progs {
		if h.Type == elf.PT_LOAD && addr >= h.Vaddr && addr < h.Vaddr+h.Filesz {
			return addr - h.Vaddr + h.Off
		}
	}
	return addr
}

// functionAt is the symbol that holds an address; "" if there is none.
func functionAt(f *elf.File, addr uint64) string {
	all, _ := f.Symbols()
	more, _ := f.DynamicSymbols()
	for _, s := range append(all, more...) {
		if elf.ST_TYPE(s.Info) == elf.STT_FUNC && s.Section != elf.SHN_UNDEF && addr >= s.Value && addr < s.Value+s.Size {
			return s.Name
		}
	}
	return ""
}

// lineAt is FILE:LINE of an address; "" if that is not known.
func lineAt(f *elf.File, addr uint64) string {
	d, err := f.DWARF()
	if err != nil {
		return ""
	}
	for r := d.Reader(); ; {
		unit, err := r.Next()
		if unit == nil || err != nil {
			return ""
		}
		if unit.Tag == dwarf.TagCompileUnit {
			if lines, err := d.LineReader(unit); err == nil && lines != nil {
				var e dwarf.LineEntry
				if lines.SeekPC(addr, &e) == nil {
					return fmt.Sprintf("%s:%d", filepath.Base(e.File.Name), e.Line)
				}
			}
		}
		r.SkipChildren()
	}
}

// instructions are those at pc, up to a few.
func (s *System) instructions(pc uint64) (out []x86asm.Inst) {
	var buf [120]byte
	code := buf[:s.cur.proc.Mem.Fetch(pc, buf[:])]
	for len(code) > 0 && len(out) < 8 {
		a, err := x86asm.Decode(code, 64)
		if err != nil {
			break
		}
		out, code = append(out, a), code[a.Len:]
	}
	return out
}

// plain: the instruction at pc is neither locked nor an exchange; to tell needs no decoder.
func (s *System) plain(pc uint64) bool {
	var buf [15]byte
	for _, b := range buf[:s.cur.proc.Mem.Fetch(pc, buf[:])] {
		switch b {
		case 0x26, 0x2e, 0x36, 0x3e, 0x64, 0x65, 0x66, 0x67, 0xf2, 0xf3: // prefixes
		case 0xf0, 0x86, 0x87: // LOCK, XCHG
			return false
		default:
			if b&0xf0 != 0x40 { // REX
				return true
			}
		}
	}
	return false
}

// atomic: the instruction at pc has a LOCK prefix, or is an exchange with memory, which locks by itself (SDM vol. 2, XCHG).
func (s *System) atomic(pc uint64) bool {
	l := s.instructions(pc)
	return len(l) > 0 && (locked(l[0]) || l[0].Op == x86asm.XCHG)
}

func locked(a x86asm.Inst) bool {
	return slices.ContainsFunc(a.Prefix[:], func(p x86asm.Prefix) bool { return p&0xff == 0xf0 })
}

// adds: the instruction at pc adds atomically, and nothing looks at the flags that it makes: others make new ones, or a function begins or ends, which
// hands none over.
func (s *System) adds(pc uint64) bool {
	l := s.instructions(pc)
	if len(l) == 0 || !locked(l[0]) {
		return false
	}
	switch l[0].Op {
	case x86asm.ADD, x86asm.SUB, x86asm.INC, x86asm.DEC:
	default:
		return false
	}
	for _, a := range l[1:] {
		switch a.Op {
		case x86asm.ADD, x86asm.SUB, x86asm.CMP, x86asm.TEST, x86asm.XOR, x86asm.AND, x86asm.OR, x86asm.RET, x86asm.CALL:
			return true
		case x86asm.MOV, x86asm.MOVZX, x86asm.MOVSXD, x86asm.LEA, x86asm.NOP, x86asm.PUSH, x86asm.POP, x86asm.LEAVE:
		default:
			return false
		}
	}
	return false
}
