package hlpc

import (
	"encoding/binary"
	"path/filepath"
	"strings"
)

// Constants of GNU R's bytecode (src/include/Rinternals.h, src/main/eval.c of 4.2). An object has a header of four words: in the
// first byte the type, then attributes; a vector has its length and, two words on, its elements, others have three pointers.
const (
	rSymbol  = 1
	rPair    = 2
	rEnv     = 4
	rLogical = 10
	rInteger = 13
	rReal    = 14
	rComplex = 15
	rStrings = 16
	rVector  = 19
	rRaw     = 24

	rTypeMask = 0x1f
	rAlt      = 0x80 // the layout is not that of the type

	rAttributes = 0x08
	rLength     = 0x20
	rElements   = 0x30
	rCar        = 0x20 // of a pair; of a symbol: its name; of an alternative layout: its first part
	rCdr        = 0x28
	rTag        = 0x30 // of a pair; of an environment: its hash table
)

// Sizes of elements in bytes.
var rElement = map[uint64]uint64{rLogical: 4, rInteger: 4, rReal: 8, rComplex: 16, rRaw: 1}

// rReader reads R's objects.
type rReader struct{ fields }

func (r *rReader) pointer(addr uint64) uint64 { return r.number(addr, 8) }

// kind is the type of an object: 0 if there is none, or after an error.
func (r *rReader) kind(object uint64) uint64 {
	if object == 0 {
		return 0
	}
	return r.number(object, 1) & rTypeMask
}

// bytes are the elements of a vector with elements of size bytes.
func (r *rReader) bytes(vector, size uint64) []byte {
	n := r.pointer(vector + rLength)
	if r.err != nil || n == 0 {
		return nil
	}
	if n > maxIdentity/size {
		r.err = errIdentity
		return nil
	}
	b := make([]byte, n*size)
	r.err = r.t.Read(vector+rElements, b)
	return b
}

// pointers are the elements of a vector of objects.
func (r *rReader) pointers(vector uint64) (out []uint64) {
	for b := r.bytes(vector, 8); len(b) > 0 && r.err == nil; b = b[8:] {
		out = append(out, binary.LittleEndian.Uint64(b))
	}
	return out
}

// text is that of a symbol, or the first of a vector of strings.
func (r *rReader) text(object uint64) string {
	switch r.kind(object) {
	case rSymbol:
		return string(r.bytes(r.pointer(object+rCar), 1))
	case rStrings:
		for _, c := range r.pointers(object) {
			return string(r.bytes(c, 1))
		}
	}
	return ""
}

// tagged looks for the element of a list of pairs that has the tag; 0 if there is none.
func (r *rReader) tagged(list uint64, tag string) uint64 {
	for r.err == nil && r.kind(list) == rPair {
		if r.text(r.pointer(list+rTag)) == tag {
			return r.pointer(list + rCar)
		}
		list = r.pointer(list + rCdr)
	}
	return 0
}

// variable is the text that a variable of an environment with a hash table holds; empty if there is none.
func (r *rReader) variable(env uint64, name string) string {
	table := r.pointer(env + rTag)
	if r.kind(table) != rVector {
		return ""
	}
	for _, chain := range r.pointers(table) {
		if v := r.tagged(chain, name); v != 0 {
			return r.text(v)
		}
	}
	return ""
}

// file is the file that a source reference is to.
func (r *rReader) file(env uint64) string {
	name := r.variable(env, "filename")
	if name == "" || filepath.IsAbs(name) || strings.HasPrefix(name, "<") { // <text>
		return name
	}
	return filepath.Join(r.variable(env, "wd"), name)
}

// rConstants reads the constants of bytecode: of each its type, its class and what it holds, as far as the instructions
// depend on it. Expressions, of which errors speak, and code of other objects are not among it: functions without sources that differ in a quoted
// expression alone are one. The file of the first source reference comes before all.
func rConstants(t *transcript, vector uint64) ([]byte, error) {
	r := &rReader{fields{t: t}}
	var out []byte
	file := ""
	field := func(b []byte) { out = append(binary.AppendUvarint(out, uint64(len(b))), b...) }
	for _, c := range r.pointers(vector) {
		kind := r.kind(c)
		var class string
		var held []byte
		if r.number(c, 1)&rAlt != 0 {
			kind |= rAlt
			for _, part := range []uint64{r.pointer(c + rCar), r.pointer(c + rCdr)} {
				if size := rElement[r.kind(part)]; size != 0 && r.number(part, 1)&rAlt == 0 {
					held = append(held, r.bytes(part, size)...)
				}
			}
		} else if size := rElement[kind]; size != 0 {
			attributes := r.pointer(c + rAttributes)
			class = r.text(r.tagged(attributes, "class"))
			if env := r.tagged(attributes, "srcfile"); file == "" && r.kind(env) == rEnv {
				file = r.file(env)
			}
			held = r.bytes(c, size)
		} else if kind == rStrings {
			for _, s := range r.pointers(c) {
				b := r.bytes(s, 1)
				held = append(binary.AppendUvarint(held, uint64(len(b))), b...)
			}
		} else {
			held = []byte(r.text(c))
		}
		out = append(out, byte(kind))
		field([]byte(class))
		field(held)
		if len(out) > maxIdentity {
			return nil, errIdentity
		}
	}
	return append(append(binary.AppendUvarint(nil, uint64(len(file))), file...), out...), r.err
}

// rLines are the file and the lines that rConstants has read: one constant has for each word of the code the number of the constant
// that is its source reference, a vector that begins with a line.
func rLines(b []byte) (file string, lines []LineRange) {
	field := func() (out []byte) {
		n, k := binary.Uvarint(b)
		b = b[max(k, 0):]
		n = min(n, uint64(len(b)))
		out, b = b[:n], b[n:]
		return out
	}
	file = string(field())
	var all, index [][]byte
	for len(b) > 0 {
		b = b[1:]
		class := string(field())
		all = append(all, field())
		if class == "srcrefsIndex" {
			index = all[len(all)-1:]
		}
	}
	if index == nil {
		return file, nil
	}
	for i := index[0]; len(i) >= 4; i = i[4:] {
		line := 0
		if n := binary.LittleEndian.Uint32(i); n < uint32(len(all)) && len(all[n]) >= 4 { // not so is NA
			line = int(binary.LittleEndian.Uint32(all[n]))
		}
		lines = through(lines, 8, line)
	}
	return file, lines
}
