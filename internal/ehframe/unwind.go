package ehframe

import (
	"encoding/binary"
	"sort"
)

// Columns of registers (System V ABI for AMD64, figure 3.36).
const (
	ColumnRSP = 7
	ColumnRA  = 16 // the return address
	Columns   = 17
)

// Registers are those of a function: the values of the columns, as far as they are known.
type Registers struct {
	Value [Columns]uint64
	Known [Columns]bool
}

// Set makes the value of a column known.
func (r *Registers) Set(column int, v uint64) { r.Value[column], r.Known[column] = v, true }

// how a column of the caller is found.
type how uint8

const (
	same      how = iota // it has not changed
	undefined            // it is lost
	at                   // in memory, at the frame's address plus the offset
	equal                // the frame's address plus the offset
	other                // in the column whose number is the offset
)

// rule is how one column is found.
type rule struct {
	how    how
	offset int64
}

// row is what holds at one instruction: the frame's address, a column plus an offset, and a rule for each column.
type row struct {
	column uint64
	offset int64
	rules  [Columns]rule
}

// Operations of call frame programs (DWARF 5, section 7.24). The first three have an operand in their low six bits.
const (
	opAdvance         = 0x40
	opOffset          = 0x80
	opRestore         = 0xc0
	opNop             = 0x00
	opAdvance1        = 0x02
	opAdvance2        = 0x03
	opAdvance4        = 0x04
	opOffsetExtended  = 0x05
	opRestoreExtended = 0x06
	opUndefined       = 0x07
	opSame            = 0x08
	opRegister        = 0x09
	opRemember        = 0x0a
	opRestoreState    = 0x0b
	opDefCFA          = 0x0c
	opDefRegister     = 0x0d
	opDefOffset       = 0x0e
	opOffsetSigned    = 0x11
	opDefCFASigned    = 0x12
	opDefOffsetSigned = 0x13
	opValOffset       = 0x14
	opValOffsetSigned = 0x15
	opArgsSize        = 0x2e
)

// Caller replaces the registers of the function at pc, a link address, by those of its caller; read reads eight bytes of memory. It reports whether
// that could be done: not where the table says nothing of pc, or that there is no caller, or says it by an expression.
func (t Table) Caller(pc uint64, r *Registers, read func(addr uint64) (uint64, bool)) bool {
	e := t.entry(pc)
	if e == nil {
		return false
	}
	w, ok := e.at(pc)
	if !ok || w.column >= Columns || !r.Known[w.column] {
		return false
	}
	frame := r.Value[w.column] + uint64(w.offset)
	old := *r
	for c, x := range w.rules {
		v, known := old.Value[c], old.Known[c]
		switch x.how {
		case undefined:
			known = false
		case at:
			v, known = read(frame + uint64(x.offset))
		case equal:
			v, known = frame+uint64(x.offset), true
		case other:
			v, known = old.Value[x.offset], old.Known[x.offset]
		}
		r.Value[c], r.Known[c] = v, known
	}
	if w.rules[ColumnRSP] == (rule{}) {
		r.Set(ColumnRSP, frame)
	}
	if ra := e.common.ra; ra != ColumnRA || w.rules[ra].how == same {
		return false
	}
	return r.Known[ColumnRA]
}

// Function is the extent of the function that holds pc, a link address; the zero Extent if there is none.
func (t Table) Function(pc uint64) Extent {
	if e := t.entry(pc); e != nil {
		return e.Extent
	}
	return Extent{}
}

// entry is that of the function that holds pc; nil if there is none.
func (t Table) entry(pc uint64) *entry {
	i := sort.Search(len(t), func(i int) bool { return t[i].Lo > pc }) - 1
	if i < 0 || pc >= t[i].Hi {
		return nil
	}
	return &t[i]
}

// at is the row of e at pc.
func (e *entry) at(pc uint64) (w row, ok bool) {
	if !e.common.run(e.common.program, 0, 0, &w, row{}) {
		return w, false
	}
	return w, e.common.run(e.program, e.Lo, pc, &w, w)
}

// run executes a program for code that begins at loc as far as it is about pc; initial is what restoring restores.
func (c *common) run(program []byte, loc, pc uint64, w *row, initial row) bool {
	r := &runner{common: c, reader: reader{b: program}, row: w, initial: initial}
	for len(r.b) > 0 {
		op := r.byte()
		low := uint64(op & 0x3f)
		r.advance = 0
		ok := true
		switch op & 0xc0 {
		case opAdvance:
			r.advance = low
		case opOffset:
			ok = r.set(low, at, int64(r.uleb())*c.data)
		case opRestore:
			r.restore(low)
		default:
			do := instructions[op]
			ok = do != nil && do(r)
		}
		if loc += r.advance * c.code; !ok || r.advance > 0 && loc > pc {
			return ok
		}
	}
	return true
}

// runner is a program that runs.
type runner struct {
	*common
	reader
	*row
	initial row
	saved   []row
	advance uint64 // of the instruction that runs
}

// set gives column a rule; false where that is not supported.
func (r *runner) set(column uint64, how how, offset int64) bool {
	if column >= Columns {
		return how != other // one that nobody asks for
	}
	r.rules[column] = rule{how, offset}
	return true
}

func (r *runner) restore(column uint64) {
	if column < Columns {
		r.rules[column] = r.initial.rules[column]
	}
}

// instructions are those of one byte; what is not here, DW_CFA_set_loc and expressions, is not supported.
var instructions = map[byte]func(*runner) bool{
	opNop:      func(*runner) bool { return true },
	opAdvance1: func(r *runner) bool { r.advance = uint64(r.byte()); return true },
	opAdvance2: func(r *runner) bool { r.advance = uint64(binary.LittleEndian.Uint16(r.bytes(2))); return true },
	opAdvance4: func(r *runner) bool { r.advance = uint64(binary.LittleEndian.Uint32(r.bytes(4))); return true },

	opOffsetExtended:  func(r *runner) bool { return r.set(r.uleb(), at, int64(r.uleb())*r.data) },
	opOffsetSigned:    func(r *runner) bool { return r.set(r.uleb(), at, r.sleb()*r.data) },
	opValOffset:       func(r *runner) bool { return r.set(r.uleb(), equal, int64(r.uleb())*r.data) },
	opValOffsetSigned: func(r *runner) bool { return r.set(r.uleb(), equal, r.sleb()*r.data) },
	opRegister: func(r *runner) bool {
		column, from := r.uleb(), r.uleb()
		return from < Columns && r.set(column, other, int64(from))
	},
	opRestoreExtended: func(r *runner) bool { r.restore(r.uleb()); return true },
	opUndefined:       func(r *runner) bool { return r.set(r.uleb(), undefined, 0) },
	opSame:            func(r *runner) bool { return r.set(r.uleb(), same, 0) },

	opRemember: func(r *runner) bool { r.saved = append(r.saved, *r.row); return true },
	opRestoreState: func(r *runner) bool {
		last := len(r.saved) - 1
		if last < 0 {
			return false
		}
		*r.row, r.saved = r.saved[last], r.saved[:last]
		return true
	},

	opDefCFA:          func(r *runner) bool { r.column, r.offset = r.uleb(), int64(r.uleb()); return true },
	opDefCFASigned:    func(r *runner) bool { r.column, r.offset = r.uleb(), r.sleb()*r.data; return true },
	opDefRegister:     func(r *runner) bool { r.column = r.uleb(); return true },
	opDefOffset:       func(r *runner) bool { r.offset = int64(r.uleb()); return true },
	opDefOffsetSigned: func(r *runner) bool { r.offset = r.sleb() * r.data; return true },
	opArgsSize:        func(r *runner) bool { r.uleb(); return true },
}
