package expr

import (
	"encoding/binary"
	"errors"
	"fmt"
)

// The serial form: magic, number of nodes, the nodes with operands before
// users, number of roots, the roots. Numbers are unsigned varints. A node is
// its kind and
//
//	Const             width value
//	Var               width length-of-name name
//	Extract           width low-bit A
//	ZExt, SExt        width A
//	float kinds       width environment, operands
//	Select            width table A; table is 0 and length, entries where it is new, else n for the n-th
//	all others        their operands
//
// An operand is how many nodes back it is. A root is the node's position + 1,
// 0 for no expression. Nodes stand in the order of a depth-first walk from the
// roots, so the bytes depend on the structure of the roots only.
const magic = "symx1\n"

// Marshal serialises roots. Two Ctxs give the same bytes for the same
// expressions, whatever else they hold and in whatever order it was built.
func (c *Ctx) Marshal(roots []Ref) []byte {
	pos := map[Ref]uint64{}
	tables := map[uint32]uint64{}
	var body []byte
	put := func(v uint64) { body = binary.AppendUvarint(body, v) }
	c.postorder(roots, func(r Ref) {
		n := c.at(r)
		at := uint64(len(pos))
		body = append(body, byte(n.kind))
		switch n.kind {
		case Const:
			put(uint64(n.width))
			put(uint64(n.a) | uint64(n.b)<<32)
		case Var:
			put(uint64(n.width))
			put(uint64(len(c.vars[n.a].name)))
			body = append(body, c.vars[n.a].name...)
		case Extract, FAdd, FSub, FMul, FDiv, FSqrt, FFromI, FToI, FCvt:
			put(uint64(n.width))
			put(uint64(n.aux))
		case ZExt, SExt:
			put(uint64(n.width))
		case Select:
			put(uint64(n.width))
			known, ok := tables[n.b]
			put(known)
			if !ok {
				tables[n.b] = uint64(len(tables)) + 1
				put(uint64(len(c.tables[n.b].vals)))
				for _, v := range c.tables[n.b].vals {
					put(v)
				}
			}
		}
		for i := range kinds[n.kind].Arity {
			put(at - pos[c.operand(r, i)])
		}
		pos[r] = at
	})
	data := binary.AppendUvarint([]byte(magic), uint64(len(pos)))
	data = append(data, body...)
	data = binary.AppendUvarint(data, uint64(len(roots)))
	for _, r := range roots {
		at := uint64(0)
		if r != 0 {
			at = pos[r] + 1
		}
		data = binary.AppendUvarint(data, at)
	}
	return data
}

var errCorrupt = errors.New("expr: corrupt serial form")

// reader consumes a serial form; after the first error it yields zeros.
type reader struct {
	data []byte
	bad  bool
}

func (r *reader) num() uint64 {
	v, n := binary.Uvarint(r.data)
	if n <= 0 {
		r.bad, r.data = true, nil
		return 0
	}
	r.data = r.data[n:]
	return v
}

func (r *reader) bytes(n uint64) []byte {
	if n > uint64(len(r.data)) {
		r.bad, r.data = true, nil
		return nil
	}
	b := r.data[:n]
	r.data = r.data[n:]
	return b
}

// width reads a width between least and 64.
func (r *reader) width(least uint) uint {
	w := r.num()
	if w < uint64(max(least, 1)) || w > 64 {
		r.bad = true
		return 64
	}
	return uint(w)
}

// Unmarshal builds the expressions Marshal serialised in c. Every byte is
// checked: data may come from anywhere. Nodes pass through the constructors,
// which leave normal forms as they are.
func Unmarshal(c *Ctx, data []byte) ([]Ref, error) {
	if len(data) < len(magic) || string(data[:len(magic)]) != magic {
		return nil, errors.New("expr: not a serial form")
	}
	r := &reader{data: data[len(magic):]}
	var nodes []Ref
	var tables [][]uint64
	for range r.num() {
		n, err := c.readNode(r, nodes, &tables)
		if err != nil {
			return nil, err
		}
		nodes = append(nodes, n)
	}
	var roots []Ref
	for range r.num() {
		at := r.num()
		if r.bad || at > uint64(len(nodes)) {
			return nil, errCorrupt
		}
		root := Ref(0)
		if at > 0 {
			root = nodes[at-1]
		}
		roots = append(roots, root)
	}
	if r.bad || len(r.data) != 0 {
		return nil, errCorrupt
	}
	return roots, nil
}

func (c *Ctx) readNode(r *reader, nodes []Ref, tables *[][]uint64) (Ref, error) {
	head := r.bytes(1)
	if r.bad {
		return 0, errCorrupt
	}
	k := Kind(head[0])
	if k == Invalid || k >= NumKinds {
		return 0, fmt.Errorf("expr: no kind %d", k)
	}
	var w uint
	var lo uint64
	var vals []uint64
	switch k {
	case Const:
		return c.readConst(r)
	case Var:
		return c.readVar(r)
	case Extract, FAdd, FSub, FMul, FDiv, FSqrt, FFromI, FToI, FCvt:
		w, lo = r.width(1), r.num()
	case ZExt, SExt:
		w = r.width(1)
	case Select:
		w = r.width(1)
		if vals = r.table(w, tables); r.bad {
			return 0, errCorrupt
		}
	}
	var x [3]Ref
	for i := range kinds[k].Arity {
		back := r.num()
		if r.bad || back == 0 || back > uint64(len(nodes)) {
			return 0, errCorrupt
		}
		x[i] = nodes[uint64(len(nodes))-back]
	}
	if !c.wellFormed(k, x, w, lo) {
		return 0, errCorrupt
	}
	return c.construct(k, x, w, lo, vals), nil
}

func (c *Ctx) readConst(r *reader) (Ref, error) {
	w := r.width(1)
	v := r.num()
	if r.bad || v > Mask(w) {
		return 0, errCorrupt
	}
	return c.Const(v, w), nil
}

func (c *Ctx) readVar(r *reader) (Ref, error) {
	w := r.width(1)
	name := string(r.bytes(r.num()))
	if r.bad {
		return 0, errCorrupt
	}
	if v, ok := c.byName[name]; ok && c.VarWidth(v) != w {
		return 0, fmt.Errorf("expr: variable %q has width %d, not %d", name, c.VarWidth(v), w)
	}
	return c.Var(name, w), nil
}

// construct makes a well-formed node of kind k through its constructor, which simplifies it.
func (c *Ctx) construct(k Kind, x [3]Ref, w uint, lo uint64, vals []uint64) Ref {
	switch k {
	case Not, Neg:
		return c.unary(k, x[0])
	case Ite:
		return c.Ite(x[0], x[1], x[2])
	case Concat:
		return c.Concat(x[0], x[1])
	case Extract:
		return c.Extract(x[0], uint(lo), w)
	case ZExt, SExt:
		return c.extend(k, x[0], w)
	case Select:
		return c.Select(vals, x[0], w)
	}
	if k.IsFloat() {
		return c.float(k, Env(lo), x[0], x[1], w)
	}
	return c.binary(k, x[0], x[1])
}

// table reads the table of a Select.
func (r *reader) table(w uint, tables *[][]uint64) []uint64 {
	if at := r.num(); at != 0 {
		if r.bad || at > uint64(len(*tables)) {
			r.bad = true
			return nil
		}
		return (*tables)[at-1]
	}
	n := r.num()
	if n > uint64(len(r.data)) { // an entry takes a byte at least
		r.bad = true
		return nil
	}
	vals := make([]uint64, n)
	for i := range vals {
		vals[i] = r.num()
		r.bad = r.bad || vals[i] > Mask(w)
	}
	*tables = append(*tables, vals)
	return vals
}

// wellFormed reports whether the constructor of k takes these operands.
func (c *Ctx) wellFormed(k Kind, x [3]Ref, w uint, lo uint64) bool {
	switch k {
	case Not, Neg, Select:
		return true
	case Ite:
		return c.Width(x[0]) == 1 && c.Width(x[1]) == c.Width(x[2])
	case Concat:
		return c.Width(x[0])+c.Width(x[1]) <= 64
	case Extract:
		return lo < 64 && uint(lo)+w <= c.Width(x[0])
	case ZExt, SExt:
		return w >= c.Width(x[0])
	}
	if k.IsFloat() {
		return lo < numEnvs && c.floatWidths(k, x[0], x[1], w)
	}
	return c.Width(x[0]) == c.Width(x[1])
}
