package expr

import "fmt"

// RuleInfo describes one rule to the tests.
type RuleInfo struct {
	Name string
	Kind Kind
}

// Rules lists every rule.
func Rules() (list []RuleInfo) {
	for _, family := range ruleFamilies {
		for _, r := range family {
			list = append(list, RuleInfo{r.name, r.kind})
		}
	}
	return list
}

// Audit calls bad for each application of a rule that changes the value under
// one of the assignments or the width, and counts applications in hits.
func (c *Ctx) Audit(assignments func() []Assignment, hits map[string]int, bad func(string)) {
	c.audit = func(r *rule, t term, res Ref) {
		hits[r.name]++
		if c.Width(res) != t.w {
			bad(fmt.Sprintf("rule %s: width %d, not %d", r.name, c.Width(res), t.w))
		}
		n := node{kind: t.kind, width: uint8(t.w), aux: uint16(t.lo), a: uint32(t.a), b: uint32(t.b), c: uint32(t.c)}
		for _, a := range assignments() {
			var v [3]uint64
			for i, x := range [3]Ref{t.a, t.b, t.c} {
				if i < kinds[t.kind].Arity {
					v[i] = c.Eval(x, a)
				}
			}
			if want, got := c.evalNode(&n, v[0], v[1], v[2], a), c.Eval(res, a); got != want {
				bad(fmt.Sprintf("rule %s under %v: %#x, not %#x", r.name, a, got, want))
			}
		}
	}
}

// Compare is the deep structural order.
func (c *Ctx) Compare(a, b Ref) int { return c.compare(a, b) }

// NodeType is the type of a node, for reflection.
func NodeType() any { return node{} }

// ApplyRule tries the rule called name on a term, with swapped operands too
// where the kind commutes; 0 where it does not apply.
func (c *Ctx) ApplyRule(name string, k Kind, w, lo uint, ops []Ref, tab []uint64) Ref {
	t := term{kind: k, w: w, lo: lo}
	for i, x := range ops {
		*[]*Ref{&t.a, &t.b, &t.c}[i] = x
	}
	if k == Select {
		t.b = Ref(c.internTable(tab, w))
	}
	orders := []term{t}
	if kinds[k].Commutative {
		orders = append(orders, t)
		orders[1].a, orders[1].b = t.b, t.a
	}
	for _, family := range ruleFamilies {
		for _, r := range family {
			if r.name != name || r.kind != k {
				continue
			}
			for _, t := range orders {
				if len(ops) == 2 {
					t.vb, t.kb = c.IsConst(t.b)
				}
				if r.on != Invalid && r.on != c.Kind(t.a) || r.konst && !t.kb {
					continue
				}
				if _, ok := c.IsConst(t.a); ok && kinds[k].Commutative {
					continue // the constructor has put constants second
				}
				if res := r.apply(c, t); res != 0 {
					return res
				}
			}
		}
	}
	return 0
}
