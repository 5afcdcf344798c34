package exec

import (
	"fmt"
	"math/bits"
	"math/rand/v2"
	"slices"
	"testing"

	x86 "golang.org/x/sys/cpu"

	"symchef/internal/cpu"
	"symchef/internal/expr"
	"symchef/internal/guest"
	"symchef/internal/ir"
	"symchef/internal/ir/iref"
	"symchef/internal/jit"
	"symchef/internal/mem"
	"symchef/internal/seed"
)

// The tests of this file run blocks of random micro-ops on the evaluators and on
// the reference interpreter.

// operand returns a random value, often one at which something changes.
func operand(r *rand.Rand) uint64 {
	switch r.IntN(5) {
	case 0:
		return uint64(r.IntN(130)) - 2
	case 1:
		return 1<<r.IntN(64) + uint64(r.IntN(3)) - 1
	case 2:
		return r.Uint64() >> r.IntN(64)
	case 3:
		return uint64(byte(r.Uint64())) * 0x0101010101010101
	}
	return r.Uint64()
}

// The memory of the tests: two pages to write, one to read, one that is missing, one of code.
const (
	dataBase = 0x10000000
	readOnly = dataBase + 2*guest.PageSize
	missing  = dataBase + 3*guest.PageSize
	codePage = dataBase + 4*guest.PageSize
)

// bytesMem is the reference memory: the pages one by one, each with its protection.
type bytesMem map[uint64]*refPage

type refPage struct {
	prot guest.Prot
	data [guest.PageSize]byte
}

// at returns the byte at addr, nil where the access faults. What may be written may be read.
func (b bytesMem) at(addr uint64, need guest.Prot) *byte {
	if p := b[addr/guest.PageSize]; p != nil && (p.prot&need == need || p.prot&guest.ProtWrite != 0 && (p.prot|guest.ProtRead)&need == need) {
		return &p.data[addr%guest.PageSize]
	}
	return nil
}

func (b bytesMem) each(addr uint64, p []byte, need guest.Prot, f func(mine, its *byte)) error {
	for i := range p {
		if b.at(addr+uint64(i), need) == nil {
			return mem.ErrFault
		}
	}
	for i := range p {
		f(b.at(addr+uint64(i), need), &p[i])
	}
	return nil
}

func (b bytesMem) ReadMem(addr uint64, p []byte) error {
	return b.each(addr, p, guest.ProtRead, func(mine, its *byte) { *its = *mine })
}

func (b bytesMem) WriteMem(addr uint64, p []byte) error {
	return b.each(addr, p, guest.ProtWrite, func(mine, its *byte) { *mine = *its })
}

func (b bytesMem) clone() bytesMem {
	c := bytesMem{}
	for n, p := range b {
		q := *p
		c[n] = &q
	}
	return c
}

// memory returns a space with random content and its reference.
func memory(t *testing.T, r *rand.Rand) (*mem.Space, bytesMem) {
	t.Helper()
	s, ref := mem.NewSpace(), bytesMem{}
	for _, a := range []mem.Area{
		{Start: dataBase, End: readOnly, Prot: guest.ProtRead | guest.ProtWrite},
		{Start: readOnly, End: missing, Prot: guest.ProtRead},
		{Start: codePage, End: codePage + guest.PageSize, Prot: guest.ProtRead | guest.ProtWrite | guest.ProtExec},
	} {
		if err := s.MapArea(a); err != nil {
			t.Fatal(err)
		}
		for at := a.Start; at < a.End; at += guest.PageSize {
			p := &refPage{prot: a.Prot}
			if r.IntN(3) > 0 { // else untouched: zeros that no granule holds
				for i := range p.data {
					p.data[i] = byte(operand(r))
				}
				if err := s.Poke(at, p.data[:]); err != nil {
					t.Fatal(err)
				}
			}
			ref[at/guest.PageSize] = p
		}
	}
	return s, ref
}

// diff describes the first byte that differs; empty if none does.
func (b bytesMem) diff(s *mem.Space) string {
	for n, p := range b {
		got := make([]byte, guest.PageSize)
		if err := s.Read(n*guest.PageSize, got); err != nil {
			return err.Error()
		}
		for i := range got {
			if got[i] != p.data[i] {
				return fmt.Sprintf("memory %#x: %#x, want %#x", n*guest.PageSize+uint64(i), got[i], p.data[i])
			}
		}
	}
	return ""
}

// The slots that random uops use: results go anywhere but to the pointers and to slots that are concrete by contract.
var (
	pointers = []ir.Slot{ir.RBX, ir.RBP, ir.RSI, ir.RDI}
	results  = []ir.Slot{ir.RAX, ir.RCX, ir.RDX, ir.R8, ir.R9, ir.R10, ir.R11, ir.X0, ir.X0 + 1, ir.X0 + 2, ir.X0 + 31, ir.Temp0, ir.Temp0 + 1, ir.Temp0 + 2, ir.TempEnd - 1}
	sources  = append([]ir.Slot{ir.Zero, ir.R12, ir.RBX}, results...)
)

var widths = []uint8{8, 16, 32, 64}

// pureUop returns a random uop with op o, with valid parameters.
func pureUop(r *rand.Rand, o ir.Op) ir.Uop {
	pick := func(l []ir.Slot) ir.Slot { return l[r.IntN(len(l))] }
	u := ir.Uop{Op: o, W: widths[r.IntN(4)], X: 64, D: pick(results), A: pick(sources), B: pick(sources), C: pick(sources)}
	if !ir.RowOf(o).Param && r.IntN(2) == 0 {
		u.Imm = operand(r)
	}
	switch o {
	case ir.Lea:
		u.Scale = uint8(r.IntN(4))
	case ir.Sx:
		u.X = widths[r.IntN(4)]
		u.W = min(u.W, u.X)
	case ir.Get, ir.Put:
		u.W = []uint8{1, 2, 4, 8, 16, 32, 64}[r.IntN(7)]
		u.Imm = uint64(r.IntN(int(65 - u.W)))
	case ir.VAddSS, ir.VAddUS, ir.VSubSS, ir.VSubUS, ir.VAvgU, ir.VZipLo, ir.VZipHi, ir.VEven, ir.VOdd, ir.VMulRS:
		u.W = widths[r.IntN(3)]
	case ir.VSxt, ir.VZxt:
		u.W = widths[r.IntN(3)]
		u.X = u.W << (1 + r.IntN(bits.Len8(64/u.W)-1))
		u.Imm = r.Uint64N(uint64(64/u.W - 64/u.X + 1))
	case ir.VBits:
		u.Imm = r.Uint64N(uint64(65 - 64/u.W))
	case ir.VBlend:
		u.Imm = r.Uint64N(256)
	case ir.VPackSS, ir.VPackUS, ir.VMAdd, ir.VMAddUS:
		u.W = widths[1+r.IntN(2)]
	case ir.VPair:
		u.Imm = r.Uint64N(4)
	case ir.VShuf4:
		u.Imm = r.Uint64N(256)
	case ir.VAlign:
		u.Imm = r.Uint64N(9)
	}
	if o >= ir.FirstFloat {
		u.C, u.W, u.X = ir.MXCSR, widths[2+r.IntN(2)], widths[2+r.IntN(2)]
		switch o {
		case ir.FCvt:
			u.X = 96 - u.W
		case ir.FToI:
			u.Imm = r.Uint64N(2)
		case ir.FCmp, ir.FRound:
			u.Imm = r.Uint64N(8)
		}
	}
	return u
}

// mixHelper stands for the operations on concrete values.
var mixHelper = ir.DefineHelper(ir.HelperRow{
	Name:  "mix",
	Slots: func(u *ir.Uop, reads, writes func(ir.Slot)) { reads(u.A); reads(u.B); writes(u.D) },
	Run: func(u *ir.Uop, m ir.Machine) error {
		r := m.Reg()
		r[u.D] = r[u.A]*3 ^ r[u.B]
		return nil
	},
})

// effectUop returns a random uop that is neither pure nor a terminator. With cc the operands of a
// SetCC may be lazy flags themselves; the concolic evaluator may hold other ones, with the same flags.
func effectUop(r *rand.Rand, cc bool) ir.Uop {
	pick := func(l []ir.Slot) ir.Slot { return l[r.IntN(len(l))] }
	u := ir.Uop{W: widths[r.IntN(4)], D: pick(results), A: pick(sources), B: pick(sources), C: pick(sources)}
	kinds := []ir.CCKind{ir.CCFlags, ir.CCAdd, ir.CCSub, ir.CCSub, ir.CCLogic, ir.CCInc, ir.CCDec, ir.CCAdc, ir.CCSbb, ir.CCMul, ir.CCResult}
	switch r.IntN(10) {
	case 9:
		u.Op, u.Imm = ir.Helper, mixHelper
	case 0, 1, 2, 3:
		u.Op, u.A, u.Scale, u.Imm = ir.Load+ir.Op(r.IntN(2)), pick(pointers), uint8(r.IntN(4)), r.Uint64N(80)-40
		switch r.IntN(40) {
		case 0: // likely a fault
		case 1, 2, 3:
			u.B = ir.R12
		case 4, 5, 6, 7: // an address in the code, often next to the end of a granule
			u.A, u.B, u.Imm = ir.Zero, ir.Zero, dataBase+r.Uint64N(8)*1024+1024-r.Uint64N(10)
		default:
			u.B = ir.Zero
		}
	case 4, 5:
		u.Op, u.Imm = ir.SetCC+ir.Op(r.IntN(2)), uint64(ir.MakeCC(kinds[r.IntN(len(kinds))], uint(widths[r.IntN(4)])))
		if cc && r.IntN(2) == 0 {
			u.A, u.B, u.C = ir.CCA+ir.Slot(r.IntN(3)), ir.CCA+ir.Slot(r.IntN(3)), ir.CCC
		}
	case 6:
		u.Op, u.Imm = ir.Cond, r.Uint64N(16)
	case 7:
		u.Op = ir.GetFlags
	case 8:
		u.Op, u.Imm = ir.TrapIf+ir.Op(r.IntN(2)), r.Uint64N(4)
		if u.Op == ir.SkipIf {
			u.Imm = 0
		}
		if r.IntN(4) > 0 {
			u.A = ir.Zero
		}
	}
	return u
}

var pureOps = func() (l []ir.Op) {
	for o := range ir.Op(255) {
		if ir.RowOf(o) != nil {
			l = append(l, o)
		}
	}
	return
}()

// randomBlock returns a block in which each uop is an instruction of one byte.
func randomBlock(r *rand.Rand, n int, cc bool) *ir.Block {
	b := &ir.Block{PC: 0x1000, Next: 0x2000, Taken: 0x3000}
	for range n {
		u := pureUop(r, pureOps[r.IntN(len(pureOps))])
		if r.IntN(3) == 0 {
			u = effectUop(r, cc)
		}
		b.Uops = append(b.Uops, u)
	}
	terms := []ir.Uop{{Op: ir.Jmp}, {Op: ir.Jcc, Imm: r.Uint64N(16)}, {Op: ir.Jcc, Imm: r.Uint64N(16)},
		{Op: ir.Brnz, A: sources[r.IntN(len(sources))], W: widths[r.IntN(4)]}, {Op: ir.JmpInd, A: sources[r.IntN(len(sources))]},
		{Op: ir.Trap, Imm: r.Uint64N(4)}, {Op: ir.Syscall}, {Op: ir.Unsup}}
	b.Uops = append(b.Uops, terms[r.IntN(len(terms))])
	for i := range b.Uops {
		b.Insns = append(b.Insns, ir.InsnMark{Uop: uint16(i), Off: uint16(i)})
	}
	return b
}

// randomCPU returns registers for random blocks: pointers into memory, lazy flags of some kind.
func randomCPU(r *rand.Rand) (c cpu.CPU) {
	for _, s := range append(results, ir.CCA, ir.CCB, ir.CCC) {
		c.R[s] = operand(r)
	}
	for _, s := range pointers { // often next to the end of a granule or page
		c.R[s] = dataBase + r.Uint64N(16)*256 + r.Uint64N(guest.PageSize)/64 - r.Uint64N(2)*8 + 64
	}
	switch r.IntN(4) {
	case 0:
		c.R[ir.RDI] += readOnly - dataBase
	case 1:
		c.R[ir.RDI] += codePage - dataBase
	}
	c.R[ir.R12] = r.Uint64N(100)
	c.R[ir.CCOp] = uint64(ir.MakeCC(ir.CCKind(r.IntN(int(ir.CCResult)+1)), uint(widths[r.IntN(4)])))
	c.R[ir.MXCSR] = 0x1f80
	return c
}

// exit says how a block ended, as the reference interpreter does.
func (m *Machine) exit(c *cpu.CPU, b *ir.Block, i int, st status) iref.Exit {
	u := &b.Uops[i]
	pc, _ := b.PCOf(i)
	switch st {
	case fault:
		return iref.Exit{Kind: iref.Fault, PC: pc}
	case trapped:
		return iref.Exit{Kind: iref.Trap, PC: pc, Trap: m.trap}
	case unsupported:
		return iref.Exit{Kind: iref.Unsup, PC: pc}
	}
	switch u.Op {
	case ir.Jmp:
		return iref.Exit{PC: b.Taken}
	case ir.Jcc, ir.Brnz:
		if m.branch(c, u) {
			return iref.Exit{PC: b.Taken}
		}
		return iref.Exit{PC: b.Next}
	case ir.JmpInd:
		return iref.Exit{PC: c.R[u.A]}
	case ir.Syscall:
		return iref.Exit{Kind: iref.Syscall, PC: b.Next}
	case ir.Trap:
		return iref.Exit{Kind: iref.Trap, PC: pc, Trap: ir.TrapKind(u.Imm)}
	case ir.Unsup:
		return iref.Exit{Kind: iref.Unsup, PC: pc}
	}
	return iref.Exit{PC: b.Next} // SkipIf
}

func sameExit(a, b iref.Exit) bool { return a.Kind == b.Kind && a.PC == b.PC && a.Trap == b.Trap }

// TestConcreteBlocks: without a symbolic value both evaluators do what the reference interpreter does.
func TestConcreteBlocks(t *testing.T) {
	r := seed.Rand(t)
	m := New(expr.New())
	m.facts = &Facts{}
	seen := map[[2]int]bool{} // op and width
	seenCompiled := map[ir.Op]bool{}
	for range 60 {
		s, ref := memory(t, r)
		slow := s.Fork()    // for the concolic evaluator
		machine := s.Fork() // for machine code
		for range 100 {
			b, c := randomBlock(r, 1+r.IntN(40), true), randomCPU(r)
			before := c.R
			mirror := iref.Machine{R: c.R, Mem: ref}
			want := mirror.Run(b)
			check := func(name string, c *cpu.CPU, s *mem.Space, run func() (int, iref.Exit)) int {
				m.use(s)
				i, got := run()
				bad := ""
				if !sameExit(got, want) {
					bad = fmt.Sprintf("ended %+v, want %+v", got, want)
				} else if k := firstDiff(&c.R, &mirror.R); k < ir.NumState || name != "compiled" && k < ir.NumSlots {
					bad = fmt.Sprintf("slot %d: %#x, want %#x", k, c.R[k], mirror.R[k])
				} else if !c.Sym.Empty() {
					bad = "something became symbolic"
				}
				if bad == "" && r.IntN(10) == 0 {
					bad = ref.diff(s)
				}
				if bad != "" {
					t.Fatalf("%s: %s\n%+v\nfrom %#x", name, bad, b.Uops[:i+1], before)
				}
				return i
			}
			d, f := c, c
			i := check("fast", &c, s, func() (int, iref.Exit) {
				i, st := m.fast(&c, s, b, 0)
				return i, m.exit(&c, b, i, st)
			})
			check("concolic", &d, slow, func() (int, iref.Exit) {
				i, st, _ := m.concolic(&d, slow, b, 0)
				return i, m.exit(&d, b, i, st)
			})
			check("compiled", &f, machine, func() (int, iref.Exit) { return m.compileAndRun(t, &f, machine, b, seenCompiled) })
			for _, u := range b.Uops[:i+1] {
				seen[[2]int{int(u.Op), int(u.W)}] = true
			}
		}
		if d := ref.diff(s) + ref.diff(slow) + ref.diff(machine); d != "" {
			t.Fatal(d)
		}
	}
	if len(seenCompiled) == 0 {
		t.Log("this host does not allow memory that can be written and executed: nothing was compiled")
	}
	left := []string{"pext", "pdep", "ffromhalf", "ftohalf"} // to the evaluator, see package jit
	for _, o := range append(pureOps, ir.Load, ir.Store, ir.SetCC, ir.SetCCIf, ir.Cond, ir.Jmp, ir.Jcc, ir.Brnz, ir.JmpInd) {
		if len(seenCompiled) > 0 && !seenCompiled[o] && !slices.Contains(left, o.String()) && x86.X86.HasSSE42 { // an older host has no instruction for some
			t.Errorf("%v was not compiled", o)
		}
	}
	for _, o := range pureOps {
		for range 50 { // every width that the op can have
			if w := int(pureUop(r, o).W); !seen[[2]int{int(o), w}] {
				t.Errorf("%v/%d was not executed", o, w)
				seen[[2]int{int(o), w}] = true
			}
		}
	}
}

func firstDiff(a, b *[ir.NumSlots]uint64) int {
	for k := range a {
		if a[k] != b[k] {
			return k
		}
	}
	return ir.NumSlots
}

// compileAndRun runs a block as machine code, and in the evaluator where that leaves. It notes the ops that machine
// code has done. The block is one instruction: temporaries live through it.
func (m *Machine) compileAndRun(t *testing.T, c *cpu.CPU, s *mem.Space, b *ir.Block, seen map[ir.Op]bool) (int, iref.Exit) {
	for at := uint64(dataBase); at < missing; at += mem.GranuleSize { // what it has no translation of, it leaves to the evaluator
		if v, st := m.load(s, at, 64); st == ok && v&3 != 0 {
			m.store(s, at, 64, v)
			m.load(s, at, 64)
		}
	}
	whole := *b
	whole.Insns = b.Insns[:1]
	from := 0
	code, isCode := m.code.Compile(&jit.Source{Block: &whole, Flags: ir.CC(c.R[ir.CCOp])})
	if isCode {
		x := &m.native
		x.Regs, x.Sym, x.Left = &c.R, c.Sym, 10
		m.code.Run(code)
		from = int(x.Uop)
		if from < 0 {
			for _, u := range b.Uops {
				seen[u.Op] = true
			}
			if x.Left != 9 {
				t.Fatalf("a block of one instruction leaves %d of 10", x.Left)
			}
			return len(b.Uops) - 1, iref.Exit{PC: x.PC}
		}
		for _, u := range b.Uops[:from] {
			seen[u.Op] = true
		}
		if x.Left != 10 || x.Block != uint64(code.ID) {
			t.Fatalf("left in the middle of block %d, want %d, with %d of 10 instructions left", x.Block, code.ID, x.Left)
		}
	}
	i, st := m.fast(c, s, b, from)
	return i, m.exit(c, b, i, st)
}
