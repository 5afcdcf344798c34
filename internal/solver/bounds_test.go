package solver

import (
	"testing"

	"symchef/internal/expr"
)

// Bounds are remembered for the same expression under the same conjuncts, and forgotten whole when there are too many.
func TestBoundsKept(t *testing.T) {
	var b bounds
	l := []expr.Ref{3, 4}
	b.keep(&bound{value: 7, conj: l, lo: 1, hi: 2})
	if k := b.of(7, []expr.Ref{3, 4}); k == nil || k.lo != 1 || k.hi != 2 || b.of(7, l[:1]) != nil || b.of(8, l) != nil || b.of(7, []expr.Ref{4, 3}) != nil {
		t.Errorf("kept %+v", b.known)
	}
	b.keep(&bound{value: 8, conj: make([]expr.Ref, maxBoundRefs)})
	b.keep(&bound{value: 9, conj: l, lo: 5})
	if b.of(7, l) != nil || b.of(9, l) == nil || b.refs != 3 {
		t.Errorf("kept %d, with %d expressions", len(b.known), b.refs)
	}
}
