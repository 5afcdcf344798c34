package expr

// Substitute returns r with every subexpression that known gives a value for
// replaced by that constant, simplified anew. memo carries results between calls
// with the same known values.
func (c *Ctx) Substitute(r Ref, known map[Ref]uint64, memo map[Ref]Ref) Ref {
	for _, x := range c.Stones(r, func(x Ref) bool { _, done := memo[x]; return done }) {
		c.substitute(x, known, memo)
	}
	return c.substitute(r, known, memo)
}

func (c *Ctx) substitute(r Ref, known map[Ref]uint64, memo map[Ref]Ref) Ref {
	if out, done := memo[r]; done {
		return out
	}
	n := *c.at(r)
	out := r
	if v, fixed := known[r]; fixed {
		out = c.Const(v, uint(n.width))
	} else if ar := kinds[n.kind].Arity; ar > 0 {
		var x, y, z Ref
		x = c.substitute(Ref(n.a), known, memo)
		if n.kind == Ite {
			// Only the arm that is left is looked at.
			if v, isConst := c.IsConst(x); isConst {
				arm := n.c
				if v != 0 {
					arm = n.b
				}
				out = c.substitute(Ref(arm), known, memo)
				memo[r] = out
				return out
			}
		}
		if ar > 1 {
			y = c.substitute(Ref(n.b), known, memo)
		}
		if ar > 2 {
			z = c.substitute(Ref(n.c), known, memo)
		}
		if x != Ref(n.a) || ar > 1 && y != Ref(n.b) || ar > 2 && z != Ref(n.c) {
			out = c.rebuild(&n, x, y, z)
		}
	}
	memo[r] = out
	return out
}

// Rebuild returns the operator of r, which is neither a constant nor a variable, on other operands; those it does not have do not matter.
func (c *Ctx) Rebuild(r, x, y, z Ref) Ref {
	n := *c.at(r)
	return c.rebuild(&n, x, y, z)
}

// rebuild makes a node like n over other operands, in normal form.
func (c *Ctx) rebuild(n *node, x, y, z Ref) Ref {
	switch n.kind {
	case Ite:
		return c.Ite(x, y, z)
	case Concat:
		return c.Concat(x, y)
	case Extract:
		return c.Extract(x, uint(n.aux), uint(n.width))
	case ZExt, SExt:
		return c.extend(n.kind, x, uint(n.width))
	case Select:
		return c.Select(c.tables[n.b].vals, x, uint(n.width))
	case Not, Neg:
		return c.unary(n.kind, x)
	}
	if n.kind.IsFloat() {
		return c.float(n.kind, Env(n.aux), x, y, uint(n.width))
	}
	return c.binary(n.kind, x, y)
}
