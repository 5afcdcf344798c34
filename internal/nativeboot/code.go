package nativeboot

import (
	"bytes"
	"debug/elf"
	"maps"
	"runtime"
	"sync"
	"weak"

	"golang.org/x/arch/x86/x86asm"
	"golang.org/x/sys/unix"

	"symchef/internal/ehframe"
	"symchef/internal/guest"
	"symchef/internal/lift"
	"symchef/internal/mem"
)

// breakKind is why an instruction has a breakpoint.
type breakKind uint8

const (
	depends breakKind = iota // its result depends on the processor: the run ends there
	cpuid
	timestamp // RDTSC or RDTSCP, where it does not fault
	extended  // XGETBV, XSAVE or XRSTOR, which depend on what other parts of a state the host has: with AVX they are done in the machine's way
	entry     // the program's first instruction
	hook
)

// breakpoint is an instruction whose first byte is replaced.
type breakpoint struct {
	kind   breakKind
	was    byte
	length uint64 // of the instruction, in bytes
}

// Instructions that trap.
const (
	int3 = 0xcc
	int1 = 0xf1
)

// watch says what is looked for besides what always is.
type watch struct {
	tsc bool // RDTSC, which does not fault here
	avx bool // what a processor with AVX has
}

// candidate reports whether the opcode of an instruction whose result depends on the processor may begin b: CPUID, XGETBV, RDRAND, RDSEED,
// RDPID (SDM vol. 2); where w says so also RDTSC and RDTSCP and XSAVE and XRSTOR.
func candidate(b []byte, w watch) bool {
	if len(b) < 2 || b[0] != 0x0f {
		return false
	}
	switch b[1] {
	case 0xa2:
		return true
	case 0x31:
		return w.tsc
	case 0x01:
		return len(b) > 2 && (b[2] == 0xd0 || w.tsc && b[2] == 0xf9)
	case 0xae:
		return w.avx && len(b) > 2 && b[2] < 0xc0 && (b[2]>>3&7 == 4 || b[2]>>3&7 == 5)
	case 0xc7:
		return len(b) > 2 && b[2] >= 0xf0
	}
	return false
}

// kinds are the instructions that candidates may be.
var kinds = map[x86asm.Op]breakKind{x86asm.CPUID: cpuid, x86asm.XGETBV: extended, x86asm.XSAVE: extended, x86asm.XSAVE64: extended,
	x86asm.XRSTOR: extended, x86asm.XRSTOR64: extended, x86asm.RDRAND: depends, x86asm.RDTSC: timestamp, x86asm.RDTSCP: timestamp}

// guard puts breakpoints into [start, end) of area a, which has none, if it is executable natively. Pages where it is
// not known what is code are made not executable.
func (p *process) guard(a *mem.Area, start, end uint64, prot guest.Prot) {
	if hostProt(a, prot)&unix.PROT_EXEC == 0 {
		return
	}
	// What is behind the end of the file is no file's either.
	if inFile := a.Start + guest.PageUp(max(uint64(len(a.Back.Data)), a.Off)-a.Off); inFile < end {
		from := max(start, inFile)
		if _, err := p.invoke(unix.SYS_MPROTECT, from, end-from, unix.PROT_READ); err != nil {
			p.fail(err)
		}
		end = from
	}
	if uint64(cap(p.text)) < end-start {
		p.text = make([]byte, end-start)
	}
	text := p.text[:end-start]
	if _, err := p.mem.ReadAt(text, int64(start)); err != nil {
		p.fail(err)
		return
	}
	for _, s := range p.suspects(a, start, text) {
		at := start + s.off
		if s.length == 0 {
			p.bar(guest.PageDown(at), guest.PageDown(at+2)+guest.PageSize)
		} else {
			p.set3(at, breakpoint{s.kind, text[s.off], s.length})
		}
	}
}

// suspect is an instruction of some kind, or bytes that may be of one.
type suspect struct {
	off    uint64 // in the text
	kind   breakKind
	length uint64 // in bytes; 0: it is not known what is code
}

// suspects returns those of text, which stands from start on in area a. Where that is what the file has, they are remembered.
func (p *process) suspects(a *mem.Area, start uint64, text []byte) []suspect {
	off := start - a.Start + a.Off
	n := uint64(len(text))
	if a.Back == nil || off+n > uint64(len(a.Back.Data)) || !bytes.Equal(text, a.Back.Data[off:off+n]) {
		return p.look(a, start, text)
	}
	f := p.functions(a.Back)
	f.mu.Lock()
	defer f.mu.Unlock()
	id := part{off, n, p.watch}
	list, known := f.suspects[id]
	if !known {
		list = p.look(a, start, text)
		f.suspects[id] = list
	}
	return list
}

// look finds the suspects of text, which stands from start on in area a.
func (p *process) look(a *mem.Area, start uint64, text []byte) (list []suspect) {
	for i := 0; i < len(text); i++ {
		n := bytes.IndexByte(text[i:], 0x0f)
		if n < 0 {
			break
		}
		if i += n; !candidate(text[i:], p.watch) {
			continue
		}
		at, op, length := p.instruction(a, start, text, start+uint64(i))
		if kind, ok := kinds[op]; ok || length == 0 {
			list = append(list, suspect{at - start, kind, length})
		}
	}
	return list
}

// instruction returns the instruction that holds the byte at addr; length 0 if it is not known. text is what stands from start on in
// area a.
func (p *process) instruction(a *mem.Area, start uint64, text []byte, addr uint64) (at uint64, op x86asm.Op, length uint64) {
	f := p.functions(a.Back)
	link, ok := f.link(addr - a.Start + a.Off)
	if !ok {
		return addr, 0, 0
	}
	fn := ehframe.Enclosing(f.list, link)
	if fn == (ehframe.Extent{}) || link-fn.Lo > addr-start {
		return addr, 0, 0
	}
	at = addr - (link - fn.Lo)
	for {
		op, n := lift.Op(text[at-start:])
		if n == 0 {
			return addr, 0, 0
		}
		if at+uint64(n) > addr {
			return at, op, uint64(n)
		}
		at += uint64(n)
	}
}

// functions are those of an ELF file. It is safe for concurrent use.
type functions struct {
	list  []ehframe.Extent
	progs []*elf.Prog

	mu       sync.Mutex
	suspects map[part][]suspect
}

// part is what stands somewhere in a file.
type part struct {
	off, size uint64 // in bytes
	watch     watch
}

// analysed are the files whose functions are known, by content: several processes of a run map the same ones.
var analysed struct {
	sync.Mutex
	of map[weak.Pointer[mem.Backing]]*functions
}

// functions returns those of b; none if it is not an ELF file.
func (p *process) functions(b *mem.Backing) *functions {
	if b == nil {
		return &functions{}
	}
	analysed.Lock()
	defer analysed.Unlock()
	w := weak.Make(b)
	f := analysed.of[w]
	if f == nil {
		f = functionsOf(b)
		if analysed.of == nil {
			analysed.of = map[weak.Pointer[mem.Backing]]*functions{}
		}
		analysed.of[w] = f
		runtime.AddCleanup(b, func(w weak.Pointer[mem.Backing]) {
			analysed.Lock()
			defer analysed.Unlock()
			delete(analysed.of, w)
		}, w)
	}
	return f
}

func functionsOf(b *mem.Backing) *functions {
	f := &functions{suspects: map[part][]suspect{}}
	file, err := elf.NewFile(bytes.NewReader(b.Data))
	if err != nil {
		return f
	}
	if list, err := ehframe.Functions(file); err == nil {
		f.list, f.progs = list, file.Progs
	}
	return f
}

// link returns the link address of an offset in the file.
func (f *functions) link(off uint64) (uint64, bool) {
	for _, g := range f.progs {
		if g.Type == elf.PT_LOAD && off >= g.Off && off < g.Off+g.Filesz {
			return off - g.Off + g.Vaddr, true
		}
	}
	return 0, false
}

// set3 sets a breakpoint.
func (p *process) set3(at uint64, k breakpoint) {
	p.breaks[at] = k
	p.Write(at, []byte{int3})
}

// breakAt sets a breakpoint, if code is there.
func (p *process) breakAt(at uint64, kind breakKind) {
	a := p.space.Find(at)
	var was [1]byte
	if a != nil && hostProt(a, a.Prot)&unix.PROT_EXEC != 0 && p.space.Fetch(at, was[:]) == 1 {
		p.set3(at, breakpoint{kind: kind, was: was[0]})
	}
}

// bar makes pages not executable.
func (p *process) bar(start, end uint64) {
	for ; start < end; start += guest.PageSize {
		p.bars[start] = true
		if _, err := p.invoke(unix.SYS_MPROTECT, start, guest.PageSize, unix.PROT_READ); err != nil {
			p.fail(err)
		}
	}
}

// walk makes a page with a bar executable, one instruction at a time, in place of the one that was; 0: none.
func (p *process) walk(page uint64) {
	old := p.walking
	p.walking = page
	if p.bars[old] {
		p.bar(old, old+guest.PageSize)
	}
	if page != 0 {
		if _, err := p.invoke(unix.SYS_MPROTECT, page, guest.PageSize, unix.PROT_READ|unix.PROT_EXEC); err != nil {
			p.fail(err)
		}
	}
}

// restore removes the breakpoints and bars in [start, end).
func (p *process) restore(start, end uint64) {
	for at, k := range p.breaks {
		if start <= at && at < end {
			p.Write(at, []byte{k.was})
		}
	}
	p.forget(start, end)
}

// forget is restore where the memory is gone.
func (p *process) forget(start, end uint64) {
	maps.DeleteFunc(p.breaks, func(at uint64, _ breakpoint) bool { return start <= at && at < end })
	maps.DeleteFunc(p.bars, func(at uint64, _ bool) bool { return start <= at && at < end })
}

// original puts the bytes that breakpoints have replaced into b, which was read at addr.
func (p *process) original(addr uint64, b []byte) {
	for at, k := range p.breaks {
		if at >= addr && at-addr < uint64(len(b)) {
			b[at-addr] = k.was
		}
	}
}
