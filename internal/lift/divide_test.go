package lift_test

import (
	"math/big"
	"testing"

	"symchef/internal/ir"
	"symchef/internal/ir/iref"
	"symchef/internal/lift"
)

// TestDivide64 divides numbers of 128 bits, among them all whose quotient just fits or just does not, and compares with math/big: the quotient
// is rounded to 0, the remainder has the sign of the dividend, and a quotient that does not fit traps (SDM vol. 2A, DIV and IDIV).
func TestDivide64(t *testing.T) {
	bits := func(v uint64, signed bool) *big.Int { // of a number of 64 bits
		if signed {
			return big.NewInt(int64(v))
		}
		return new(big.Int).SetUint64(v)
	}
	word := new(big.Int).Lsh(big.NewInt(1), 64)
	low := func(n *big.Int) uint64 { return new(big.Int).Mod(n, word).Uint64() }
	edges := []uint64{0, 1, 2, 3, 10, 1<<32 - 1, 1 << 32, 1<<63 - 2, 1<<63 - 1, 1 << 63, 1<<63 + 1, 0xdead_beef_0123_4567, 1<<64 - 10, 1<<64 - 3, 1<<64 - 2, 1<<64 - 1}
	for _, form := range []struct {
		name, code string
		signed     bool
		rdx        func(rax uint64) uint64 // what the code makes of it
	}{
		{"div rcx", "\x48\xf7\xf1", false, nil},
		{"idiv rcx", "\x48\xf7\xf9", true, nil},
		{"xor edx, edx; div rcx", "\x31\xd2\x48\xf7\xf1", false, func(uint64) uint64 { return 0 }},
		{"cqo; idiv rcx", "\x48\x99\x48\xf7\xf9", true, func(rax uint64) uint64 { return uint64(int64(rax) >> 63) }},
		{"cqo; mov rax, rdi; idiv rcx", "\x48\x99\x48\x89\xf8\x48\xf7\xf9", true, nil}, // not of this rax
	} {
		b, err := lift.Lift(0x1000, func(addr uint64, p []byte) int {
			return copy(p, (form.code + "\xc3")[min(addr-0x1000, uint64(len(form.code))):])
		})
		if err != nil {
			t.Fatalf("%s: %v", form.name, err)
		}
		run := func(rdx, rax, s uint64) {
			m := &iref.Machine{Mem: nothing{}}
			m.R[ir.RAX], m.R[ir.RDX], m.R[ir.RCX], m.R[ir.RSP] = rax, rdx, s, 0x7000
			if form.rdx != nil {
				rdx = form.rdx(rax)
			} else if form.code[0:2] == "\x48\x99" {
				m.R[ir.RAX], m.R[ir.RDI] = rdx, rax // cqo makes its sign of the one and divides the other
				rdx = uint64(int64(rdx) >> 63)
			}
			x := new(big.Int).Add(new(big.Int).Lsh(bits(rdx, form.signed), 64), new(big.Int).SetUint64(rax))
			exit := m.Run(b)
			fits := s != 0
			var q, r *big.Int
			if fits {
				q, r = new(big.Int).QuoRem(x, bits(s, form.signed), new(big.Int))
				fits = bits(low(q), form.signed).Cmp(q) == 0
			}
			switch {
			case !fits && (exit.Kind != iref.Trap || exit.Trap != ir.TrapDE):
				t.Errorf("%s: %#x:%#x / %#x does not fit: %v", form.name, rdx, rax, s, exit)
			case fits && (exit.Kind == iref.Trap || m.R[ir.RAX] != low(q) || m.R[ir.RDX] != low(r)):
				t.Errorf("%s: %#x:%#x / %#x: %#x remainder %#x (%v), want %v remainder %v", form.name, rdx, rax, s, m.R[ir.RAX], m.R[ir.RDX], exit, q, r)
			}
		}
		for _, s := range edges {
			for _, v := range edges {
				for _, rdx := range edges {
					run(rdx, v, s)
				}
				for _, more := range []int64{-1, 0, 1} { // q*s and a remainder, which may be the first too large
					for _, rest := range []*big.Int{new(big.Int), bits(s, form.signed)} {
						x := new(big.Int).Mul(bits(v, form.signed), bits(s, form.signed))
						x.Add(x, rest).Add(x, big.NewInt(more))
						run(low(new(big.Int).Rsh(x, 64)), low(x), s)
					}
				}
			}
		}
	}
}

// nothing is memory that holds zeros.
type nothing struct{}

func (nothing) ReadMem(uint64, []byte) error  { return nil }
func (nothing) WriteMem(uint64, []byte) error { return nil }
