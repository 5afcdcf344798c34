package model

import (
	"bytes"

	"symchef/internal/cpu"
	"symchef/internal/exec"
	"symchef/internal/expr"
	"symchef/internal/ir"
	"symchef/internal/mem"
)

// deferredHash is the hash of every string whose identity is deferred.
const deferredHash = 0x5eed1de5

// Strings with an identity: an interpreter keeps one object per content of a (short) string and compares them by
// address. To find that object for symbolic bytes the path would fork once per string of the same
// length. Here it does not: the bytes become an object of their own, marked by its hash, and where the
// interpreter compares addresses, contents are compared:
//
//   - intern: the stock function runs on an empty table of one bucket, so it finds nothing and makes the
//     object; on its return (at trampoline) that joins the real table under deferredHash.
//   - equal: two strings, one of them deferred, are equal if their bytes are: the result is an expression.
//   - get: a table has the key if one of its keys has the content. A deferred key is compared with every key of
//     its length; another one with the deferred keys, which share a chain. So no two keys of a table are equal.
//   - name: the interpreter's own parser compares addresses wherever it likes; its names are made concrete.
//   - hash-long, or hash-bytes: the hash of long strings, which have no such object, does not depend on their bytes.
//
// A string is deferred if it has the hash; that a string with other bytes had it too would only cost a comparison.
//
// Exact, because two objects of one content are never told apart: wherever the interpreter compares addresses of strings, it is at one of
// these places, and there the answer is that of the contents, for all values at once. The object is what the stock function makes of the bytes
// but for the hash, which decides only in which chain of a table a key is looked for, and there get looks itself.
//
// Test: TestDeferredIdentity runs random programs of calls (make, put, get, compare, walk) in the interpreter with symbolic strings, and for each
// value of their bytes with concrete ones and the stock functions.

// deferred is the model of one binding.
type deferred struct {
	n          map[string]uint64 // the description's numbers
	trampoline uint64
}

// newDeferred returns the hooks of the model, by address.
func newDeferred(b Binding, trampoline uint64) map[uint64]exec.Hook {
	d := &deferred{b.Numbers, trampoline}
	hooks := map[uint64]exec.Hook{trampoline: d.interned, trampoline + 8: d.searched}
	for name, hook := range map[string]exec.Hook{
		"intern": d.intern,
		"equal": func(m *exec.Machine, c *cpu.CPU, s *mem.Space) (bool, *exec.Stop) {
			return d.equal(m, c, s, ir.RSI, ir.RDX)
		},
		"raw-equal": func(m *exec.Machine, c *cpu.CPU, s *mem.Space) (bool, *exec.Stop) {
			return d.equal(m, c, s, ir.RDI, ir.RSI)
		},
		"get":        d.get,
		"get-string": d.getString,
		"next":       d.next,
		"name":       d.name,
		"hash-long":  d.hashLong,
		"hash-bytes": hashLength,
	} {
		for _, at := range b.Places[name] {
			hooks[at] = hook
		}
	}
	return hooks
}

// text is a string object: its length, and whether it is deferred.
type text struct {
	at, n    uint64
	deferred bool
}

func (d *deferred) text(s *mem.Space, at uint64) (t text, ok bool) {
	n, err1 := s.ReadU(at+d.n["length"], int(d.n["length-bytes"]))
	hash, err2 := s.ReadU(at+d.n["hash"], 4)
	return text{at, n, hash == deferredHash}, err1 == nil && err2 == nil
}

// key is the string in the tagged value at addr; not ok if that is something else.
func (d *deferred) key(m *exec.Machine, c *cpu.CPU, s *mem.Space, addr uint64) (t text, ok bool, stop *exec.Stop) {
	if stop = m.FixMemory(c, s, addr+8, 1); stop != nil {
		return t, false, stop
	}
	tag, err := s.ReadU(addr+8, 1)
	if err != nil || tag != d.n["tag"] {
		return t, false, nil
	}
	if stop = m.FixMemory(c, s, addr, 8); stop != nil {
		return t, false, stop
	}
	at, err := s.ReadU(addr, 8)
	if err != nil {
		return t, false, nil
	}
	t, ok = d.text(s, at)
	return t, ok, nil
}

// same is whether two strings of one length have the same bytes: now, and as a condition.
func (d *deferred) same(m *exec.Machine, s *mem.Space, a, b text) (now bool, cond expr.Ref, ok bool) {
	x, err1 := s.ReadSym(a.at+d.n["bytes"], int(a.n))
	y, err2 := s.ReadSym(b.at+d.n["bytes"], int(a.n))
	if err1 != nil || err2 != nil {
		return false, 0, false
	}
	cond = m.Ctx.Const(1, 1)
	for i := 0; i < len(x.Data); i += 8 {
		j := min(i+8, len(x.Data))
		cond = m.Ctx.And(cond, m.Ctx.Eq(m.Word(x.Slice(i, j)), m.Word(y.Slice(i, j))))
	}
	return bytes.Equal(x.Data, y.Data), cond, true
}

// equal is f(..., a, b): whether two values are equal.
func (d *deferred) equal(m *exec.Machine, c *cpu.CPU, s *mem.Space, ra, rb ir.Slot) (bool, *exec.Stop) {
	if stop := fix(m, c, ra, rb); stop != nil {
		return false, stop
	}
	a, ok, stop := d.key(m, c, s, c.R[ra])
	if !ok || stop != nil {
		return false, stop
	}
	b, ok, stop := d.key(m, c, s, c.R[rb])
	if !ok || stop != nil || a.at == b.at || a.n != b.n || !a.deferred && !b.deferred {
		return false, stop
	}
	now, cond, ok := d.same(m, s, a, b)
	if !ok {
		return false, nil
	}
	v := uint64(0)
	if now {
		v = 1
	}
	if _, isConst := m.Ctx.IsConst(cond); isConst {
		return ret(c, s, v), nil
	}
	done := ret(c, s, v)
	c.SetSym(ir.RAX, v, m.Ctx.ZExt(cond, 64))
	return done, nil
}

// name is f(lexer, bytes=rsi, length=rdx).
func (d *deferred) name(m *exec.Machine, c *cpu.CPU, s *mem.Space) (bool, *exec.Stop) {
	if stop := fix(m, c, ir.RSI, ir.RDX); stop != nil {
		return false, stop
	}
	return false, m.FixMemory(c, s, c.R[ir.RSI], c.R[ir.RDX])
}

// hashLong is f(string=rdi), the hash of a string too long to be interned, which is compared by content: a function of its
// length, kept in the object. Equal strings have equal lengths.
func (d *deferred) hashLong(m *exec.Machine, c *cpu.CPU, s *mem.Space) (bool, *exec.Stop) {
	if stop := fix(m, c, ir.RDI); stop != nil {
		return false, stop
	}
	str := c.R[ir.RDI]
	n, err := s.ReadU(str+d.n["long-length"], 8)
	if err != nil {
		return false, nil
	}
	hash := n * 0x9e3779b1 & 0xffffffff
	if s.WriteU(str+d.n["hash"], hash, 4) != nil || s.WriteU(str+d.n["hashed"], 1, 1) != nil {
		return false, nil
	}
	return ret(c, s, hash), nil
}
