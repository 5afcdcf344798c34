package hlpc

import (
	"encoding/binary"
	"fmt"
	"path/filepath"

	"symchef/internal/interp"
)

// Label names a code object for people.
type Label struct {
	File, Name string
	Lines      []LineRange // in order of offsets
}

// LineRange says that instructions from the end of the range before up to End, in bytes, are of Line; 0: of none.
type LineRange struct {
	End  uint32
	Line int
}

// Line is the line of the instruction at an offset; 0 if it is not known.
func (l *Label) Line(offset uint32) int {
	for _, r := range l.Lines {
		if offset < r.End {
			return r.Line
		}
	}
	return 0
}

// At names an instruction: FILE:LINE NAME, as far as they are known; empty if nothing is.
func (l *Label) At(offset uint32) string {
	if l.File == "" && l.Name == "" {
		return ""
	}
	if n := l.Line(offset); n > 0 {
		return fmt.Sprintf("%s:%d %s", filepath.Base(l.File), n, l.Name)
	}
	return filepath.Base(l.File) + " " + l.Name
}

// labelOf reads a label from the parts of a code object's identity.
func labelOf(r interp.LabelRule, parts [][]byte) (l Label) {
	part := func(n int) []byte {
		if n < 1 || n > len(parts) {
			return nil
		}
		return parts[n-1]
	}
	l.File, l.Name = string(part(r.File)), string(part(r.Name))
	first := make([]byte, 8)
	copy(first, part(r.Line))
	if r.Format == "pep657" {
		l.Lines = pep657(part(r.Lines), int(int32(binary.LittleEndian.Uint64(first))))
	}
	return l
}

// pep657 decodes CPython 3.11's location table (Objects/locations.md of its source): an entry is a byte
// 0x80 | kind<<3 | length-1, the length in code units of two bytes, and what its kind has.
func pep657(b []byte, line int) []LineRange {
	var out []LineRange
	end := uint32(0)
	number := func() (v int) { // little-endian, six bits to a byte, 0x40 says that more follow
		for shift := 0; len(b) > 0 && shift < 30; shift += 6 {
			c := b[0]
			b = b[1:]
			v |= int(c&0x3f) << shift
			if c&0x40 == 0 {
				break
			}
		}
		return v
	}
	signed := func() int {
		v := number()
		if v&1 != 0 {
			return -(v >> 1)
		}
		return v >> 1
	}
	skip := func(n int) { b = b[min(n, len(b)):] }
	for len(b) > 0 {
		kind := b[0] >> 3 & 15
		end += 2 * (uint32(b[0]&7) + 1)
		b = b[1:]
		at := 0
		switch {
		case kind < 10: // columns only
			skip(1)
			at = line
		case kind < 13: // the same line or one of the next two, and columns
			line += int(kind) - 10
			skip(2)
			at = line
		case kind == 13: // no columns
			line += signed()
			at = line
		case kind == 14: // all of it
			line += signed()
			number()
			number()
			number()
			at = line
		}
		if n := len(out); n > 0 && out[n-1].Line == at {
			out[n-1].End = end
		} else {
			out = append(out, LineRange{end, at})
		}
	}
	return out
}
