package cpucheck

import (
	"encoding/binary"
	"math/rand/v2"

	"symchef/internal/ir"
)

// interesting are values at which instructions behave differently.
var interesting = []uint64{0, 1, 2, 3, 7, 8, 15, 16, 17, 31, 32, 33, 63, 64, 0x7f, 0x80, 0xff, 0x100, 0x7fff, 0x8000, 0xffff, 0x10000,
	0x7fffffff, 0x80000000, 0xffffffff, 0x100000000, 0x7fffffffffffffff, 0x8000000000000000, 0xffffffffffffffff, 0xfffffffffffffffe,
	0x5555555555555555, 0xaaaaaaaaaaaaaaaa, 0x0123456789abcdef, 0x8080808080808080, 0xffffffff80000000, 0xffffffffffffff80}

// Value returns an interesting or a random value; without a branch, as no processor guesses which comes next.
func Value(r *rand.Rand) uint64 {
	how, v := r.Uint64(), r.Uint64()
	kind, shift := how&3, how>>2&63
	if kind == 3 {
		shift = 0
	}
	v >>= shift
	if kind == 2 {
		v = -v
	}
	if w := interesting[how>>32*uint64(len(interesting))>>32]; kind == 0 {
		v = w
	}
	return v
}

// Rand makes states. What fills them comes from tapes of values: a row of registers or a piece of memory is a piece of
// a tape, from anywhere on it. With every state so many values of a tape are replaced that two of them hardly ever meet
// twice in the same two registers.
type Rand struct {
	*rand.Rand
	source splitMix
	tapes  [numTapes]tape
}

// The tapes: of what, in how many bytes each.
const (
	integers = iota // Value, 8
	singles         // two of Single, 8
	doubles         // Double, 8
	extended        // Extended, 16
	numTapes
)

const (
	tapeLen = 2048 // values of a tape
	renewed = 4    // of them replaced with every state; divides tapeLen
)

// tape is a row of values; it is empty until it is used.
type tape struct {
	mem  []byte
	next int // which value is replaced next
}

// splitMix is a rand.Source, cheaper than those of math/rand (Steele, Lea, Flood: Fast splittable pseudorandom number generators, 2014).
type splitMix uint64

func (s *splitMix) Uint64() uint64 {
	*s += 0x9e3779b97f4a7c15
	z := uint64(*s)
	z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
	z = (z ^ z>>27) * 0x94d049bb133111eb
	return z ^ z>>31
}

// NewRand returns a source of states, the same for the same seeds.
func NewRand(seed1, seed2 uint64) *Rand {
	r := &Rand{source: splitMix(seed1)}
	r.source = splitMix(r.source.Uint64() ^ seed2)
	r.Rand = rand.New(&r.source)
	return r
}

// fill puts a piece of a tape at dst, whose length is that of whole values.
func (r *Rand) fill(dst []byte, kind int) {
	size := 8
	if kind == extended {
		size = 16
	}
	t := &r.tapes[kind]
	if t.mem == nil {
		t.mem = make([]byte, size*tapeLen)
		for i := range tapeLen {
			r.put(t.mem[size*i:], kind)
		}
	}
	copy(dst, t.mem[size*r.IntN(tapeLen-len(dst)/size+1):])
}

// renew replaces some values of a tape.
func (r *Rand) renew(kind int) {
	t := &r.tapes[kind]
	size := len(t.mem) / tapeLen
	for i := range renewed {
		r.put(t.mem[size*(t.next+i):], kind)
	}
	t.next = (t.next + renewed) % tapeLen
}

// put writes a value of a kind to p.
func (r *Rand) put(p []byte, kind int) {
	var v uint64
	switch kind {
	case integers:
		v = Value(r.Rand)
	case singles:
		v = Single(r.Rand) | Single(r.Rand)<<32
	case doubles:
		v = Double(r.Rand)
	case extended:
		sig, se := Extended(r.Rand)
		binary.LittleEndian.PutUint16(p[8:], se)
		v = sig
	}
	binary.LittleEndian.PutUint64(p, v)
}

// Random makes a state with random flags and contents. RBX, RBP, RSI and RDI
// point into Data, RSP into Stack; the x87 stack is empty, MXCSR and FCW are the defaults.
func Random(r *Rand, s *State) {
	var gpr [8 * len(s.GPR)]byte
	r.fill(gpr[:], integers)
	for i := range s.GPR {
		s.GPR[i] = binary.LittleEndian.Uint64(gpr[8*i:])
	}
	s.GPR[ir.RBX] = DataBase + 0x200
	s.GPR[ir.RBP] = DataBase + 0x280
	s.GPR[ir.RSI] = DataBase + 0x100
	s.GPR[ir.RDI] = DataBase + 0x300
	s.GPR[ir.RSP] = StackBase + 0x100
	s.Flags, s.RIP, s.Signal = 0x202|r.Uint64()&CompareFlags&^(1<<10), 0, 0
	r.fill(s.Data[:], integers)
	r.fill(s.Stack[:], integers)
	clear(s.FX[:160])
	r.fill(s.FX[160:416], integers)
	clear(s.FX[416:])
	s.parts = [8]uint64{7}
	r.fill(s.Upper[:], integers)
	r.renew(integers)
	s.SetMXCSR(0x1f80)
	s.SetX87(0x37f, 0, 0)
}
