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
func labelOf(r interp.LabelRule, parts [][]byte) (l Label) {
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
	case "pep657":
		l.Lines = pep657(part(r.Lines[0]), line)
	case "lnotab":
		l.Lines = lnotab(part(r.Lines[0]), uint32(len(part(r.Lines[1]))), line)
	case "lua54":
		l.Lines = lua54(part(r.Lines[0]), part(r.Lines[1]), line)
	case "words":
		for b := part(r.Lines[0]); len(b) >= 4; b = b[4:] {
			l.Lines = through(l.Lines, 4, int(binary.LittleEndian.Uint32(b)))
		}
	case "gnu-r":
		l.File, l.Lines = rLines(part(r.Lines[0]))
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

// lua54 decodes Lua 5.4's line information (ldebug.c): for each instruction the difference to the line before, or -128
// where the line stands among the absolute ones, pairs of instruction and line.
func lua54(diffs, absolute []byte, line int) (out []LineRange) {
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

// lnotab decodes the line table of CPython up to 3.10 (Objects/lnotab_notes.txt of its source) for so many bytes of code: pairs of a number of bytes and a
// signed number of lines. Up to 3.9 a pair says how far it is to where the next line begins. Since 3.10 it says for how many bytes the line holds that it leads
// to, -128 that these are of no line; then the pairs cover all of the code, and before they never do.
func lnotab(b []byte, size uint32, line int) (out []LineRange) {
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

// pep657 decodes CPython's location table since 3.11 (Objects/locations.md of its source): an entry is a byte
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
