// Package expr holds bit-vector expressions: a hash-consed DAG in an arena.
//
//	ctx := expr.New()
//	b := ctx.Var("stdin[0]", 8)
//	isA := ctx.Eq(b, ctx.Const('A', 8))
//	ctx.Eval(isA, expr.Assignment{'A'}) // 1
//
// # Canonical form
//
// Two structurally equal expressions of one Ctx have the same Ref. The
// constructors (Ctx.Add and so on) fold constants and apply the rewrite rules,
// so a Ref made by them is in normal form:
//
//   - Sub, Ule, Sle, Ne do not exist: they are Add/Neg, Not/Ult, Not/Slt, Not/Eq;
//   - operands of commutative kinds are ordered by structural hash, a constant
//     last: the order never depends on which was created first;
//   - an Ite's condition is no Not; both arms differ.
//
// Simplification depends on structure only, never on Ref numbers, so every
// worker builds the same normal form in whatever order it meets expressions.
//
// # Memory
//
// Nodes are 24 bytes and hold no Go pointers: chunks of them are never scanned
// by the garbage collector. A Ctx belongs to one goroutine.
//
// To add a kind: a row in kind.go, a constructor in build.go, its case in
// evalNode if it is structural, rules in rewrite.go, a printer row in smtlib and
// a circuit in bitblast; the row tests name whatever is missing.
package expr

import (
	"fmt"
	"math/bits"
)

// Ref names a node of one Ctx. 0 is no expression (a concrete value).
type Ref uint32

// Assignment gives every variable its value, indexed by VarID; a missing
// entry reads 0.
type Assignment []uint64

// VarID numbers the variables of a Ctx from 0 in order of first mention.
type VarID uint32

// Get returns the value of v.
func (a Assignment) Get(v VarID) uint64 {
	if int(v) < len(a) {
		return a[v]
	}
	return 0
}

// node is one expression. For Const, a and b are the low and high half of the
// value; for Var, a is the VarID; for Extract, aux is the low bit; for Select,
// b is the table's number; for float kinds, aux is the environment.
type node struct {
	hash    uint64 // structural: a function of kind, widths, names and operands' hashes only
	a, b, c uint32
	kind    Kind
	width   uint8 // bits, 1..64
	aux     uint16
}

const (
	chunkBits = 14
	chunkLen  = 1 << chunkBits
)

type variable struct {
	name  string
	width uint8
	ref   Ref
}

type table struct {
	hash  uint64
	width uint8
	vals  []uint64
}

// Ctx is an arena of expressions.
type Ctx struct {
	chunks []*[chunkLen]node
	n      uint32   // nodes in use; Ref 0 is reserved
	height []uint16 // by Ref: see deep.go
	index  []uint64 // open addressing, a power of two long: high half of the hash, then the Ref
	vars   []variable
	byName map[string]VarID
	tables []table
	tabIdx map[uint64][]uint32

	rewrites []memoEntry // lossy memo of build
	facts    factStore   // memo of Known and Range
	support  supportStore
	audit    func(r *rule, t term, res Ref) // tests: called for each rule applied

	evaluated uint64   // nodes, see Evaluated
	memoVal   []uint64 // evaluation memo, valid where memoGen equals gen
	memoGen   []uint32
	gen       uint32
	stack     []Ref
}

// New returns an empty arena.
func New() *Ctx {
	c := &Ctx{n: 1, byName: map[string]VarID{}, tabIdx: map[uint64][]uint32{}}
	c.index = make([]uint64, 1<<12)
	c.chunks = append(c.chunks, new([chunkLen]node))
	c.height = append(c.height, 0)
	return c
}

// Len returns the number of nodes.
func (c *Ctx) Len() int { return int(c.n) - 1 }

// Bytes returns the memory held by the arena, in bytes.
func (c *Ctx) Bytes() uint64 {
	return uint64(len(c.chunks))*chunkLen*24 + uint64(len(c.index))*8 + uint64(len(c.rewrites))*20 +
		uint64(cap(c.memoVal))*12 + c.facts.bytes() + c.support.bytes()
}

func (c *Ctx) at(r Ref) *node { return &c.chunks[r>>chunkBits][r&(chunkLen-1)] }

// Kind, Width, A, B, C and Lo read a node; B is not an operand of a Select.
func (c *Ctx) Kind(r Ref) Kind  { return c.at(r).kind }
func (c *Ctx) Width(r Ref) uint { return uint(c.at(r).width) }
func (c *Ctx) A(r Ref) Ref      { return Ref(c.at(r).a) }
func (c *Ctx) B(r Ref) Ref      { return Ref(c.at(r).b) }
func (c *Ctx) C(r Ref) Ref      { return Ref(c.at(r).c) }

// Lo returns the low bit of an Extract.
func (c *Ctx) Lo(r Ref) uint { return uint(c.at(r).aux) }

// Env returns the environment of a float kind.
func (c *Ctx) Env(r Ref) Env { return Env(c.at(r).aux) }

// Hash returns the structural hash, equal in every Ctx for equal structure.
func (c *Ctx) Hash(r Ref) uint64 { return c.at(r).hash }

// IsConst reports whether r is a constant and its value.
func (c *Ctx) IsConst(r Ref) (uint64, bool) {
	n := c.at(r)
	if n.kind != Const {
		return 0, false
	}
	return uint64(n.a) | uint64(n.b)<<32, true
}

// VarOf returns the variable of a Var node.
func (c *Ctx) VarOf(r Ref) VarID { return VarID(c.at(r).a) }

// VarName and VarWidth describe a variable.
func (c *Ctx) VarName(v VarID) string { return c.vars[v].name }
func (c *Ctx) VarWidth(v VarID) uint  { return uint(c.vars[v].width) }

// VarRef returns the node of variable v.
func (c *Ctx) VarRef(v VarID) Ref { return c.vars[v].ref }

// NumVars returns the number of variables.
func (c *Ctx) NumVars() int { return len(c.vars) }

// Table returns the entries of a Select's table; the caller must not change them.
func (c *Ctx) Table(r Ref) []uint64 { return c.tables[c.at(r).b].vals }

func mix(h, v uint64) uint64 {
	h ^= v
	hi, lo := bits.Mul64(h^0x9e3779b97f4a7c15, 0xd6e8feb86659fd93)
	return hi ^ lo
}

func hashString(s string) uint64 {
	h := uint64(0xcbf29ce484222325)
	for i := 0; i < len(s); i++ {
		h = mix(h, uint64(s[i])+1)
	}
	return h
}

func (c *Ctx) hashOf(n *node) uint64 {
	h := mix(uint64(n.kind)<<32|uint64(n.width)<<16|uint64(n.aux), 0x2545f4914f6cdd1d)
	switch n.kind {
	case Const:
		return mix(h, uint64(n.a)|uint64(n.b)<<32)
	case Var:
		return mix(h, hashString(c.vars[n.a].name))
	case Select:
		return mix(mix(h, c.at(Ref(n.a)).hash), c.tables[n.b].hash)
	}
	h = mix(h, c.at(Ref(n.a)).hash)
	if kinds[n.kind].Arity > 1 {
		h = mix(h, c.at(Ref(n.b)).hash)
	}
	if kinds[n.kind].Arity > 2 {
		h = mix(h, c.at(Ref(n.c)).hash)
	}
	return h
}

// intern returns the unique Ref of n, whose hash it computes.
func (c *Ctx) intern(n node) Ref {
	n.hash = c.hashOf(&n)
	if r := c.find(&n); r != 0 {
		return r
	}
	return c.insert(n)
}

// find returns the Ref of n, hash included, or 0 where there is none.
func (c *Ctx) find(n *node) Ref {
	mask := uint32(len(c.index) - 1)
	tag := uint32(n.hash >> 32)
	for i := tag & mask; c.index[i] != 0; i = (i + 1) & mask {
		if e := c.index[i]; uint32(e>>32) == tag && *c.at(Ref(uint32(e))) == *n {
			return Ref(uint32(e))
		}
	}
	return 0
}

// insert adds n, which find does not find. It is the only place that creates
// nodes.
func (c *Ctx) insert(n node) Ref {
	if c.n == ^uint32(0) {
		panic("expr: arena full")
	}
	r := Ref(c.n)
	c.n++
	if int(r>>chunkBits) == len(c.chunks) {
		c.chunks = append(c.chunks, new([chunkLen]node))
	}
	*c.at(r) = n
	c.height = append(c.height, c.heightOf(&n))
	if uint64(c.n) > uint64(len(c.index))/4*3 {
		c.grow()
	}
	place(c.index, n.hash&^0xffffffff|uint64(r))
	return r
}

// place puts an entry into an index with room.
func place(index []uint64, entry uint64) {
	mask := uint32(len(index) - 1)
	i := uint32(entry>>32) & mask
	for index[i] != 0 {
		i = (i + 1) & mask
	}
	index[i] = entry
}

func (c *Ctx) grow() {
	index := make([]uint64, 2*len(c.index))
	for _, e := range c.index {
		if e != 0 {
			place(index, e)
		}
	}
	c.index = index
}

// Const returns the constant of the low w bits of v.
func (c *Ctx) Const(v uint64, w uint) Ref {
	if w == 0 || w > 64 {
		panic(fmt.Sprintf("expr: width %d", w))
	}
	v &= Mask(w)
	return c.intern(node{kind: Const, width: uint8(w), a: uint32(v), b: uint32(v >> 32)})
}

// Var returns the variable called name, w bits wide. One name has one width.
func (c *Ctx) Var(name string, w uint) Ref {
	if v, ok := c.byName[name]; ok {
		if uint(c.vars[v].width) != w {
			panic(fmt.Sprintf("expr: variable %s has width %d, not %d", name, c.vars[v].width, w))
		}
		return c.vars[v].ref
	}
	id := VarID(len(c.vars))
	c.vars = append(c.vars, variable{name: name, width: uint8(w)})
	c.byName[name] = id
	r := c.intern(node{kind: Var, width: uint8(w), a: uint32(id)})
	c.vars[id].ref = r
	return r
}

func (c *Ctx) internTable(vals []uint64, w uint) uint32 {
	h := mix(uint64(len(vals)), uint64(w))
	for _, v := range vals {
		h = mix(h, v&Mask(w))
	}
next:
	for _, t := range c.tabIdx[h] {
		old := &c.tables[t]
		if uint(old.width) != w || len(old.vals) != len(vals) {
			continue
		}
		for i := range vals {
			if old.vals[i] != vals[i]&Mask(w) {
				continue next
			}
		}
		return t
	}
	t := uint32(len(c.tables))
	own := make([]uint64, len(vals))
	for i, v := range vals {
		own[i] = v & Mask(w)
	}
	c.tables = append(c.tables, table{hash: h, width: uint8(w), vals: own})
	c.tabIdx[h] = append(c.tabIdx[h], t)
	return t
}
