// Package bitblast turns bit-vector expressions into circuits and circuits into
// clauses.
//
//	g := bitblast.NewGraph(ctx)
//	in := bitblast.NewInstance(g)
//	in.Check([]expr.Ref{cond1, cond2}, budget) // sat.Sat
//	in.Value(v)                                // a variable's bits in the model
//
// A Graph is an and-inverter graph with XOR, MUX and majority gates as well:
// structurally equal gates are one gate, constants and repeated operands are
// folded away. It is built once per expression and lives long. An Instance is a
// SAT solver holding the clauses of the cones asked about so far; it is cheap to
// reset, and emits a gate's clauses when a query first needs it.
//
// # Division
//
// x / d and x % d share two fresh words q and r, tied by the side conditions
// x = q*d + r, r < d and "q*d + r does not overflow". A circuit with fresh
// inputs is still total: for each x and d such q and r exist (none is demanded
// for d = 0), so a partial assignment of one cone extends to all others.
// Whoever reaches a bit of q or r must assert the side conditions: Instance
// does so on emission and counts their gates to the cone.
//
// Glossary: n, a gate's number; l, a Lit; x, y, words (least significant bit
// first); g, the Graph; in, the Instance; q, r, quotient and remainder.
package bitblast

import "symchef/internal/expr"

// Lit is an edge of the graph: twice the gate's number, plus one when inverted.
type Lit uint32

// The constants. Gate 0 is the constant false.
const (
	False Lit = 0
	True  Lit = 1
)

// Not returns the inverse of l.
func (l Lit) Not() Lit { return l ^ 1 }

type op uint8

const (
	opConst op = iota
	opInput    // a: variable, b: bit
	opAux      // a: number of the side conditions it belongs to
	opAnd      // a, b
	opXor      // a, b; neither inverted
	opMux      // a ? b : c; a and b not inverted
	opMaj      // majority of a, b, c; a not inverted
)

// gate is one node. Its operands are edges for the last four kinds.
type gate struct {
	a, b, c uint32
	op      op
	fanout  uint8 // uses by other gates, saturating; decides what is flattened
}

// divKey names a division by its operands.
type divKey struct {
	x, y   expr.Ref
	signed bool
}

// Graph holds the circuits of one Ctx's expressions.
type Graph struct {
	ctx    *expr.Ctx
	gates  []gate
	index  []uint32 // open addressing over gates, a power of two long
	off    []uint32 // by Ref: start in words of its bits, plus one; 0 when not built
	words  []Lit
	inputs [][]Lit             // by VarID
	sides  [][]Lit             // by number: what is true of its fresh bits
	divOf  map[divKey][2][]Lit // quotient and remainder
	todo   []expr.Ref
}

// NewGraph returns the empty graph over ctx.
func NewGraph(ctx *expr.Ctx) *Graph {
	g := &Graph{ctx: ctx, index: make([]uint32, 1<<12), divOf: map[divKey][2][]Lit{}}
	g.gates = append(g.gates, gate{})
	return g
}

// Gates returns the number of gates.
func (g *Graph) Gates() int { return len(g.gates) }

func hash(op op, a, b, c uint32) uint32 {
	h := uint64(a)*0x9e3779b97f4a7c15 ^ uint64(b)*0xc2b2ae3d27d4eb4f ^ uint64(c)*0x165667b19e3779f9 ^ uint64(op)<<58
	h ^= h >> 29
	h *= 0xbf58476d1ce4e5b9
	return uint32(h >> 32)
}

// intern returns the gate with these operands. It is the only place that
// creates operator gates.
func (g *Graph) intern(op op, a, b, c Lit) Lit {
	mask := uint32(len(g.index) - 1)
	i := hash(op, uint32(a), uint32(b), uint32(c)) & mask
	for ; g.index[i] != 0; i = (i + 1) & mask {
		n := g.index[i]
		if t := &g.gates[n]; t.op == op && t.a == uint32(a) && t.b == uint32(b) && t.c == uint32(c) {
			return Lit(n << 1)
		}
	}
	n := uint32(len(g.gates))
	g.index[i] = n
	g.gates = append(g.gates, gate{op: op, a: uint32(a), b: uint32(b), c: uint32(c)})
	for _, l := range [...]Lit{a, b, c} {
		if f := &g.gates[l>>1].fanout; *f < 255 {
			*f++
		}
	}
	if 2*len(g.gates) > len(g.index) {
		g.grow()
	}
	return Lit(n << 1)
}

func (g *Graph) grow() {
	idx := make([]uint32, 2*len(g.index))
	mask := uint32(len(idx) - 1)
	for n := range g.gates {
		t := &g.gates[n]
		if t.op < opAnd {
			continue
		}
		i := hash(t.op, t.a, t.b, t.c) & mask
		for idx[i] != 0 {
			i = (i + 1) & mask
		}
		idx[i] = uint32(n)
	}
	g.index = idx
}

func (g *Graph) source(op op, a, b uint32) Lit {
	n := len(g.gates)
	g.gates = append(g.gates, gate{op: op, a: a, b: b})
	if 2*len(g.gates) > len(g.index) {
		g.grow()
	}
	return Lit(n << 1)
}

// And returns a AND b.
func (g *Graph) And(a, b Lit) Lit {
	if a > b {
		a, b = b, a
	}
	switch {
	case a == False || a == b.Not():
		return False
	case a == True || a == b:
		return b
	}
	// One level down: (x AND y) AND x, and its inverted forms.
	for range 2 {
		if t := &g.gates[b>>1]; t.op == opAnd {
			x, y := Lit(t.a), Lit(t.b)
			if b&1 == 0 {
				if a == x || a == y {
					return b
				}
				if a == x.Not() || a == y.Not() {
					return False
				}
			} else {
				if a == x.Not() || a == y.Not() {
					return a
				}
				if a == x {
					return g.And(a, y.Not())
				}
				if a == y {
					return g.And(a, x.Not())
				}
			}
		}
		a, b = b, a
	}
	return g.intern(opAnd, a, b, 0)
}

// Or returns a OR b.
func (g *Graph) Or(a, b Lit) Lit { return g.And(a.Not(), b.Not()).Not() }

// Xor returns a XOR b.
func (g *Graph) Xor(a, b Lit) Lit {
	if a > b {
		a, b = b, a
	}
	inv := (a ^ b) & 1
	a, b = a&^1, b&^1
	switch {
	case a == b:
		return inv
	case a == False:
		return b ^ inv
	}
	return g.intern(opXor, a, b, 0) ^ inv
}

// Mux returns s ? a : b.
func (g *Graph) Mux(s, a, b Lit) Lit {
	switch {
	case s == True || a == b:
		return a
	case s == False:
		return b
	}
	if s&1 != 0 {
		s, a, b = s.Not(), b, a
	}
	switch {
	case a == b.Not():
		return g.Xor(s, b)
	case a == True || a == s:
		return g.Or(s, b)
	case a == False || a == s.Not():
		return g.And(s.Not(), b)
	case b == False || b == s:
		return g.And(s, a)
	case b == True || b == s.Not():
		return g.Or(s.Not(), a)
	}
	inv := a & 1
	return g.intern(opMux, s, a^inv, b^inv) ^ inv
}

// Maj returns the majority of a, b and c: the carry of their sum.
func (g *Graph) Maj(a, b, c Lit) Lit {
	if a > b {
		a, b = b, a
	}
	if b > c {
		b, c = c, b
	}
	if a > b {
		a, b = b, a
	}
	switch {
	case a == False:
		return g.And(b, c)
	case a == True:
		return g.Or(b, c)
	case a == b:
		return a
	case b == c:
		return b
	case a>>1 == b>>1: // complements
		return c
	case b>>1 == c>>1:
		return a
	}
	inv := a & 1
	return g.intern(opMaj, a^inv, b^inv, c^inv) ^ inv
}
