package solver

import (
	"fmt"
	"strings"

	"symchef/internal/expr"
)

// validate evaluates models on the conjuncts as the caller wrote them.
type validate struct {
	chain *Chain
	next  stage
	n     uint64 // Sat answers seen
}

func (s *validate) check(r *request) Result {
	res := s.next.check(r)
	if res != Sat {
		return res
	}
	c := s.chain
	s.n++
	conj := r.conj
	if !c.opts.ValidateAll && s.n%16 != 0 && c.adv == nil {
		conj = conj[len(conj)-r.fresh:]
	}
	c.ctx.NewEval()
	for _, e := range conj {
		if c.ctx.EvalMemo(e, r.model) != 1 {
			c.wrong("answer", r.conj, e, r.model)
		}
	}
	return Sat
}

// wrong reports a model that does not satisfy e.
func (c *Chain) wrong(where string, conj []expr.Ref, e expr.Ref, m expr.Assignment) {
	panic(fmt.Sprintf("solver: %s: the model violates %s\nmodel: %s\nquery:\n%s\nthe hint may not satisfy the conjuncts not marked New",
		where, Dump(c.ctx, e), dumpModel(c.ctx, m), dumpAll(c.ctx, conj)))
}

func dumpModel(ctx *expr.Ctx, m expr.Assignment) string {
	var b strings.Builder
	for v := range ctx.NumVars() {
		fmt.Fprintf(&b, " %s=%#x", ctx.VarName(expr.VarID(v)), m.Get(expr.VarID(v)))
	}
	return b.String()
}

func dumpAll(ctx *expr.Ctx, conj []expr.Ref) string {
	var b strings.Builder
	for _, e := range conj {
		b.WriteString(Dump(ctx, e) + "\n")
	}
	return b.String()
}

// Dump writes e as an S-expression, cut off at 4,000 nodes. The operators are
// those of expr's kind table; constants are value:width.
func Dump(ctx *expr.Ctx, e expr.Ref) string {
	var b strings.Builder
	left := 4000
	var walk func(e expr.Ref)
	walk = func(e expr.Ref) {
		if left--; left < 0 {
			b.WriteString("...")
			return
		}
		k := ctx.Kind(e)
		switch k {
		case expr.Const:
			v, _ := ctx.IsConst(e)
			fmt.Fprintf(&b, "%#x:%d", v, ctx.Width(e))
			return
		case expr.Var:
			b.WriteString(ctx.VarName(ctx.VarOf(e)))
			return
		}
		fmt.Fprintf(&b, "(%v", k)
		switch k {
		case expr.Extract:
			fmt.Fprintf(&b, "[%d,+%d]", ctx.Lo(e), ctx.Width(e))
		case expr.ZExt, expr.SExt:
			fmt.Fprintf(&b, "[%d]", ctx.Width(e))
		case expr.Select:
			fmt.Fprintf(&b, "%#x", ctx.Table(e))
		default:
			if k.IsFloat() {
				fmt.Fprintf(&b, "/%d[%d]", ctx.Env(e), ctx.Width(e))
			}
		}
		for i, o := range [...]expr.Ref{ctx.A(e), ctx.B(e), ctx.C(e)} {
			if i < k.Arity() {
				b.WriteByte(' ')
				walk(o)
			}
		}
		b.WriteByte(')')
	}
	walk(e)
	return b.String()
}

// crosscheck asks an oracle about a sample of the Unsat answers.
type crosscheck struct {
	chain *Chain
	next  stage
	n     int
}

func (s *crosscheck) check(r *request) Result {
	res := s.next.check(r)
	if res != Unsat {
		return res
	}
	c := s.chain
	s.n++
	if s.n%max(1, c.opts.CrossEvery) == 0 && c.opts.CrossCheck(r.conj) == Sat {
		panic("solver: unsat, but the oracle says sat:\n" + dumpAll(c.ctx, r.conj))
	}
	return res
}
