package expr

// Plan evaluates conditions under assignments that differ in the last of some variables: a node is computed again only
// when a variable that it depends on has changed, and not once a condition has failed.
//
//	p := c.NewPlan([]VarID{x, y}, conds)
//	p.Set(0, 5)  // x = 5: whether what mentions x alone holds
//	p.Set(1, 7)  // y = 7: whether the rest holds under x = 5, y = 7
//
// The Ctx must not grow while a Plan is in use.
type Plan struct {
	c      *Ctx
	index  map[Ref]int32
	vals   []uint64
	vars   []int32 // by place in the order: its value, -1 if no root mentions it
	levels [][]planNode
	work   int
	lanes  *lanes // nil: Try has not been called
}

type planNode struct {
	n       *node
	x, y, z int32
	out     int32
	cond    bool // is a condition
}

// NewPlan plans conds, which mention variables of order alone, each one at least. They are evaluated in their order, as far as
// their variables allow.
func (c *Ctx) NewPlan(order []VarID, conds []Ref) *Plan {
	p := &Plan{c: c, index: map[Ref]int32{}, vars: make([]int32, len(order)), levels: make([][]planNode, len(order)+1)}
	place := map[VarID]int{}
	for i, v := range order {
		place[v] = i
		p.vars[i] = -1
	}
	isCond := map[Ref]bool{}
	for _, r := range conds {
		isCond[r] = true
	}
	var levelOf []int // by index
	var todo []Ref
	for _, r := range conds {
		for todo = append(todo, r); len(todo) > 0; {
			r := todo[len(todo)-1]
			if _, done := p.index[r]; done {
				todo = todo[:len(todo)-1]
				continue
			}
			n := c.at(r)
			ops := [...]Ref{Ref(n.a), Ref(n.b), Ref(n.c)}
			var at [3]int32
			level, ready := 0, true
			for i := range kinds[n.kind].Arity {
				k, ok := p.index[ops[i]]
				if !ok {
					todo, ready = append(todo, ops[i]), false
					continue
				}
				at[i], level = k, max(level, levelOf[k])
			}
			if !ready {
				continue
			}
			todo = todo[:len(todo)-1]
			out := int32(len(p.vals))
			if n.kind == Var {
				level = place[VarID(n.a)] + 1
				p.vars[level-1] = out
			}
			p.index[r], p.vals, levelOf = out, append(p.vals, 0), append(levelOf, level)
			if n.kind != Var || isCond[r] {
				p.levels[level] = append(p.levels[level], planNode{n, at[0], at[1], at[2], out, isCond[r]})
			}
		}
	}
	p.run(0)
	return p
}

func (p *Plan) run(level int) bool {
	nodes := p.levels[level]
	for i := range nodes {
		s := &nodes[i]
		if s.n.kind != Var {
			p.vals[s.out] = p.c.evalNode(s.n, p.vals[s.x], p.vals[s.y], p.vals[s.z], nil)
		}
		if p.work++; s.cond && p.vals[s.out] == 0 {
			return false
		}
	}
	return true
}

// Set gives the i-th variable a value. It reports whether the conditions hold that mention it and variables before it.
func (p *Plan) Set(i int, v uint64) bool {
	if k := p.vars[i]; k >= 0 {
		p.vals[k] = v
	}
	p.work++
	return p.run(i + 1)
}

// Work is the number of nodes that have been computed, and of calls of Set, or would have been: see Try.
func (p *Plan) Work() int { return p.work }
