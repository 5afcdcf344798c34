package expr

// Copy builds the expressions roots of c in dst and returns their Refs there;
// 0 stays 0. A fresh dst gets every variable of c first, so that VarIDs and
// assignments stay valid. Copying what is still needed into a new Ctx is how
// an arena is compacted.
//
// require: a variable of both has one width.
func (c *Ctx) Copy(dst *Ctx, roots []Ref) []Ref {
	for _, v := range c.vars {
		dst.Var(v.name, uint(v.width))
	}
	moved := make([]Ref, c.n)
	c.postorder(roots, func(r Ref) {
		n := *c.at(r)
		switch n.kind {
		case Const:
		case Var:
			moved[r] = dst.Var(c.vars[n.a].name, uint(n.width))
			return
		case Select:
			n.a = uint32(moved[n.a])
			n.b = dst.internTable(c.tables[n.b].vals, uint(n.width))
		default:
			// The operands of a node keep their order: it is structural.
			n.a, n.b, n.c = uint32(moved[n.a]), uint32(moved[n.b]), uint32(moved[n.c])
		}
		moved[r] = dst.intern(n)
	})
	out := make([]Ref, len(roots))
	for i, r := range roots {
		out[i] = moved[r]
	}
	return out
}

// postorder visits each node under roots once, operands first, in an order
// that depends on structure only.
func (c *Ctx) postorder(roots []Ref, visit func(Ref)) {
	seen := make([]uint64, c.n/64+1)
	var todo []Ref
	for _, root := range roots {
		if root != 0 {
			todo = append(todo, root)
		}
		for len(todo) > 0 {
			r := todo[len(todo)-1]
			if seen[r/64]>>(r%64)&1 == 1 {
				todo = todo[:len(todo)-1]
				continue
			}
			ready := true
			for i := kinds[c.Kind(r)].Arity - 1; i >= 0; i-- {
				if x := c.operand(r, i); seen[x/64]>>(x%64)&1 == 0 {
					todo = append(todo, x)
					ready = false
				}
			}
			if ready {
				seen[r/64] |= 1 << (r % 64)
				visit(r)
				todo = todo[:len(todo)-1]
			}
		}
	}
}

// Nodes returns how many different expressions roots are made of.
func (c *Ctx) Nodes(roots []Ref) (n int) {
	c.postorder(roots, func(Ref) { n++ })
	return n
}
