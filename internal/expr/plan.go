package expr

// Plan evaluates expressions under assignments that differ in the last of some variables: a node is computed again only
// when a variable that it depends on has changed.
//
//	p := c.NewPlan([]VarID{x, y}, roots)
//	p.Set(0, 5)    // x = 5: computes what depends on x alone
//	p.Set(1, 7)    // y = 7: computes what depends on y
//	p.Value(root)  // under x = 5, y = 7
//
// The Ctx must not grow while a Plan is in use.
type Plan struct {
	c      *Ctx
	index  map[Ref]int32
	vals   []uint64
	vars   []int32 // by place in the order: its value, -1 if no root mentions it
	levels [][]planNode
}

type planNode struct {
	n       *node
	x, y, z int32
	out     int32
}

// NewPlan plans roots, which mention no variable outside order.
func (c *Ctx) NewPlan(order []VarID, roots []Ref) *Plan {
	p := &Plan{c: c, index: map[Ref]int32{}, vars: make([]int32, len(order)), levels: make([][]planNode, len(order)+1)}
	place := map[VarID]int{}
	for i, v := range order {
		place[v] = i
		p.vars[i] = -1
	}
	levelOf := []int{} // by index
	add := func(r Ref, level int) int32 {
		i := int32(len(p.vals))
		p.index[r], p.vals, levelOf = i, append(p.vals, 0), append(levelOf, level)
		return i
	}
	todo := append([]Ref(nil), roots...)
	for len(todo) > 0 {
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
		if n.kind == Var {
			i := place[VarID(n.a)]
			p.vars[i] = add(r, i+1)
			continue
		}
		out := add(r, level)
		p.levels[level] = append(p.levels[level], planNode{n, at[0], at[1], at[2], out})
	}
	p.run(0)
	return p
}

func (p *Plan) run(level int) {
	for i := range p.levels[level] {
		s := &p.levels[level][i]
		p.vals[s.out] = p.c.evalNode(s.n, p.vals[s.x], p.vals[s.y], p.vals[s.z], nil)
	}
}

// Set gives the i-th variable a value and computes what depends on it and on those before it.
func (p *Plan) Set(i int, v uint64) {
	if k := p.vars[i]; k >= 0 {
		p.vals[k] = v
	}
	p.run(i + 1)
}

// Cost is the number of nodes that Set computes for the i-th variable.
func (p *Plan) Cost(i int) int { return len(p.levels[i+1]) }

// Value is that of a root whose variables have been set.
func (p *Plan) Value(r Ref) uint64 { return p.vals[p.index[r]] }
