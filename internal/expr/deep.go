package expr

// A loop of a million rounds makes an expression a million operators deep. What calls itself for each operand first goes through the stones:
//
//	for _, x := range c.Stones(r, done) { visit(x) } // each goes no deeper than stone levels
//	visit(r)
//
// The height of a node, that of its highest operand and one, is kept modulo stone, with a bit that says whether it is stone or more.

const (
	stone = 1 << 12
	deep  = stone
)

func (c *Ctx) heightOf(n *node) (h uint16) {
	ops := [...]uint32{n.a, n.b, n.c}
	for i := range kinds[n.kind].Arity {
		k := c.height[ops[i]]
		if k&deep != 0 && h&deep == 0 || k&deep == h&deep && k > h {
			h = k
		}
	}
	if h&(stone-1) == stone-1 {
		return deep
	}
	if kinds[n.kind].Arity == 0 {
		return 0
	}
	return h + 1
}

// isDeep reports whether r is so deep that no rule should descend into it.
func (c *Ctx) isDeep(r Ref) bool { return c.height[r]&deep != 0 }

// Stones lists nodes below r, operands first, so that no way down from r, or from one of them to the next, is much longer than stone. What done
// says of need not be visited any more, nor what is below. For all but very deep expressions there are none.
func (c *Ctx) Stones(r Ref, done func(Ref) bool) (list []Ref) {
	if c.height[r]&deep == 0 {
		return nil
	}
	seen := map[Ref]bool{}
	for todo := []Ref{r}; len(todo) > 0; {
		t := todo[len(todo)-1]
		n := c.at(t)
		ready := true
		if ops := [...]uint32{n.a, n.b, n.c}; !seen[t] && (t == r || !done(t)) {
			for i := range kinds[n.kind].Arity {
				if x := Ref(ops[i]); c.height[x]&deep != 0 && !seen[x] {
					todo, ready = append(todo, x), false
				}
			}
		}
		if !ready {
			continue
		}
		todo = todo[:len(todo)-1]
		if !seen[t] && t != r && c.height[t]&(stone-1) == 0 && !done(t) {
			list = append(list, t)
		}
		seen[t] = true
	}
	return list
}
