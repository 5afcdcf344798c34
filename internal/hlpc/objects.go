package hlpc

import (
	"encoding/binary"
	"path/filepath"
	"strings"

	"symchef/internal/interp"
)

// objectReader reads objects as an interpreter of lists has them (as in R): vectors of elements, and cells of three pointers.
type objectReader struct {
	fields
	as    *interp.Structure
	sizes map[uint64]uint64 // of elements that are numbers, in bytes, by type
}

func newObjectReader(t *transcript, as *interp.Structure) *objectReader {
	r := &objectReader{fields{t: t}, as, map[uint64]uint64{}}
	for plain := as.All("plain"); len(plain) >= 2; plain = plain[2:] {
		r.sizes[plain[0]] = plain[1]
	}
	return r
}

func (r *objectReader) pointer(object uint64, offset string) uint64 {
	return r.number(object+r.as.N(offset), 8)
}

// kind is the type of an object: 0 if there is none, or after an error.
func (r *objectReader) kind(object uint64) uint64 {
	if object == 0 {
		return 0
	}
	return r.number(object, 1) & r.as.N("type")
}

// is says whether an object is of the type of a name.
func (r *objectReader) is(object uint64, kind string) bool {
	k := r.kind(object)
	return r.err == nil && object != 0 && k == r.as.N(kind)
}

// bytes are the elements of a vector with elements of size bytes.
func (r *objectReader) bytes(vector, size uint64) []byte {
	n := r.pointer(vector, "length")
	if r.err != nil || n == 0 {
		return nil
	}
	if n > maxIdentity/size {
		r.err = errIdentity
		return nil
	}
	b := make([]byte, n*size)
	r.err = r.t.Read(vector+r.as.N("elements"), b)
	return b
}

// pointers are the elements of a vector of objects.
func (r *objectReader) pointers(vector uint64) (out []uint64) {
	for b := r.bytes(vector, 8); len(b) > 0 && r.err == nil; b = b[8:] {
		out = append(out, binary.LittleEndian.Uint64(b))
	}
	return out
}

// text is that of a symbol, or the first of a vector of strings.
func (r *objectReader) text(object uint64) string {
	switch {
	case r.is(object, "symbol"):
		return string(r.bytes(r.pointer(object, "first"), 1))
	case r.is(object, "strings"):
		for _, c := range r.pointers(object) {
			return string(r.bytes(c, 1))
		}
	}
	return ""
}

// tagged looks for the element of a list of pairs that has the tag; 0 if there is none.
func (r *objectReader) tagged(list uint64, tag string) uint64 {
	for r.err == nil && r.is(list, "pair") {
		if r.text(r.pointer(list, "third")) == tag {
			return r.pointer(list, "first")
		}
		list = r.pointer(list, "second")
	}
	return 0
}

// variable is the text that a variable of an environment with a hash table holds; empty if there is none.
func (r *objectReader) variable(env uint64, name string) string {
	table := r.pointer(env, "third")
	if !r.is(table, "vector") {
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
func (r *objectReader) file(env uint64) string {
	name := r.variable(env, r.as.Text("path"))
	if name == "" || filepath.IsAbs(name) || strings.HasPrefix(name, "<") { // <text>
		return name
	}
	return filepath.Join(r.variable(env, r.as.Text("folder")), name)
}

// constants reads those of bytecode: of each its type, its class and what it holds, as far as the instructions
// depend on it. Expressions, of which errors speak, and code of other objects are not among it: functions without sources that differ in a quoted
// expression alone are one. The file of the first source reference comes before all.
func constants(t *transcript, as *interp.Structure, vector uint64) ([]byte, error) {
	r := newObjectReader(t, as)
	var out []byte
	file := ""
	field := func(b []byte) { out = append(binary.AppendUvarint(out, uint64(len(b))), b...) }
	for _, c := range r.pointers(vector) {
		kind := r.kind(c)
		var class string
		var held []byte
		if other := as.N("other"); r.number(c, 1)&other != 0 {
			kind |= other
			for _, part := range []uint64{r.pointer(c, "first"), r.pointer(c, "second")} {
				if size := r.sizes[r.kind(part)]; size != 0 && r.number(part, 1)&other == 0 {
					held = append(held, r.bytes(part, size)...)
				}
			}
		} else if size := r.sizes[kind]; size != 0 {
			attributes := r.pointer(c, "attributes")
			class = r.text(r.tagged(attributes, as.Text("class")))
			if env := r.tagged(attributes, as.Text("source")); file == "" && r.is(env, "environment") {
				file = r.file(env)
			}
			held = r.bytes(c, size)
		} else if kind == as.N("strings") {
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

// references are the file and the lines that constants has read: one constant, of the class index, has for each word of the code the number of the constant
// that is its source reference, a vector that begins with a line.
func references(b []byte, index string) (file string, lines []LineRange) {
	field := func() (out []byte) {
		n, k := binary.Uvarint(b)
		b = b[max(k, 0):]
		n = min(n, uint64(len(b)))
		out, b = b[:n], b[n:]
		return out
	}
	file = string(field())
	var all [][]byte
	var numbers []byte
	for len(b) > 0 {
		b = b[1:]
		class := string(field())
		all = append(all, field())
		if class == index {
			numbers = all[len(all)-1]
		}
	}
	for i := numbers; len(i) >= 4; i = i[4:] {
		line := 0
		if n := binary.LittleEndian.Uint32(i); n < uint32(len(all)) && len(all[n]) >= 4 { // not so is NA
			line = int(binary.LittleEndian.Uint32(all[n]))
		}
		lines = through(lines, 8, line)
	}
	return file, lines
}
