package loader

import (
	"debug/elf"
	"encoding/binary"
	"strings"

	"symchef/internal/guest"
	"symchef/internal/mem"
)

const (
	ehdrSize = 64 // Elf64_Ehdr, elf(5)
	phdrSize = 56 // Elf64_Phdr
)

// segment is a program header.
type segment struct {
	kind, flags                     uint32
	off, vaddr, filesz, memsz, algn uint64
}

// object is a parsed ELF file.
type object struct {
	path   string
	file   *mem.Backing
	segs   []segment
	dyn    bool // ET_DYN: may be placed anywhere
	entry  uint64
	interp string
	lo, hi uint64 // link addresses spanned by PT_LOAD
	phdr   uint64 // link address of the program headers
}

// parse checks and reads the headers of an x86-64 executable. debug/elf would
// read section headers too, which a loader must not depend on.
func parse(path string, f *mem.Backing) (*object, error) {
	d := f.Data
	if len(d) < ehdrSize || string(d[:4]) != elf.ELFMAG {
		return nil, bad(path, "not an ELF program")
	}
	le := binary.LittleEndian
	machine := elf.Machine(le.Uint16(d[18:]))
	if d[4] != byte(elf.ELFCLASS64) || d[5] != byte(elf.ELFDATA2LSB) || machine != elf.EM_X86_64 {
		return nil, bad(path, "not an x86-64 program (%s, %s)", elf.Class(d[4]), machine)
	}
	o := &object{path: path, file: f, entry: le.Uint64(d[24:]), lo: ^uint64(0)}
	switch t := elf.Type(le.Uint16(d[16:])); t {
	case elf.ET_EXEC:
	case elf.ET_DYN:
		o.dyn = true
	default:
		return nil, bad(path, "not an executable ELF file (%s)", t)
	}
	phoff, n := le.Uint64(d[32:]), uint64(le.Uint16(d[56:]))
	size := uint64(len(d))
	if le.Uint16(d[54:]) != phdrSize || n == 0 || phoff > size || n*phdrSize > size-phoff {
		return nil, bad(path, "damaged ELF file: program headers")
	}
	for i := range n {
		h := d[phoff+i*phdrSize:]
		s := segment{
			kind: le.Uint32(h), flags: le.Uint32(h[4:]), off: le.Uint64(h[8:]), vaddr: le.Uint64(h[16:]),
			filesz: le.Uint64(h[32:]), memsz: le.Uint64(h[40:]), algn: le.Uint64(h[48:]),
		}
		if what := o.add(s, phoff); what != "" {
			return nil, bad(path, "damaged ELF file: %s %d", what, i)
		}
	}
	if o.hi == 0 {
		return nil, bad(path, "damaged ELF file: nothing to load")
	}
	return o, nil
}

// add adds segment s, and says which kind of segment it is if it is damaged. phoff is where the program headers are in the file.
func (o *object) add(s segment, phoff uint64) (damaged string) {
	o.segs = append(o.segs, s)
	size := uint64(len(o.file.Data))
	inside := s.off <= size && s.filesz <= size-s.off
	switch elf.ProgType(s.kind) {
	case elf.PT_LOAD:
		if !inside || s.memsz < s.filesz || s.vaddr >= guest.AddrLimit || s.memsz > guest.AddrLimit-s.vaddr || (s.vaddr-s.off)%guest.PageSize != 0 {
			return "segment"
		}
		if s.memsz == 0 {
			return ""
		}
		o.lo, o.hi = min(o.lo, s.vaddr), max(o.hi, s.vaddr+s.memsz)
		if s.off <= phoff && phoff < s.off+s.filesz {
			o.phdr = s.vaddr + (phoff - s.off)
		}
	case elf.PT_INTERP:
		if !inside || s.filesz < 2 || s.filesz > 4096 {
			return "interpreter, segment"
		}
		o.interp, _, _ = strings.Cut(string(o.file.Data[s.off:s.off+s.filesz]), "\x00")
	}
	return ""
}

func prot(flags uint32) guest.Prot {
	var p guest.Prot
	f := elf.ProgFlag(flags)
	if f&elf.PF_R != 0 {
		p |= guest.ProtRead
	}
	if f&elf.PF_W != 0 {
		p |= guest.ProtWrite
	}
	if f&elf.PF_X != 0 {
		p |= guest.ProtExec
	}
	return p
}

// mapInto maps the PT_LOAD segments with base added to their addresses.
func (o *object) mapInto(s *mem.Space, base uint64) error {
	for _, g := range o.segs {
		if elf.ProgType(g.kind) != elf.PT_LOAD || g.memsz == 0 {
			continue
		}
		addr := g.vaddr + base
		from, end := guest.PageDown(addr), guest.PageUp(addr+g.memsz)
		fileEnd := from
		if g.filesz > 0 {
			fileEnd = guest.PageUp(addr + g.filesz)
			if err := s.Map(from, fileEnd-from, prot(g.flags), o.file, guest.PageDown(g.off), o.path); err != nil {
				return bad(o.path, "cannot be mapped: %v", err)
			}
			// bss starts within the last page of the file part (padzero in binfmt_elf.c).
			if tail := addr + g.filesz; g.memsz > g.filesz && tail < fileEnd {
				if err := s.Poke(tail, make([]byte, fileEnd-tail)); err != nil {
					return bad(o.path, "cannot be mapped: %v", err)
				}
			}
		}
		if fileEnd < end {
			if err := s.Map(fileEnd, end-fileEnd, prot(g.flags), nil, 0, ""); err != nil {
				return bad(o.path, "cannot be mapped: %v", err)
			}
		}
	}
	return nil
}
