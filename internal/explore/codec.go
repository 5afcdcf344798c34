package explore

import (
	"encoding/binary"
	"errors"
	"slices"

	"symchef/internal/exec"
	"symchef/internal/search"
)

// A frontier may hold millions of candidates and is written every few seconds, so it has a form of its own on disk, about a fourth of gob's
// size and a tenth of its time: numbers are varints, those that repeat stand once, an entry mostly follows its parent.
//
//	entries  n, n × (distance to the parent, number of kind and PC, value)
//	bounds   n, n × (distance to the parent, of, lo, hi)
//	vars     n, n × (width, length of the name, name)
//	models   n, n × (length, values)
//	jobs     n, n × (last - last of the job before, bound + 1, model + 1, number of its kind of place, dynamic, stack, chain, ran, turns, used, tries, n, n × excluded)
//	learned  n, n × (static, at, picked, fresh, cost)
//	longest
//
// What has a number is described where the number comes first: it is the next one then.

// site is what entries have in common, fork what places have.
type (
	site struct {
		kind exec.DecisionKind
		pc   uint64
	}
	fork struct{ pc, arm, static, opcode, line uint64 }
)

// AppendBinary appends the form on disk.
func (f *Frontier) AppendBinary(b []byte) ([]byte, error) {
	b = slices.Grow(b, 12*len(f.Entries)+24*len(f.Bounds)+48*len(f.Jobs))
	b = binary.AppendUvarint(b, uint64(len(f.Entries)))
	sites := map[site]uint64{}
	for i, e := range f.Entries {
		b = binary.AppendUvarint(b, uint64(i-e.Parent))
		at := site{e.Kind, e.PC}
		n, known := sites[at]
		if !known {
			n = uint64(len(sites))
			sites[at] = n
		}
		if b = binary.AppendUvarint(b, n); !known {
			b = binary.AppendUvarint(b, uint64(e.Kind))
			b = binary.AppendUvarint(b, e.PC)
		}
		b = binary.AppendUvarint(b, e.Value)
	}
	b = binary.AppendUvarint(b, uint64(len(f.Bounds)))
	for i, x := range f.Bounds {
		b = binary.AppendUvarint(b, uint64(i-x.Parent))
		b = binary.LittleEndian.AppendUint64(b, x.Of)
		b = binary.AppendUvarint(b, x.Lo)
		b = binary.AppendUvarint(b, x.Hi)
	}
	b = binary.AppendUvarint(b, uint64(len(f.Vars)))
	for _, v := range f.Vars {
		b = append(b, v.Width)
		b = binary.AppendUvarint(b, uint64(len(v.Name)))
		b = append(b, v.Name...)
	}
	b = binary.AppendUvarint(b, uint64(len(f.Models)))
	for _, m := range f.Models {
		b = binary.AppendUvarint(b, uint64(len(m)))
		b = append(b, m...)
	}
	b = binary.AppendUvarint(b, uint64(len(f.Jobs)))
	forks := map[fork]uint64{}
	last := 0
	for i := range f.Jobs {
		j := &f.Jobs[i]
		b = binary.AppendVarint(b, int64(j.Last-last))
		last = j.Last
		b = binary.AppendUvarint(b, uint64(j.Bound+1))
		b = binary.AppendUvarint(b, uint64(j.Model+1))
		p := &j.Place
		at := fork{p.PC, p.Arm, p.Static, p.Opcode, p.Line}
		n, known := forks[at]
		if !known {
			n = uint64(len(forks))
			forks[at] = n
		}
		if b = binary.AppendUvarint(b, n); !known {
			for _, v := range []uint64{at.pc, at.arm, at.static, at.opcode, at.line} {
				b = binary.LittleEndian.AppendUint64(b, v)
			}
		}
		b = binary.LittleEndian.AppendUint64(b, p.Dynamic)
		b = binary.LittleEndian.AppendUint64(b, p.Stack)
		b = binary.AppendUvarint(b, p.Chain)
		b = binary.AppendUvarint(b, j.Ran)
		b = binary.AppendVarint(b, int64(j.Turns))
		b = binary.AppendUvarint(b, j.Used)
		b = binary.AppendVarint(b, int64(j.Tries))
		b = binary.AppendUvarint(b, uint64(len(j.Excl)))
		for _, v := range j.Excl {
			b = binary.AppendUvarint(b, v)
		}
	}
	b = binary.AppendUvarint(b, uint64(len(f.Learned)))
	for _, y := range f.Learned {
		b = binary.LittleEndian.AppendUint64(b, y.Static)
		b = binary.LittleEndian.AppendUint64(b, y.At)
		for _, v := range []float64{y.Picked, y.Fresh, y.Cost} {
			b, _ = binary.Append(b, binary.LittleEndian, v)
		}
	}
	b = binary.AppendUvarint(b, f.Longest)
	return b, nil
}

var errShort = errors.New("a frontier is damaged")

// reader takes numbers from the left; after a failure all are 0.
type reader struct {
	b   []byte
	bad bool
}

func (r *reader) num() uint64 {
	v, n := binary.Uvarint(r.b)
	if n <= 0 {
		r.b, r.bad = nil, true
		return 0
	}
	r.b = r.b[n:]
	return v
}

func (r *reader) signed() int {
	v, n := binary.Varint(r.b)
	if n <= 0 {
		r.b, r.bad = nil, true
		return 0
	}
	r.b = r.b[n:]
	return int(v)
}

func (r *reader) bytes(n uint64) []byte {
	if n > uint64(len(r.b)) {
		r.b, r.bad = nil, true
		return make([]byte, min(n, 8))
	}
	out := r.b[:n]
	r.b = r.b[n:]
	return out
}

func (r *reader) whole() uint64 { return binary.LittleEndian.Uint64(r.bytes(8)) }

// count is how many things follow, of at least size bytes each.
func (r *reader) count(size int) int {
	n := r.num()
	if n > uint64(len(r.b)/size) {
		r.b, r.bad = nil, true
		return 0
	}
	return int(n)
}

// ReadFrontier reads what AppendBinary has made from the beginning of b, and returns the rest.
func ReadFrontier(b []byte) (f Frontier, rest []byte, err error) {
	r := &reader{b: b}
	f.Entries = make([]FrontierEntry, r.count(3))
	var sites []site
	for i := range f.Entries {
		e := &f.Entries[i]
		e.Parent = i - int(r.num())
		n := r.num()
		if n == uint64(len(sites)) {
			sites = append(sites, site{exec.DecisionKind(r.num()), r.num()})
		}
		if n >= uint64(len(sites)) {
			return f, nil, errShort
		}
		e.Kind, e.PC, e.Value = sites[n].kind, sites[n].pc, r.num()
	}
	f.Bounds = make([]FrontierBound, r.count(11))
	for i := range f.Bounds {
		f.Bounds[i] = FrontierBound{Parent: i - int(r.num()), Of: r.whole(), Lo: r.num(), Hi: r.num()}
	}
	f.Vars = make([]Var, r.count(2))
	for i := range f.Vars {
		width := r.bytes(1)[0]
		f.Vars[i] = Var{string(r.bytes(r.num())), width}
	}
	f.Models = make([][]byte, r.count(1))
	for i := range f.Models {
		f.Models[i] = append([]byte{}, r.bytes(r.num())...)
	}
	f.Jobs = make([]Job, r.count(26))
	var forks []fork
	last := 0
	for i := range f.Jobs {
		j := &f.Jobs[i]
		last += r.signed()
		j.Last, j.Bound, j.Model = last, int(r.num())-1, int(r.num())-1
		n := r.num()
		if n == uint64(len(forks)) {
			forks = append(forks, fork{r.whole(), r.whole(), r.whole(), r.whole(), r.whole()})
		}
		if n >= uint64(len(forks)) {
			return f, nil, errShort
		}
		at := forks[n]
		j.Place = search.Place{PC: at.pc, Arm: at.arm, Static: at.static, Opcode: at.opcode, Line: at.line, Dynamic: r.whole(), Stack: r.whole(), Chain: r.num()}
		j.Ran, j.Turns, j.Used, j.Tries = r.num(), r.signed(), r.num(), r.signed()
		if n := r.count(1); n > 0 {
			j.Excl = make([]uint64, n)
			for k := range j.Excl {
				j.Excl[k] = r.num()
			}
		}
	}
	f.Learned = make([]search.Yield, r.count(40))
	for i := range f.Learned {
		y := search.Yield{Static: r.whole(), At: r.whole()}
		for _, v := range []*float64{&y.Picked, &y.Fresh, &y.Cost} {
			if _, err := binary.Decode(r.bytes(8), binary.LittleEndian, v); err != nil {
				return f, nil, errShort
			}
		}
		f.Learned[i] = y
	}
	f.Longest = r.num()
	if r.bad {
		return f, nil, errShort
	}
	return f, r.b, f.check()
}

// check says whether numbers in f are of what there is.
func (f *Frontier) check() error {
	for i, e := range f.Entries {
		if e.Parent < -1 || e.Parent >= i {
			return errFrontier
		}
	}
	for i, b := range f.Bounds {
		if b.Parent < -1 || b.Parent >= i {
			return errFrontier
		}
	}
	for _, v := range f.Vars {
		if v.Width < 1 || v.Width > 64 {
			return errFrontier
		}
	}
	for _, j := range f.Jobs {
		if j.Last < -1 || j.Last >= len(f.Entries) || j.Bound < -1 || j.Bound >= len(f.Bounds) || j.Model < -1 || j.Model >= len(f.Models) {
			return errFrontier
		}
	}
	return nil
}
