package kernel

import (
	"testing"

	"symchef/internal/expr"
	"symchef/internal/mem"
)

// Bytes of which each may have an expression and none has are concrete.
func TestJoinConcrete(t *testing.T) {
	b := join(mem.Concrete([]byte("ok\n")), mem.Bytes{Data: []byte{7}, Sym: make([]expr.Ref, 1)})
	if string(b.Data) != "ok\n\a" || b.Sym != nil {
		t.Errorf("%q %v", b.Data, b.Sym)
	}
}
