package expr

import "math/bits"

// Kind is an expression kind. Every kind is one row of the kind table.
type Kind uint8

// The kinds. Semantics are those of SMT-LIB's QF_BV (division by zero and
// shifts past the width included); MulHU and MulHS are the high half of the
// double-width product.
const (
	Invalid Kind = iota
	Const        // a bit pattern
	Var          // a declared input
	Not          // bitwise complement
	Neg          // two's complement negation
	And
	Or
	Xor
	Add
	Mul
	MulHU
	MulHS
	UDiv
	URem
	SDiv
	SRem
	Shl
	LShr
	AShr
	Eq      // 1 bit
	Ult     // 1 bit
	Slt     // 1 bit
	Ite     // A is 1 bit: A ? B : C
	Concat  // A is the high part
	Extract // bits [Lo, Lo+width) of A
	ZExt
	SExt
	Select // entry A of constant table Aux (an index past the end reads 0)
	// The float kinds are the processor's operations on encodings of 32 or 64 bits, in the
	// environment Ctx.Env: float.go.
	FAdd
	FSub
	FMul
	FDiv
	FSqrt
	FFromI // signed integer A as a float
	FToI   // float A as a signed integer, or the integer indefinite
	FCvt   // float A as a float of the other width
	NumKinds
)

// kindInfo is one row of the kind table.
type kindInfo struct {
	Name        string // the SMT-LIB operator where there is one
	Arity       int
	Commutative bool
	Predicate   bool // the result is one bit whatever the operands' width
	// Eval computes the operator on operands of width w bits, zero-extended.
	// Structural kinds (Const, Var, Concat, Extract, extensions, Select) and float kinds
	// have none: Ctx.evalNode computes them.
	Eval func(a, b, c uint64, w uint) uint64
}

// Mask returns a value whose low w bits are set; w is 0..64.
func Mask(w uint) uint64 {
	if w >= 64 {
		return ^uint64(0)
	}
	return 1<<w - 1
}

// SignExtend interprets the low w bits of v as a two's complement number.
func SignExtend(v uint64, w uint) int64 { return int64(v<<(64-w)) >> (64 - w) }

func b2u(b bool) uint64 {
	if b {
		return 1
	}
	return 0
}

var kinds = [NumKinds]kindInfo{
	Invalid: {Name: "invalid"},
	Const:   {Name: "const"},
	Var:     {Name: "var"},
	Not:     {Name: "bvnot", Arity: 1, Eval: func(a, _, _ uint64, _ uint) uint64 { return ^a }},
	Neg:     {Name: "bvneg", Arity: 1, Eval: func(a, _, _ uint64, _ uint) uint64 { return -a }},
	And:     {Name: "bvand", Arity: 2, Commutative: true, Eval: func(a, b, _ uint64, _ uint) uint64 { return a & b }},
	Or:      {Name: "bvor", Arity: 2, Commutative: true, Eval: func(a, b, _ uint64, _ uint) uint64 { return a | b }},
	Xor:     {Name: "bvxor", Arity: 2, Commutative: true, Eval: func(a, b, _ uint64, _ uint) uint64 { return a ^ b }},
	Add:     {Name: "bvadd", Arity: 2, Commutative: true, Eval: func(a, b, _ uint64, _ uint) uint64 { return a + b }},
	Mul:     {Name: "bvmul", Arity: 2, Commutative: true, Eval: func(a, b, _ uint64, _ uint) uint64 { return a * b }},
	MulHU: {Name: "mulhu", Arity: 2, Commutative: true, Eval: func(a, b, _ uint64, w uint) uint64 {
		hi, lo := bits.Mul64(a, b)
		if w == 64 {
			return hi
		}
		return hi<<(64-w) | lo>>w
	}},
	MulHS: {Name: "mulhs", Arity: 2, Commutative: true, Eval: func(a, b, _ uint64, w uint) uint64 {
		x, y := SignExtend(a, w), SignExtend(b, w)
		hi, lo := bits.Mul64(uint64(x), uint64(y))
		if x < 0 {
			hi -= uint64(y)
		}
		if y < 0 {
			hi -= uint64(x)
		}
		if w == 64 {
			return hi
		}
		return hi<<(64-w) | lo>>w
	}},
	UDiv: {Name: "bvudiv", Arity: 2, Eval: func(a, b, _ uint64, _ uint) uint64 {
		if b == 0 {
			return ^uint64(0)
		}
		return a / b
	}},
	URem: {Name: "bvurem", Arity: 2, Eval: func(a, b, _ uint64, _ uint) uint64 {
		if b == 0 {
			return a
		}
		return a % b
	}},
	SDiv: {Name: "bvsdiv", Arity: 2, Eval: func(a, b, _ uint64, w uint) uint64 {
		x, y := SignExtend(a, w), SignExtend(b, w)
		switch {
		case y == 0 && x < 0:
			return 1
		case y == 0:
			return ^uint64(0)
		case y == -1:
			return uint64(-x)
		}
		return uint64(x / y)
	}},
	SRem: {Name: "bvsrem", Arity: 2, Eval: func(a, b, _ uint64, w uint) uint64 {
		x, y := SignExtend(a, w), SignExtend(b, w)
		switch y {
		case 0:
			return a
		case -1:
			return 0
		}
		return uint64(x % y)
	}},
	Shl: {Name: "bvshl", Arity: 2, Eval: func(a, b, _ uint64, w uint) uint64 {
		if b >= uint64(w) {
			return 0
		}
		return a << b
	}},
	LShr: {Name: "bvlshr", Arity: 2, Eval: func(a, b, _ uint64, w uint) uint64 {
		if b >= uint64(w) {
			return 0
		}
		return a >> b
	}},
	AShr: {Name: "bvashr", Arity: 2, Eval: func(a, b, _ uint64, w uint) uint64 {
		if b >= uint64(w) {
			b = uint64(w) - 1
		}
		return uint64(SignExtend(a, w) >> b)
	}},
	Eq:      {Name: "=", Arity: 2, Commutative: true, Predicate: true, Eval: func(a, b, _ uint64, _ uint) uint64 { return b2u(a == b) }},
	Ult:     {Name: "bvult", Arity: 2, Predicate: true, Eval: func(a, b, _ uint64, _ uint) uint64 { return b2u(a < b) }},
	Slt:     {Name: "bvslt", Arity: 2, Predicate: true, Eval: func(a, b, _ uint64, w uint) uint64 { return b2u(SignExtend(a, w) < SignExtend(b, w)) }},
	Ite:     {Name: "ite", Arity: 3},
	Concat:  {Name: "concat", Arity: 2},
	Extract: {Name: "extract", Arity: 1},
	ZExt:    {Name: "zero_extend", Arity: 1},
	SExt:    {Name: "sign_extend", Arity: 1},
	Select:  {Name: "select", Arity: 1},
	FAdd:    {Name: "fadd", Arity: 2},
	FSub:    {Name: "fsub", Arity: 2},
	FMul:    {Name: "fmul", Arity: 2},
	FDiv:    {Name: "fdiv", Arity: 2},
	FSqrt:   {Name: "fsqrt", Arity: 1},
	FFromI:  {Name: "ffromi", Arity: 1},
	FToI:    {Name: "ftoi", Arity: 1},
	FCvt:    {Name: "fcvt", Arity: 1},
}

// IsFloat reports whether k is a float kind.
func (k Kind) IsFloat() bool { return k >= FAdd && k <= FCvt }

// String returns the kind's name, the SMT-LIB operator where there is one.
func (k Kind) String() string { return kinds[k].Name }

// Arity returns the number of operands.
func (k Kind) Arity() int { return kinds[k].Arity }
