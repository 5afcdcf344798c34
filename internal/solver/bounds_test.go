package solver

import (
	"testing"

	"symchef/internal/expr"
)

// Bounds are remembered for the same expression under the same conjuncts, and forgotten whole when there are too many.
func TestBoundsKept(t *testing.T) {
	var b bounds
	l := []expr.Ref{3, 4}
	keep := func(k bound) { b.keep(k.key(), &k) }
	of := func(value expr.Ref, conj ...expr.Ref) *bound {
		q := &bound{value: value, conj: conj}
		return b.of(q.key(), q)
	}
	keep(bound{value: 7, conj: l, lo: 1, hi: 2})
	if k := of(7, 3, 4); k == nil || k.lo != 1 || k.hi != 2 || of(7, 3) != nil || of(8, 3, 4) != nil || of(7, 4, 3) != nil {
		t.Errorf("kept %+v", b.known)
	}
	for _, other := range []*bound{{value: 8, conj: l}, {value: 7, conj: []expr.Ref{4, 3}}} {
		if first := (&bound{value: 7, conj: l}).key(); b.of(first, other) != nil {
			t.Error("the key alone is compared")
		}
	}
	keep(bound{value: 8, conj: make([]expr.Ref, maxBoundRefs)})
	keep(bound{value: 9, conj: l, lo: 5})
	if of(7, l...) != nil || of(9, l...) == nil || b.refs != 3 {
		t.Errorf("kept %d, with %d expressions", len(b.known), b.refs)
	}
}
