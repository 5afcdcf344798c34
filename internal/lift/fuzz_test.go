package lift

import (
	"testing"

	"symchef/internal/ir"
)

// FuzzLift lifts any bytes: a block or a fault, and every block ends.
func FuzzLift(f *testing.F) {
	for _, s := range []string{"\x48\x01\xc8\xc3", "\xf3\xa4\x90", "\x66\x0f\x6f\x05\x10\x00\x00\x00\xeb\xfe", "\xd9\xfe\xdf\xe0\x0f\x05", "\x48\xf7\x3b\x74\x02\x0f\x0b",
		"\xf0\x48\x0f\xc7\x0b", "\x0f\xae\x00\x0f\xae\x08", "\x65\x67\x0f\xab\x0c\x8b", "\x66\x0f\xf7\xca\x66\x0f\xe4\xc1", "\x48\xc1\x24\x8b\x43\xd3\x1c\xe5\xff\xff\xff\x7f"} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, code []byte) {
		const pc = 0x1000
		fetch := func(addr uint64, p []byte) int {
			if off := addr - pc; off < uint64(len(code)) {
				return copy(p, code[off:])
			}
			return 0
		}
		for _, translate := range []func(uint64, Fetch) (*ir.Block, error){Lift, How{UntilStore: true, Processor: ir.V3}.Lift, How{}.Lift} {
			b, err := translate(pc, fetch)
			if err != nil {
				continue
			}
			last := b.Uops[len(b.Uops)-1].Op
			if b.Next < pc || b.Next > pc+uint64(len(code)) || len(b.Insns) == 0 || ir.RowOf(last) != nil {
				t.Fatalf("% x: next %#x, %d instructions, last uop %v", code, b.Next, len(b.Insns), last)
			}
		}
		Describe(pc, fetch)
		Accept(pc, code[:min(len(code), maxInsnLen)])
	})
}
