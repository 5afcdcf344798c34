package hlpc

import (
	"encoding/binary"
	"errors"
)

// Perl's operations lie in slabs, those of a function in slabs of its own (op.h of 5.36: struct opslab, struct opslot). A slab fills
// from its end. Sizes are in words of eight bytes.
const (
	perlSlabSize = 0x06 // before the first slot: of all slots
	perlSlabFree = 0x04 // the same: of those that are free, before those in use

	perlSlotSize     = 0x08 // before the operation
	perlSlotDistance = 0x06 // the same: from the first slot

	perlNext      = 0x00
	perlTarget    = 0x18 // index of a variable
	perlType      = 0x20 // two bytes
	perlLine      = 0x24 // of the first of a statement
	perlFile      = 0x30 // of the same
	perlMinusSlot = 0x08 // an operation less its slot

	perlTypeMask = 0x1ff
	perlSlabbed  = 0x400

	maxPerlAlone = 64 // operations outside slabs, one after the other
)

var errSlab = errors.New("not a slab of operations")

// perlReader reads Perl's operations into out.
type perlReader struct {
	fields
	out []byte
}

func (r *perlReader) add(v uint64) { r.out = binary.LittleEndian.AppendUint64(r.out, v) }

// perlOps is what tells the operations of a slab apart from those of others: their types and variables, and the lines and files of
// statements, which begin with an operation of a type. An operation outside of slabs has those that are executed next besides.
func perlOps(t *transcript, op, statement uint64) ([]byte, error) {
	r := &perlReader{fields: fields{t: t}}
	for n := 0; r.number(op+perlType, 2)&perlSlabbed == 0; n++ {
		if n == maxPerlAlone || r.err != nil {
			return nil, errors.Join(errSlab, r.err)
		}
		r.op(op, statement)
		op = r.number(op+perlNext, 8)
	}
	first := op - perlMinusSlot - 8*r.number(op-perlSlotDistance, 2)
	if len(r.out) > 0 {
		r.add(op - first)
	}
	at, end := first+8*r.number(first-perlSlabFree, 2), first+8*r.number(first-perlSlabSize, 2)
	for r.err == nil && at < end {
		op := at + perlMinusSlot
		size := r.number(op-perlSlotSize, 2)
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
func (r *perlReader) op(op, statement uint64) {
	kind := r.number(op+perlType, 2) & perlTypeMask
	r.add(kind)
	r.add(r.number(op+perlTarget, 8))
	if kind == statement {
		r.add(r.number(op+perlLine, 4))
		if file := r.number(op+perlFile, 8); r.err == nil {
			var text []byte
			text, r.err = r.t.text(file)
			r.out = append(append(r.out, text...), 0)
		}
	}
}
