package exec

import (
	"bytes"
	"slices"

	"symchef/internal/cpu"
	"symchef/internal/expr"
	"symchef/internal/guest"
	"symchef/internal/ir"
	"symchef/internal/mem"
)

// listing is the addresses at[0], at[1], ... of which the value of i, less first, chooses one: a table of constants lists them. An interpreter
// keeps its objects for small numbers and for single characters so, which lie anywhere.
type listing struct {
	ref    expr.Ref // the address
	i      expr.Ref
	first  uint64
	at     []uint64
	proven bool // the path condition allows i no less; otherwise it was not asked
}

// listed says whether a table of constants lists the addresses that ref may be.
func (m *Machine) listed(ref expr.Ref) (p listing, ok bool) {
	if _, known := m.value(ref); known {
		return p, false
	}
	ref = m.facts.simplify(m.Ctx, ref)
	l, known := m.tables.lists[ref]
	if !known {
		l = newList(m.Ctx, ref)
		if m.tables.lists == nil || m.tables.listed+len(l.at) > maxCells {
			m.tables.lists, m.tables.listed = map[expr.Ref]list{}, 0
		}
		m.tables.lists[ref] = l
		m.tables.listed += len(l.at) + 1
	}
	if l.at == nil {
		return p, false
	}
	lo, hi := l.first, l.first+uint64(len(l.at))-1
	r, proven := m.facts.Ranges[l.i]
	if proven {
		lo, hi = max(lo, r[0]), min(hi, r[1])
	}
	if w, known := m.facts.Within[l.i]; known {
		lo, hi = max(lo, w[0]), min(hi, w[1])
	}
	if lo > hi {
		return p, false // the path has no input
	}
	return listing{ref: ref, i: l.i, first: lo, at: l.at[lo-l.first : hi-l.first+1], proven: proven}, true
}

// list is what a table of constants lists.
type list struct {
	i     expr.Ref
	first uint64 // value of i that chooses at[0]
	at    []uint64
}

// newList is the list that ref is of; empty where there is none.
func newList(e *expr.Ctx, ref expr.Ref) list {
	i, entry := e.Entry(ref)
	if entry == nil {
		return list{}
	}
	lo, hi := e.Range(i)
	if hi >= maxReadCells {
		return list{}
	}
	l := list{i: i, first: lo}
	for v := lo; v <= hi; v++ {
		l.at = append(l.at, entry(v))
	}
	return l
}

// beyond is what stops an access that not all addresses allow: first the path condition is asked which it may be, then the address is decided.
func (m *Machine) beyondList(p listing) Stop {
	if r := m.choice(p.ref); r != 0 {
		return Stop{Kind: Decide, Decision: Address, Ref: r}
	}
	if !p.proven {
		return Stop{Kind: Bounds, Ref: p.i}
	}
	return Stop{Kind: Decide, Decision: Address, Ref: p.ref}
}

// listedLoad reads through a listed address. now is what it is under the model.
func (m *Machine) listedLoad(c *cpu.CPU, s *mem.Space, u *ir.Uop, p listing, now uint64) (status, Stop) {
	n := uint64(u.W / 8)
	if m.choice(p.ref) != 0 && !m.immortals(p.at, n) {
		return stopped, m.beyondList(p)
	}
	chosen, sym := 0, false // where the model does not come this way, see RunRegion, what is read for it does not matter
	for k, at := range p.at {
		if !s.Mapped(at, n, guest.ProtRead) {
			return stopped, m.beyondList(p)
		}
		if sym = sym || s.HasSym(at, n); at == now {
			chosen = k
		}
	}
	if sym && len(p.at) > maxMixedCells {
		return stopped, m.beyondList(p)
	}
	for _, at := range p.at {
		m.tell(at, n, false)
	}
	if sym {
		return m.listedMixed(c, s, u, p, chosen)
	}
	all := m.tables.room(len(p.at) * int(n))
	for k, at := range p.at {
		if s.Read(at, all[k*int(n):][:n]) != nil {
			return stopped, m.beyondList(p)
		}
	}
	if leadsApart(s, all, int(n)) {
		return stopped, m.beyondList(p)
	}
	r := m.tables.read(m.Ctx, tableKey{ref: p.ref, idx: p.i, list: true, lo: p.first, n: uint64(len(p.at)), size: int(n), within: everything}, all)
	m.set(c, u.D, number(all[chosen*int(n):][:n]), r)
	return ok, Stop{}
}

// leadsApart says whether cells of n bytes hold addresses that are not all the same: then what is listed is no plain values, but objects of a structure each,
// functions say. Whoever follows them all at once has no constant left to branch on, and decides the same again at each step.
func leadsApart(s *mem.Space, cells []byte, n int) bool {
	if n < 4 || bytes.Equal(cells[n:], cells[:len(cells)-n]) {
		return false
	}
	for c := range slices.Chunk(cells, n) {
		if s.Mapped(number(c), 1, guest.ProtRead) {
			return true
		}
	}
	return false
}

// listedMixed is listedLoad where what is read is not constant everywhere.
func (m *Machine) listedMixed(c *cpu.CPU, s *mem.Space, u *ir.Uop, p listing, chosen int) (status, Stop) {
	e := m.Ctx
	var r expr.Ref
	var v uint64
	for k := len(p.at) - 1; k >= 0; k-- {
		b, err := s.ReadSym(p.at[k], int(u.W/8))
		if err != nil {
			return stopped, m.beyondList(p)
		}
		if k == chosen {
			v = number(b.Data)
		}
		if cell := m.word(b); r == 0 {
			r = cell
		} else {
			r = e.Ite(e.Eq(p.i, e.Const(p.first+uint64(k), e.Width(p.i))), cell, r)
		}
	}
	m.set(c, u.D, v, e.ZExt(r, 64))
	return ok, Stop{}
}

// listedStore drops a store to a count of references of immortal objects; for others the address is decided.
func (m *Machine) listedStore(u *ir.Uop, p listing) (status, Stop) {
	if !m.immortals(p.at, uint64(u.W/8)) {
		return stopped, m.beyondList(p)
	}
	return ok, Stop{}
}
