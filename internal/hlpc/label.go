package hlpc

import (
	"encoding/binary"
	"fmt"
	"path/filepath"
	"strings"
	"unicode/utf8"

	"symchef/internal/interp"
)

// Label names a code object for people.
type Label struct {
	File, Name string
	Lines      []LineRange // in order of offsets
	// Numbered: an offset is the number of a line; there are no Lines.
	Numbered bool
}

// LineRange says that instructions from the end of the range before up to End, in bytes, are of Line; 0: of none.
type LineRange struct {
	End  uint32
	Line int
}

// Line is the line of the instruction at an offset; 0 if it is not known.
func (l *Label) Line(offset uint32) int {
	if l.Numbered {
		return int(offset)
	}
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
	file, _, more := strings.Cut(l.File, "\n")
	if file = filepath.Base(file); more { // a text that was compiled
		file += "..."
	}
	if n := l.Line(offset); n > 0 {
		file = fmt.Sprintf("%s:%d", file, n)
	}
	return strings.TrimSpace(file + " " + l.Name)
}

// labelOf reads a label from the parts of a code object's identity.
func labelOf(rule *interp.CodeRule, parts [][]byte) (l Label) {
	r := rule.Label
	part := func(n int) []byte {
		if n < 1 || n > len(parts) {
			return nil
		}
		return parts[n-1]
	}
	l.File, l.Name = textOf(part(r.File), part(r.FileLength)), textOf(part(r.Name), part(r.NameLength))
	first := make([]byte, 8)
	copy(first, part(r.Line))
	line := int(int32(binary.LittleEndian.Uint64(first)))
	switch r.Format {
	case interp.LinesEntries:
		l.Lines = entries(part(r.Lines[0]), line)
	case interp.LinesPairs:
		l.Lines = pairs(part(r.Lines[0]), uint32(len(part(r.Lines[1]))), line)
	case interp.LinesDifferences:
		l.Lines = differences(part(r.Lines[0]), part(r.Lines[1]), line)
	case interp.LinesWords:
		for b := part(r.Lines[0]); len(b) >= 4; b = b[4:] {
			l.Lines = through(l.Lines, 4, int(binary.LittleEndian.Uint32(b)))
		}
	case interp.LinesReferences:
		l.File, l.Lines = references(part(r.Lines[0]), rule.Objects.Text("index"))
	}
	return l
}

// textOf is b, UTF-8, or as many characters as length has, which are units of one width. A surrogate that stands alone for a byte
// (PEP 383) is that byte.
func textOf(b, length []byte) string {
	if len(length) != 8 || len(b) == 0 {
		return string(b)
	}
	width := uint64(len(b)) / max(binary.LittleEndian.Uint64(length), 1)
	if width != 1 && width != 2 && width != 4 {
		return string(b)
	}
	var out []byte
	unit := make([]byte, 4)
	for at := 0; at+int(width) <= len(b); at += int(width) {
		copy(unit, b[at:at+int(width)])
		c := rune(binary.LittleEndian.Uint32(unit))
		if c >= 0xdc80 && c <= 0xdcff {
			out = append(out, byte(c))
		} else {
			out = utf8.AppendRune(out, c)
		}
	}
	return string(out)
}

// through says that the instructions of the next size bytes are of a line.
func through(l []LineRange, size uint32, line int) []LineRange {
	if len(l) == 0 {
		return []LineRange{{size, line}}
	}
	last := &l[len(l)-1]
	if last.Line == line {
		last.End += size
		return l
	}
	return append(l, LineRange{last.End + size, line})
}

// differences has a byte for each instruction of 32 bits (as in Lua 5.4): the difference to the line before, or -128
// where the line stands among the absolute ones, pairs of instruction and line of 32 bits.
func differences(diffs, absolute []byte, line int) (out []LineRange) {
	at := map[int]int{}
	for ; len(absolute) >= 8; absolute = absolute[8:] {
		at[int(binary.LittleEndian.Uint32(absolute))] = int(binary.LittleEndian.Uint32(absolute[4:]))
	}
	for i, d := range diffs {
		if int8(d) == -128 {
			line = at[i]
		} else {
			line += int(int8(d))
		}
		out = through(out, 4, line)
	}
	return out
}

// pairs are, for so many bytes of code, a number of bytes and a signed number of lines each. They come in two forms. In the one (as in CPython up to 3.9)
// a pair says how far it is to where the next line begins. In the other (as in CPython 3.10) it says for how many bytes the line holds that it leads
// to, -128 that these are of no line; there the pairs cover all of the code, and in the first they never do.
func pairs(b []byte, size uint32, line int) (out []LineRange) {
	covered := uint32(0)
	for i := 0; i+1 < len(b); i += 2 {
		covered += uint32(b[i])
	}
	if covered == size {
		for ; len(b) >= 2; b = b[2:] {
			at := 0
			if d := int8(b[1]); d != -128 {
				line += int(d)
				at = line
			}
			if b[0] > 0 {
				out = through(out, uint32(b[0]), at)
			}
		}
		return out
	}
	for ; len(b) >= 2; b = b[2:] {
		if b[0] > 0 {
			out = through(out, uint32(b[0]), line)
			size -= min(uint32(b[0]), size)
		}
		line += int(int8(b[1]))
	}
	return through(out, size, line)
}

// entries are a byte 0x80 | kind<<3 | length-1 each, the length in code units of two bytes, and what the kind has: lines and columns
// (as in CPython since 3.11).
func entries(b []byte, line int) []LineRange {
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
		kind, before := b[0]>>3&15, end
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
		out = through(out, end-before, at)
	}
	return out
}
