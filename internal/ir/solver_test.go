package ir_test

import (
	"context"
	"fmt"
	"maps"
	"os"
	"slices"
	"testing"
	"time"

	"symchef/internal/expr"
	"symchef/internal/ir"
	"symchef/internal/mutate/image"
	"symchef/internal/pace"
	"symchef/internal/smtlib"
)

// twice proves of a meaning given twice that it is one.
type twice struct {
	t            *testing.T
	solvers      []string
	slow         bool          // all of it, with both solvers
	patience     time.Duration // of a solver, for one proof
	same, proofs int
	open         map[string]int // without an answer
}

func newTwice(t *testing.T) *twice {
	p := &twice{t: t, solvers: smtlib.Find(), patience: pace.Stretch(t, time.Second/2), open: map[string]int{}}
	slices.Reverse(p.solvers) // z3 first
	if p.slow = os.Getenv("SYMCHEF_SLOW") != ""; p.slow {
		p.patience = 20 * time.Second
	}
	if len(p.solvers) == 0 {
		t.Skip("skipped: neither cvc5 nor z3 is installed: nothing is proved")
	}
	return p
}

// equal proves x = y under conditions.
func (p *twice) equal(e *expr.Ctx, name string, x, y expr.Ref, when ...expr.Ref) {
	p.t.Helper()
	if x == y {
		p.same++
		return
	}
	script := smtlib.Print(e, append(when, e.Ne(x, y)))
	for _, s := range p.solvers {
		answer, err := smtlib.Solve(context.Background(), s, script, p.patience)
		switch {
		case err != nil:
			p.t.Fatalf("%s: %v", name, err)
		case answer.Status == smtlib.Sat:
			p.t.Fatalf("%s: differs under %#x", name, answer.Model)
		case answer.Status == smtlib.Unsat:
			p.proofs++
			return
		}
		if !p.slow {
			break
		}
	}
	p.open[name]++
}

func (p *twice) log() {
	p.t.Logf("%d are the same expression, %d proved, no answer: %v", p.same, p.proofs, slices.Sorted(maps.Keys(p.open)))
	if p.same+p.proofs < len(p.open) {
		p.t.Errorf("most have no answer")
	}
}

// TestRowsBySolver proves that the two meanings of an integer or vector row are one for all operands: the machine code of Eval, lifted and
// executed on symbolic operands, and Sym. Products, quotients and sums of lanes may have no answer (docs/tests.md). Without SYMCHEF_SLOW it looks at
// 8 and 64 bits only.
func TestRowsBySolver(t *testing.T) {
	p := newTwice(t)
	eachRow(func(name string, row *ir.Row, w, x uint, imm uint64) {
		if !p.slow && w != 8 && w != 64 {
			return
		}
		e := expr.New()
		a, b, c := e.Var("a", 64), e.Var("b", 64), e.Var("c", 64)
		eval, err := evaluated(e, row, w, x, imm)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		p.equal(e, name, eval, row.Sym(e, a, b, c, w, x, imm))
	})
	p.log()
}

// eachRow calls f for integer and vector rows at all widths and with some parameters.
func eachRow(f func(name string, row *ir.Row, w, x uint, imm uint64)) {
	for o := range ir.FirstFloat {
		row := ir.RowOf(o)
		if row == nil {
			continue
		}
		imms := []uint64{0}
		if row.Param {
			imms = []uint64{0, 1, 2, 3, 5, 7, 8, 0x1b, 0xff}
		}
		for _, w := range []uint{1, 8, 16, 32, 64} {
			for _, x := range []uint{8, 16, 32, 64} {
				for _, imm := range imms {
					if valid(o, w, x, imm) {
						f(fmt.Sprintf("%s %d %d %d", row.Name, w, x, imm), row, w, x, imm)
					}
				}
			}
		}
	}
}

// evaluated returns what the machine code of Eval makes of variables a, b, c.
func evaluated(e *expr.Ctx, row *ir.Row, w, x uint, imm uint64) (expr.Ref, error) {
	return image.Function(e, row.Eval, e.Var("a", 64), e.Var("b", 64), e.Var("c", 64), e.Const(uint64(w), 64), e.Const(uint64(x), 64), e.Const(imm, 64))
}

// TestFlagsBySolver proves the same of Flags and TestCond, and SymFlags and SymCond; of parity, a table in Flags, with SYMCHEF_SLOW only.
func TestFlagsBySolver(t *testing.T) {
	p := newTwice(t)
	for k := range ir.CCResult + 1 {
		for _, w := range []uint{8, 16, 32, 64} {
			if !p.slow && w != 8 && w != 64 {
				continue
			}
			cc := ir.MakeCC(k, w)
			e := expr.New()
			a, b, c := e.Var("a", 64), e.Var("b", 64), e.Var("c", 64)
			var when []expr.Ref
			if k == ir.CCShl || k == ir.CCShr || k == ir.CCSar { // a masked count that is not 0, as operands hold it
				when = append(when, e.Ult(e.Sub(b, e.Const(1, 64)), e.Const(map[bool]uint64{false: 31, true: 63}[w == 64], 64)))
			}
			flags, err := evaluatedFlags(e, cc)
			if err != nil {
				t.Fatal(err)
			}
			sym := ir.SymFlags(e, cc, a, b, c)
			name := fmt.Sprintf("kind %d at %d bits", k, w)
			if p.slow {
				p.equal(e, name+", parity", e.Extract(flags, 2, 1), e.Extract(sym, 2, 1), when...)
			}
			// The others at once, each condition a bit more.
			mask := e.Const(ir.FlagCF|ir.FlagAF|ir.FlagZF|ir.FlagSF|ir.FlagOF, 64)
			x, y := e.And(flags, mask), e.And(sym, mask)
			for cond := range uint64(16) {
				if cond&^1 == ir.CondP {
					continue
				}
				holds, err := image.Function(e, ir.TestCond, e.Const(cond, 64), flags)
				if err != nil {
					t.Fatal(err)
				}
				at := e.Const(16+cond, 64)
				x = e.Or(x, e.Shl(e.ZExt(e.Extract(holds, 0, 1), 64), at))
				y = e.Or(y, e.Shl(e.ZExt(ir.SymCond(e, cond, cc, a, b, c), 64), at))
			}
			p.equal(e, name, x, y, when...)
		}
	}
	p.log()
}

// evaluatedFlags returns what the machine code of Flags makes of variables a, b, c.
func evaluatedFlags(e *expr.Ctx, cc ir.CC) (expr.Ref, error) {
	return image.Function(e, ir.Flags, e.Const(uint64(cc), 64), e.Var("a", 64), e.Var("b", 64), e.Var("c", 64))
}
