package session

import (
	"cmp"
	"debug/dwarf"
	"debug/elf"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"

	"symchef/internal/ehframe"
	"symchef/internal/high"
	"symchef/internal/loader"
)

// places name the instructions of an ELF file, as well as it lets them: by source line and function (DWARF), by function (symbols), or by offset.
type places struct {
	base    string // of the file's name
	file    *elf.File
	symbols []elf.Symbol // functions, in order of addresses
	data    *dwarf.Data  // nil: there are no lines
	lines   []dwarf.LineEntry
	table   ehframe.Table
	entry   ehframe.Extent // the code where the file begins, which is nobody's
	known   map[uint64]high.Location
	stacks  map[uint64][]place // those that were asked for
	at      uint64             // where the file is loaded
}

// place is where an instruction is.
type place struct {
	file     string // empty: no line is known
	line     int
	function string // empty: not known
	offset   uint64 // in the function, or of it in the file
}

// String is FILE:LINE:FUNCTION; without a line, as backtrace_symbols(3) has it, MODULE(FUNCTION+OFFSET).
func (p *places) String(at place) string {
	if at.file != "" {
		return fmt.Sprintf("%s:%d:%s", at.file, at.line, at.function)
	}
	return fmt.Sprintf("%s(%s+%#x)", p.base, at.function, at.offset)
}

// newPlaces reads what f says of its instructions; path is its name.
func newPlaces(f *elf.File, path string) *places {
	p := &places{base: filepath.Base(path), file: f, known: map[uint64]high.Location{}, stacks: map[uint64][]place{}}
	for _, list := range []func() ([]elf.Symbol, error){f.Symbols, f.DynamicSymbols} {
		if all, _ := list(); p.symbols == nil {
			for _, s := range all {
				if elf.ST_TYPE(s.Info) == elf.STT_FUNC && s.Size > 0 && s.Section != elf.SHN_UNDEF {
					p.symbols = append(p.symbols, s)
				}
			}
		}
	}
	slices.SortStableFunc(p.symbols, func(a, b elf.Symbol) int { return cmp.Compare(a.Value, b.Value) })
	p.table, _ = ehframe.Read(f)
	p.entry = p.table.Function(f.Entry)
	if data, err := f.DWARF(); err == nil {
		if p.lines = lineTable(data); p.lines != nil {
			p.data = data
		}
	}
	return p
}

// programPlaces are those of a program as the machine loads it; of what is no ELF file, they know nothing.
func programPlaces(path string) (*places, error) {
	b, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer b.Close()
	f, err := elf.NewFile(b)
	if err != nil {
		return &places{base: filepath.Base(path), known: map[uint64]high.Location{}}, nil
	}
	p := newPlaces(f, path)
	if f.Type == elf.ET_DYN {
		p.at = loader.PIEBase
	}
	return p, nil
}

// lineTable is the line table of all units.
func lineTable(data *dwarf.Data) (out []dwarf.LineEntry) {
	for units := data.Reader(); ; {
		unit, err := units.Next()
		if unit == nil || err != nil {
			break
		}
		if lines, err := data.LineReader(unit); err == nil && lines != nil {
			var e dwarf.LineEntry
			for err = lines.Next(&e); err == nil; err = lines.Next(&e) {
				out = append(out, e)
			}
			if !errors.Is(err, io.EOF) {
				return nil
			}
		}
		units.SkipChildren()
	}
	slices.SortStableFunc(out, func(a, b dwarf.LineEntry) int { return cmp.Compare(a.Address, b.Address) })
	return out
}

// location is the instruction at pc, for the tree.
func (p *places) location(pc uint64) high.Location {
	if l, ok := p.known[pc]; ok {
		return l
	}
	l := high.Location{Source: fmt.Sprintf("%#x", pc)}
	switch at := p.symbol(pc - p.at); {
	case at.function == "" && p.holds(at.offset):
		l.Source = fmt.Sprintf("%s+%#x", p.base, at.offset)
	case at.function == "":
	case p.line(pc-p.at, &at):
		l.File, l.Line = at.file, at.line
		l.Source = fmt.Sprintf("%s:%d %s", filepath.Base(at.file), at.line, at.function)
	default:
		l.Source = fmt.Sprintf("%s:%s+%#x", p.base, at.function, at.offset)
	}
	p.known[pc] = l
	return l
}

// holds reports whether the file is loaded at pc, a link address.
func (p *places) holds(pc uint64) bool {
	return p.file != nil && slices.ContainsFunc(p.file.Progs, func(h *elf.Prog) bool { return h.Type == elf.PT_LOAD && h.Vaddr <= pc && pc < h.Vaddr+h.Memsz })
}

// symbol is the function at pc, a link address, as the symbols tell it.
func (p *places) symbol(pc uint64) place {
	i, exact := slices.BinarySearchFunc(p.symbols, pc, func(s elf.Symbol, pc uint64) int { return cmp.Compare(s.Value, pc) })
	if !exact {
		i--
	}
	for ; i >= 0; i-- { // those that begin there, too
		if s := p.symbols[i]; pc < s.Value+s.Size {
			return place{function: s.Name, offset: pc - s.Value}
		} else if i > 0 && p.symbols[i-1].Value != s.Value {
			break
		}
	}
	return place{offset: pc}
}

// line sets file and line of at, which is at pc, if they are known.
func (p *places) line(pc uint64, at *place) bool {
	i, exact := slices.BinarySearchFunc(p.lines, pc, func(e dwarf.LineEntry, pc uint64) int { return cmp.Compare(e.Address, pc) })
	if !exact {
		i--
	}
	for i > 0 && i < len(p.lines)-1 && p.lines[i+1].Address == pc { // the last one there holds
		i++
	}
	if i < 0 || i >= len(p.lines) || p.lines[i].EndSequence || p.lines[i].File == nil || p.lines[i].Line <= 0 {
		return false
	}
	at.file, at.line = p.lines[i].File.Name, p.lines[i].Line
	return true
}

// stack is where pc is, a link address: in its function, and, where that was inlined, in those that it was inlined in; innermost first.
func (p *places) stack(pc uint64) []place {
	out, known := p.stacks[pc]
	if !known {
		out = p.readStack(pc)
		p.stacks[pc] = out
	}
	return out
}

func (p *places) readStack(pc uint64) []place {
	at := p.symbol(pc)
	if !p.line(pc, &at) {
		return []place{at}
	}
	out := []place{at}
	nested := p.nested(pc)
	for i := len(nested) - 1; i >= 0; i-- { // the innermost first
		last := &out[len(out)-1]
		if name := p.name(nested[i]); name != "" {
			last.function = name
		}
		file, line, ok := p.call(nested[i])
		if i == 0 || !ok {
			break
		}
		out = append(out, place{file: file, line: line, function: at.function})
	}
	return out
}

// nested are the DWARF entries of the function that holds pc and of those that are inlined there, outermost first.
func (p *places) nested(pc uint64) (out []*dwarf.Entry) {
	r := p.data.Reader()
	unit, err := r.SeekPC(pc)
	if err != nil || unit == nil {
		return nil
	}
	for depth := 1; depth > 0; {
		e, err := r.Next()
		if err != nil || e == nil {
			return out
		}
		if e.Tag == 0 {
			depth--
			continue
		}
		function := e.Tag == dwarf.TagSubprogram || e.Tag == dwarf.TagInlinedSubroutine
		inside := !function && (e.Tag == dwarf.TagLexDwarfBlock || e.Tag == dwarf.TagNamespace)
		if function {
			ranges, _ := p.data.Ranges(e)
			inside = slices.ContainsFunc(ranges, func(x [2]uint64) bool { return pc >= x[0] && pc < x[1] })
		}
		switch {
		case function && inside:
			out = append(out, e)
			fallthrough
		case inside:
			if e.Children {
				depth++
			}
		case e.Children:
			r.SkipChildren()
		}
	}
	return out
}

// name is that of a function's entry, or of the one that it is an instance of.
func (p *places) name(e *dwarf.Entry) string {
	for range 4 {
		if name, ok := e.Val(dwarf.AttrName).(string); ok {
			return name
		}
		of, ok := e.Val(dwarf.AttrAbstractOrigin).(dwarf.Offset)
		if !ok {
			if of, ok = e.Val(dwarf.AttrSpecification).(dwarf.Offset); !ok {
				break
			}
		}
		r := p.data.Reader()
		r.Seek(of)
		next, err := r.Next()
		if err != nil || next == nil {
			break
		}
		e = next
	}
	return ""
}

// call is where an inlined function was called.
func (p *places) call(e *dwarf.Entry) (file string, line int, ok bool) {
	n, ok1 := e.Val(dwarf.AttrCallLine).(int64)
	i, ok2 := e.Val(dwarf.AttrCallFile).(int64)
	if !ok1 || !ok2 {
		return "", 0, false
	}
	unit := p.unit(e.Offset)
	if unit == nil {
		return "", 0, false
	}
	lines, err := p.data.LineReader(unit)
	if err != nil || lines == nil {
		return "", 0, false
	}
	files := lines.Files()
	if i < 0 || i >= int64(len(files)) || files[i] == nil {
		return "", 0, false
	}
	return files[i].Name, int(n), true
}

// unit is the compile unit that holds the entry at offset.
func (p *places) unit(offset dwarf.Offset) (unit *dwarf.Entry) {
	for r := p.data.Reader(); ; r.SkipChildren() {
		e, err := r.Next()
		if err != nil || e == nil || e.Offset > offset {
			return unit
		}
		unit = e
	}
}
