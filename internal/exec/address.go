package exec

import (
	"encoding/binary"
	"math/bits"
	"slices"

	"symchef/internal/cpu"
	"symchef/internal/expr"
	"symchef/internal/guest"
	"symchef/internal/ir"
	"symchef/internal/mem"
)

// Limits of accesses through a symbolic address that do not fork. They are part of
// the shape of the tree.
const (
	maxReadCells  = 4096 // candidate addresses of a read from constant memory
	maxMixedCells = 256  // candidate addresses of a read that meets symbolic bytes
	maxWriteCells = 256  // candidate addresses of a write
	maxResults    = 64   // results of calls that addresses may decide, the last ones
)

// addrRef returns the expression of u's address.
func (m *Machine) addrRef(c *cpu.CPU, u *ir.Uop) expr.Ref {
	e := m.Ctx
	b := e.Shl(m.ref(c, u.B), e.Const(uint64(u.Scale), 64))
	return e.Add(e.Add(m.ref(c, u.A), b), e.Const(u.Imm, 64))
}

// candidates are the addresses lo, lo+step, ... that a symbolic address is
// proven to lie among.
type candidates struct {
	lo   uint64
	step uint64 // a power of two
	n    uint64
	ref  expr.Ref // the address

	proven bool // the path condition allows no less; otherwise it was not asked
}

// beyond is what stops an access that is too wide for a table: first the path condition is asked whether it is as wide as that, then the address is decided.
func (m *Machine) beyond(k candidates) Stop {
	if r := m.choice(k.ref); r != 0 {
		return Stop{Kind: Decide, Decision: Address, Ref: r}
	}
	if !k.proven && k.n > 1 {
		return Stop{Kind: Bounds, Ref: k.ref}
	}
	return Stop{Kind: Decide, Decision: Address, Ref: k.ref}
}

// choice is the result of a call (Result) that an address is computed from, if it is computed from a choice among constants; 0: there is none. Such an
// address decides the result, a position that a search has found, say: what follows is as if the search had ended there.
func (m *Machine) choice(r expr.Ref) expr.Ref {
	if len(m.facts.Results) == 0 {
		return 0
	}
	e := m.Ctx
	for e.Kind(r) != expr.Ite {
		var symbolic expr.Ref
		if n := e.Kind(r).Arity(); n < 1 || n > 2 {
			return 0
		} else {
			for _, x := range []expr.Ref{e.A(r), e.B(r)}[:n] {
				if _, isConst := e.IsConst(x); !isConst && symbolic != 0 && symbolic != x {
					return 0
				} else if !isConst {
					symbolic = x
				}
			}
		}
		if r = symbolic; r == 0 {
			return 0
		}
	}
	if !e.Chooses(r) {
		return 0
	}
	of := e.SupportSet(r)
	for _, p := range slices.Backward(m.facts.Results) {
		if _, known := m.value(p); !known && e.SupportSet(p).Overlaps(of) {
			return p
		}
	}
	return 0
}

// Result is for hooks: r is the result of a call, a choice among constants.
func (m *Machine) Result(r expr.Ref) {
	if !m.Ctx.Chooses(r) || slices.Contains(m.facts.Results, r) {
		return
	}
	var open []expr.Ref
	for _, p := range m.facts.Results {
		if _, known := m.value(p); !known {
			open = append(open, p)
		}
	}
	m.facts.Results = append(open[max(0, len(open)-maxResults):], r)
}

// index returns the number of the candidate as an expression: (ref - lo) / step.
func (k candidates) index(e *expr.Ctx) expr.Ref {
	d := e.Sub(k.ref, e.Const(k.lo, 64))
	return e.LShr(d, e.Const(uint64(bits.TrailingZeros64(k.step)), 64))
}

// bound proves where ref can point. stop is a decision or a request for bounds.
func (m *Machine) bound(ref expr.Ref) (k candidates, fixed bool, stop *Stop) {
	if v, known := m.value(ref); known {
		return candidates{lo: v, step: 1, n: 1, ref: ref}, true, nil
	}
	ref = m.facts.simplify(m.Ctx, ref)
	lo, hi := m.Ctx.Range(ref)
	p, proven := m.facts.Ranges[ref]
	if proven {
		lo, hi = max(lo, p[0]), min(hi, p[1])
	} else if hi-lo >= 1<<16 {
		return k, false, &Stop{Kind: Bounds, Ref: ref}
	}
	k = candidates{lo: lo, step: 1, ref: ref, proven: proven}
	if zeros, ones := m.Ctx.Known(m.Ctx.Sub(ref, m.Ctx.Const(lo, 64))); ones == 0 {
		if tz := bits.TrailingZeros64(^zeros); tz < 12 {
			k.step = 1 << tz
		}
	}
	k.n = min((hi-lo)/k.step, 1<<32) + 1 // more than any limit allows; the whole range must not wrap to 0
	return k, false, nil
}

// symLoad executes a Load in the concolic evaluator.
func (m *Machine) symLoad(c *cpu.CPU, s *mem.Space, u *ir.Uop) (status, Stop) {
	addr := c.R[u.A] + c.R[u.B]<<u.Scale + u.Imm
	if c.Sym.Has(u.A) || c.Sym.Has(u.B) {
		ref := m.addrRef(c, u)
		if p, ok := m.listed(ref); ok {
			return m.listedLoad(c, s, u, p, addr)
		}
		k, fixed, stop := m.bound(ref)
		if stop != nil {
			return stopped, *stop
		}
		if !fixed {
			return m.tableLoad(c, s, u, k, addr)
		}
		addr = k.lo
	}
	v, st := m.load(s, addr, u.W)
	if st == fault {
		return fault, Stop{}
	}
	if st == ok {
		c.Set(u.D, v)
		return ok, Stop{}
	}
	b, err := s.ReadSym(addr, int(u.W/8))
	if err != nil {
		m.faultAt = addr
		return fault, Stop{}
	}
	m.set(c, u.D, number(b.Data), m.Ctx.ZExt(m.word(b), 64))
	return ok, Stop{}
}

// number is little-endian, of up to eight bytes.
func number(p []byte) uint64 {
	if len(p) == 8 {
		return binary.LittleEndian.Uint64(p)
	}
	v := uint64(0)
	for i := len(p) - 1; i >= 0; i-- {
		v = v<<8 | uint64(p[i])
	}
	return v
}

// tableLoad reads through a symbolic address over all its candidates, or asks
// for the address to be decided.
func (m *Machine) tableLoad(c *cpu.CPU, s *mem.Space, u *ir.Uop, k candidates, now uint64) (status, Stop) {
	n := int(u.W / 8)
	span := (k.n-1)*k.step + uint64(n)
	if k.n > maxReadCells || !s.Mapped(k.lo, span, guest.ProtRead) {
		return stopped, m.beyond(k)
	}
	m.tell(k.lo, span, false)
	if now-k.lo > span-uint64(n) {
		now = k.lo // the model does not come this way, see RunRegion: what is read for it does not matter
	}
	e := m.Ctx
	idx := k.index(e)
	if !s.HasSym(k.lo, span) {
		all := m.tables.room(int(span))
		if s.Read(k.lo, all) != nil {
			return stopped, m.beyond(k)
		}
		iw := uint(max(bits.Len64(k.n-1), 1))
		key := tableKey{ref: k.ref, idx: e.Extract(idx, 0, iw), lo: k.lo, step: k.step, n: k.n, size: n}
		key.within = m.within(key)
		r := m.tables.read(e, key, all)
		m.set(c, u.D, number(all[now-k.lo:][:n]), r)
		return ok, Stop{}
	}
	if k.n > maxMixedCells || m.choice(k.ref) != 0 {
		return stopped, m.beyond(k)
	}
	var r expr.Ref
	for i := k.n; i > 0; i-- {
		b, err := s.ReadSym(k.lo+(i-1)*k.step, n)
		if err != nil {
			return stopped, m.beyond(k)
		}
		cell := m.word(b)
		if r == 0 {
			r = cell
		} else {
			r = e.Ite(e.Eq(idx, e.Const(i-1, 64)), cell, r)
		}
	}
	b, err := s.ReadSym(now, n)
	if err != nil {
		return stopped, m.beyond(k)
	}
	m.set(c, u.D, number(b.Data), e.ZExt(r, 64))
	return ok, Stop{}
}

// symStore executes a Store in the concolic evaluator.
func (m *Machine) symStore(c *cpu.CPU, s *mem.Space, u *ir.Uop) (status, Stop) {
	addr := c.R[u.A] + c.R[u.B]<<u.Scale + u.Imm
	if c.Sym.Has(u.A) || c.Sym.Has(u.B) {
		ref := m.addrRef(c, u)
		if p, ok := m.listed(ref); ok {
			return m.listedStore(u, p)
		}
		k, fixed, stop := m.bound(ref)
		if stop != nil {
			return stopped, *stop
		}
		if !fixed {
			return m.tableStore(c, s, u, k)
		}
		addr = k.lo
	}
	if !c.Sym.Has(u.C) {
		if st := m.store(s, addr, u.W, c.R[u.C]); st != ok {
			return st, Stop{}
		}
		m.use(s)
		return ok, Stop{}
	}
	m.tell(addr, uint64(u.W/8), true)
	if s.WriteSym(addr, m.split(c.R[u.C], m.Ctx.Extract(c.S[u.C], 0, uint(u.W)))) != nil {
		m.faultAt = addr
		return fault, Stop{}
	}
	m.use(s)
	return ok, Stop{}
}

// split returns the bytes of value v with expression r, low byte first.
func (m *Machine) split(v uint64, r expr.Ref) mem.Bytes {
	n := m.Ctx.Width(r) / 8
	b := mem.Bytes{Data: make([]byte, n), Sym: make([]expr.Ref, n)}
	for i := uint(0); i < n; i++ {
		x := m.Ctx.Extract(r, 8*i, 8)
		b.Data[i] = byte(v >> (8 * i))
		if _, isConst := m.Ctx.IsConst(x); !isConst {
			b.Sym[i] = x
		}
	}
	return b
}

// Linear returns r times by and plus.
func (m *Machine) Linear(r expr.Ref, by, plus uint64) expr.Ref {
	w := m.Ctx.Width(r)
	return m.Ctx.Add(m.Ctx.Mul(r, m.Ctx.Const(by, w)), m.Ctx.Const(plus&expr.Mask(w), w))
}

// Split returns the little-endian bytes of value v with expression r.
func (m *Machine) Split(v uint64, r expr.Ref) mem.Bytes { return m.split(v, r) }

// tableStore writes through a symbolic address: every candidate cell becomes
// new or stays old according to the address; reference counts of immortal
// objects are dropped.
func (m *Machine) tableStore(c *cpu.CPU, s *mem.Space, u *ir.Uop, k candidates) (status, Stop) {
	n := uint64(u.W / 8)
	span := (k.n-1)*k.step + n
	if m.isImmortal(k.lo, span) {
		return ok, Stop{}
	}
	if !k.proven && m.isImmortal(k.lo, n) { // with proof it may be among them wholly
		return stopped, Stop{Kind: Bounds, Ref: k.ref}
	}
	if k.n > maxWriteCells || m.choice(k.ref) != 0 || k.step < n && k.n > 1 || !s.Mapped(k.lo, span, guest.ProtWrite) {
		return stopped, m.beyond(k)
	}
	m.tell(k.lo, span, true)
	e := m.Ctx
	idx := k.index(e)
	val := e.Extract(m.ref(c, u.C), 0, uint(u.W))
	now := c.R[u.A] + c.R[u.B]<<u.Scale + u.Imm
	for i := uint64(0); i < k.n; i++ {
		at := k.lo + i*k.step
		b, err := s.ReadSym(at, int(n))
		if err != nil {
			return stopped, m.beyond(k)
		}
		v := number(b.Data)
		if at == now {
			v = c.R[u.C]
		}
		r := e.Ite(e.Eq(idx, e.Const(i, 64)), val, m.word(b))
		if err := s.WriteSym(at, m.split(v, r)); err != nil {
			panic("exec: a mapped, writable cell faulted")
		}
	}
	m.use(s)
	return ok, Stop{}
}
