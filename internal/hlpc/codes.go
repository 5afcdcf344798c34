package hlpc

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"slices"

	"symchef/internal/interp"
	"symchef/internal/mem"
)

// codes finds the code objects that an interpreter executes. One that was found is not read again as long as memory holds what it was
// read from: its digest and label are a function of that alone.
type codes struct {
	rule     *interp.CodeRule
	function *Function // of the interpreter

	reader mem.Reader
	known  map[uint64]*codeObject // by address
}

// codeObject is one that was found, and what it was read from.
type codeObject struct {
	Code
	label Label
	told  bool // to a Tracer's OnCode
	from  []mem.Piece

	address, bias uint64

	gen     uint64 // of an exec.Machine's guards, since when it was found so often, and whether from is guarded
	found   int
	guarded bool
}

const (
	maxIdentity = 1 << 20 // bytes that a part of an identity has, at most
	maxRead     = 1 << 22 // bytes that are read for an identity, at most: a guest's lists may have no end
	maxCodes    = 1 << 16 // code objects that are remembered, at most
)

var (
	errIdentity = errors.New("the identity of a code object is too long")
	errStep     = errors.New("operands of texts are no bytes apart")
)

// at is the code object at address that holds pc, where the interpreter's module lies bias above its own addresses; nil if there is none.
func (c *codes) at(address, pc, bias uint64) *codeObject {
	o := c.known[address]
	if o == nil || o.bias != bias || !c.reader.Holds(o.from) {
		if o = c.read(address, pc, bias); o == nil {
			return nil
		}
		if c.known == nil || len(c.known) == maxCodes {
			c.known = map[uint64]*codeObject{}
		}
		c.known[address] = o
	}
	if pc-o.Start >= o.Size {
		return nil
	}
	return o
}

// read reads the code object that should hold pc.
func (c *codes) read(address, pc, bias uint64) *codeObject {
	t := &transcript{Reader: &c.reader}
	at := interp.Roots{Object: address}
	start, err1 := c.rule.Start.Eval(at, t.ReadU)
	size, err2 := c.rule.Size.Eval(at, t.ReadU)
	if err1 != nil || err2 != nil || pc-start >= size {
		return nil
	}
	h := sha256.New()
	var parts [][]byte
	for _, p := range c.rule.Identity {
		b, err := c.part(t, p, at, bias)
		if err != nil {
			return nil
		}
		h.Write(binary.LittleEndian.AppendUint64(nil, uint64(len(b))))
		h.Write(b)
		parts = append(parts, b)
	}
	return &codeObject{Code: Code{Digest: Digest(h.Sum(nil)[:len(Digest{})]), Start: start, Size: size}, label: labelOf(c.rule, parts), address: address, bias: bias, from: t.pieces()}
}

// part reads a part of the identity.
func (c *codes) part(t *transcript, p interp.Part, at interp.Roots, bias uint64) ([]byte, error) {
	var args [3]uint64
	for i := range p.Args {
		v, err := p.Args[i].Eval(at, t.ReadU)
		if err != nil {
			return nil, err
		}
		args[i] = v
	}
	switch p.Kind {
	case interp.PartConstants:
		return constants(t, c.rule.Objects, args[0])
	case interp.PartSlab:
		return slabOf(t, c.rule.Slabs, args[0], args[1])
	}
	if args[1] > maxIdentity {
		return nil, errIdentity
	}
	b := make([]byte, args[1])
	if err := t.Read(args[0], b); err != nil {
		return nil, err
	}
	switch p.Kind {
	case interp.PartWords:
		for w := b; len(w) >= 8; w = w[8:] {
			if v := binary.LittleEndian.Uint64(w) - bias; v >= c.function.Offset && v < c.function.End {
				binary.LittleEndian.PutUint64(w, v)
			}
		}
	case interp.PartTexts:
		return texts(t, b, args[2])
	}
	return b, nil
}

// What an address of a process is, for texts: where Linux loads position-independent programs and maps what has no place of its own.
const minAddress, maxAddress = 0x5500_0000_0000, 0x7fff_ffff_ffff

// texts is code whose operands lie step bytes apart: with 0 for those that are addresses, and behind it the texts that are there.
func texts(t *transcript, code []byte, step uint64) ([]byte, error) {
	if step == 0 {
		return nil, errStep
	}
	out := code
	for at := uint64(0); at+8 <= uint64(len(code)); at += step {
		v := binary.LittleEndian.Uint64(code[at:])
		if v < minAddress || v > maxAddress {
			continue
		}
		text, err := t.text(v)
		if err != nil {
			return nil, err
		}
		clear(code[at : at+8])
		out = binary.LittleEndian.AppendUint64(binary.LittleEndian.AppendUint64(out, at), uint64(len(text)))
		out = append(out, text...)
	}
	return out, nil
}

// transcript reads memory and remembers what it read.
type transcript struct {
	*mem.Reader
	all  []mem.Piece
	size int // bytes
}

// ReadU is mem.Reader's.
func (t *transcript) ReadU(addr uint64, n int) (uint64, error) {
	v, err := t.Reader.ReadU(addr, n)
	if err != nil {
		return 0, err
	}
	return v, t.note(addr, binary.LittleEndian.AppendUint64(nil, v)[:n])
}

// Read is mem.Reader's.
func (t *transcript) Read(addr uint64, p []byte) error {
	if err := t.Reader.Read(addr, p); err != nil {
		return err
	}
	return t.note(addr, bytes.Clone(p))
}

// fields reads numbers of objects. After an error all of them are 0.
type fields struct {
	t   *transcript
	err error
}

func (f *fields) number(addr uint64, n int) (v uint64) {
	if f.err == nil {
		v, f.err = f.t.ReadU(addr, n)
	}
	return v
}

// text reads up to a NUL.
func (t *transcript) text(addr uint64) (out []byte, err error) {
	for len(out) < maxIdentity {
		c, err := t.ReadU(addr+uint64(len(out)), 1)
		if c == 0 || err != nil {
			return out, err
		}
		out = append(out, byte(c))
	}
	return nil, errIdentity
}

func (t *transcript) note(addr uint64, held []byte) error {
	t.all = append(t.all, mem.Piece{At: addr, Held: held})
	if t.size += len(held); t.size > maxRead {
		return errIdentity
	}
	return nil
}

// pieces is what was read: by address, no two of them adjacent, in one block of memory.
func (t *transcript) pieces() (out []mem.Piece) {
	slices.SortFunc(t.all, func(a, b mem.Piece) int { return cmp.Compare(a.At, b.At) })
	block := make([]byte, 0, t.size)
	for _, p := range t.all {
		had := p.At // what is in the block already
		if n := len(out); n > 0 {
			had = out[n-1].At + uint64(len(out[n-1].Held))
		}
		if len(out) == 0 || p.At > had {
			out = append(out, mem.Piece{At: p.At, Held: block[len(block):]})
			had = p.At
		}
		if end := p.At + uint64(len(p.Held)); end > had {
			block = append(block, p.Held[had-p.At:]...)
			last := &out[len(out)-1]
			last.Held = block[len(block)-int(end-last.At):]
		}
	}
	return out
}
