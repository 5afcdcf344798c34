// Package ehframe reads the call frame information of an ELF file, which survives stripping: its functions, and how to get from
// the registers of one to those of its caller.
//
//	fns, err := ehframe.Functions(f)
//	fn := ehframe.Enclosing(fns, addr)
//
//	table, err := ehframe.Read(f)
//	for table.Caller(pc, &registers, read) { ... }
package ehframe

import (
	"bytes"
	"debug/elf"
	"encoding/binary"
	"errors"
	"io"
	"slices"
	"sort"
	"strings"
)

// Extent is the code of one function, [Lo, Hi), in link addresses.
type Extent struct{ Lo, Hi uint64 }

// maxFunction is more than a function has, in bytes: whoever asks for functions may read them.
const maxFunction = 1 << 26

// errFrames is a call frame table that cannot be read.
var errFrames = errors.New("ehframe: damaged .eh_frame")

// Pointer encodings of .eh_frame (LSB core specification, 10.5.1).
const (
	encAbs    = 0x00
	encU4     = 0x03
	encU8     = 0x04
	encS4     = 0x0b
	encS8     = 0x0c
	encPCRel  = 0x10
	encDatRel = 0x30
	encOmit   = 0xff
)

// Functions lists the functions of an ELF file by its call frame information, which
// survives stripping (LSB core specification, 10.6: .eh_frame, .eh_frame_hdr). Sorted.
func Functions(f *elf.File) ([]Extent, error) {
	t, err := Read(f)
	if err != nil {
		return nil, err
	}
	var out []Extent
	for _, e := range t {
		out = append(out, e.Extent)
	}
	return out, nil
}

// Table is the call frame information of an ELF file, sorted.
type Table []entry

// entry is what an FDE says of a function.
type entry struct {
	Extent
	common  *common
	program []byte
}

// common is what a CIE says of the functions that refer to it.
type common struct {
	code      uint64 // unit of addresses
	data      int64  // unit of offsets
	ra        uint64 // column of the return address
	encoding  byte   // of pointers
	augmented bool   // an FDE has augmentation data
	program   []byte
}

// Read reads the call frame information of f; without any the Table is empty.
func Read(f *elf.File) (out Table, err error) {
	frames, at, err := frameSection(f)
	if err != nil || frames == nil {
		return nil, err
	}
	commons := map[uint64]*common{} // by offset
	for off := uint64(0); off+4 <= uint64(len(frames)); {
		n := uint64(binary.LittleEndian.Uint32(frames[off:]))
		start := off + 4
		if n == 0 {
			break
		}
		if n == 0xffffffff || start+n > uint64(len(frames)) || n < 4 {
			return nil, errFrames
		}
		body := frames[start : start+n]
		id := uint64(binary.LittleEndian.Uint32(body))
		if id == 0 {
			if commons[off], err = readCommon(body[4:]); err != nil {
				return nil, err
			}
		} else if c, ok := commons[start-id]; ok {
			r := reader{body[4:], at + start + 4}
			lo, err1 := r.pointer(c.encoding)
			size, err2 := r.pointer(c.encoding & 0x0f) // a length: not relative to anything
			if err1 != nil || err2 != nil {
				return nil, errFrames
			}
			if c.augmented {
				r.skip(r.uleb())
			}
			if lo != 0 && size-1 < maxFunction {
				out = append(out, entry{Extent{lo, lo + size}, c, r.b})
			}
		}
		off = start + n
	}
	slices.SortFunc(out, func(a, b entry) int {
		if a.Lo < b.Lo {
			return -1
		}
		return 1
	})
	return out, nil
}

// frameSection returns .eh_frame and its link address: by the section headers, or
// without them by the pointer in the segment PT_GNU_EH_FRAME.
func frameSection(f *elf.File) ([]byte, uint64, error) {
	if s := f.Section(".eh_frame"); s != nil && s.Type != elf.SHT_NOBITS {
		b, err := s.Data()
		return b, s.Addr, err
	}
	for _, h := range f.Progs {
		if h.Type != elf.PT_GNU_EH_FRAME {
			continue
		}
		var hdr [12]byte
		if _, err := h.ReadAt(hdr[:], 0); err != nil {
			return nil, 0, err
		}
		r := reader{hdr[4:], h.Vaddr + 4}
		at, err := r.pointer(hdr[1])
		if err != nil {
			return nil, 0, err
		}
		for _, p := range f.Progs {
			if p.Type == elf.PT_LOAD && at >= p.Vaddr && at < p.Vaddr+p.Filesz {
				// The header may promise more than the file has.
				b, err := io.ReadAll(io.NewSectionReader(p, int64(at-p.Vaddr), int64(p.Vaddr+p.Filesz-at)))
				return b, at, err
			}
		}
	}
	return nil, 0, nil
}

// readCommon reads a CIE behind its identifier.
func readCommon(b []byte) (*common, error) {
	if len(b) < 2 {
		return nil, errFrames
	}
	end := bytes.IndexByte(b[1:], 0)
	if end < 0 {
		return nil, errFrames
	}
	aug := string(b[1 : 1+end])
	r := reader{b: b[end+2:]}
	c := &common{encoding: encAbs}
	c.code, c.data = r.uleb(), r.sleb()
	if b[0] == 1 {
		c.ra = uint64(r.byte())
	} else {
		c.ra = r.uleb()
	}
	if strings.HasPrefix(aug, "z") {
		c.augmented, aug = true, aug[1:]
		n := r.uleb()
		rest := r
		rest.skip(n)
		defer func() { c.program = rest.b }()
	}
	for _, letter := range aug {
		switch letter {
		case 'R':
			c.encoding = r.byte()
		case 'L':
			r.byte()
		case 'P':
			if _, err := r.pointer(r.byte()); err != nil {
				return nil, err
			}
		case 'S', 'B':
		default:
			return c, nil
		}
	}
	c.program = r.b
	return c, nil
}

// reader reads from b, whose first byte has link address at. Past the end it reads zeros.
type reader struct {
	b  []byte
	at uint64
}

func (r *reader) bytes(n int) []byte {
	out := make([]byte, n)
	k := copy(out, r.b)
	r.b, r.at = r.b[k:], r.at+uint64(n)
	return out
}

func (r *reader) byte() byte { return r.bytes(1)[0] }

// skip passes over n bytes, or all that there are.
func (r *reader) skip(n uint64) {
	n = min(n, uint64(len(r.b)))
	r.b, r.at = r.b[n:], r.at+n
}

// uleb is an unsigned LEB128 number.
func (r *reader) uleb() (v uint64) {
	v, _ = r.leb()
	return v
}

// sleb is a signed one.
func (r *reader) sleb() int64 {
	v, bits := r.leb()
	if bits < 64 && v>>(bits-1) != 0 {
		v |= ^uint64(0) << bits
	}
	return int64(v)
}

// leb is a LEB128 number and its size in bits, at least 7.
func (r *reader) leb() (v uint64, bits uint) {
	for {
		c := r.byte()
		if bits < 64 {
			v |= uint64(c&0x7f) << bits
		}
		bits += 7
		if c&0x80 == 0 {
			return v, bits
		}
	}
}

func (r *reader) pointer(enc byte) (uint64, error) {
	if enc == encOmit {
		return 0, nil
	}
	at, v := r.at, uint64(0)
	switch enc & 0x0f {
	case encS4:
		v = uint64(int64(int32(binary.LittleEndian.Uint32(r.bytes(4)))))
	case encU4:
		v = uint64(binary.LittleEndian.Uint32(r.bytes(4)))
	case encAbs, encU8, encS8:
		v = binary.LittleEndian.Uint64(r.bytes(8))
	default:
		return 0, errFrames
	}
	switch enc & 0x70 {
	case encAbs:
	case encPCRel:
		v += at
	default: // encDatRel and the like do not occur in FDEs
		return 0, errFrames
	}
	return v, nil
}

// Enclosing is the function that holds addr; the zero Extent if there is none.
func Enclosing(fs []Extent, addr uint64) Extent {
	i := sort.Search(len(fs), func(i int) bool { return fs[i].Lo > addr }) - 1
	if i < 0 || addr >= fs[i].Hi {
		return Extent{}
	}
	return fs[i]
}
