package hlpc

import (
	"encoding/binary"
	"errors"

	"symchef/internal/interp"
)

// maxAlone bounds the operations outside slabs, one after the other.
const maxAlone = 64

var errSlab = errors.New("not a slab of operations")

// slabReader reads operations that lie in slots of slabs (as in Perl) into out. A slab fills from its end. Sizes are in words of eight bytes.
type slabReader struct {
	fields
	as  *interp.Structure
	out []byte
}

func (r *slabReader) add(v uint64) { r.out = binary.LittleEndian.AppendUint64(r.out, v) }

// slabOf is what tells the operations of a slab apart from those of others: their types and variables, and the lines and files of
// statements, which begin with an operation of a type. An operation outside of slabs has those that are executed next besides.
func slabOf(t *transcript, as *interp.Structure, op, statement uint64) ([]byte, error) {
	r := &slabReader{fields: fields{t: t}, as: as}
	for n := 0; r.number(op+as.N("type"), 2)&as.N("in-slab") == 0; n++ {
		if n == maxAlone || r.err != nil {
			return nil, errors.Join(errSlab, r.err)
		}
		r.op(op, statement)
		op = r.number(op+as.N("next"), 8)
	}
	first := op - as.N("operation") - 8*r.number(op-as.N("distance"), 2)
	if len(r.out) > 0 {
		r.add(op - first)
	}
	at, end := first+8*r.number(first-as.N("free"), 2), first+8*r.number(first-as.N("slots"), 2)
	for r.err == nil && at < end {
		op := at + as.N("operation")
		size := r.number(op-as.N("size"), 2)
		if size == 0 {
			return nil, errSlab
		}
		r.op(op, statement)
		at += 8 * size
	}
	if r.err == nil && at != end {
		return nil, errSlab
	}
	return r.out, r.err
}

// op adds an operation.
func (r *slabReader) op(op, statement uint64) {
	kind := r.number(op+r.as.N("type"), 2) & r.as.N("type-bits")
	r.add(kind)
	r.add(r.number(op+r.as.N("variable"), 8))
	if kind == statement {
		r.add(r.number(op+r.as.N("line"), 4))
		if file := r.number(op+r.as.N("file"), 8); r.err == nil {
			var text []byte
			text, r.err = r.t.text(file)
			r.out = append(append(r.out, text...), 0)
		}
	}
}
