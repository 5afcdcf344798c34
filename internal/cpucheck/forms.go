package cpucheck

import (
	"encoding/binary"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"

	"golang.org/x/arch/x86/x86asm"

	"symchef/internal/ir"
	"symchef/internal/lift"
)

// Encodings is a form of the lifter's table with its encodings.
type Encodings struct {
	lift.Form
	opcodes []opcode
}

// opcode is a part of an encoding: what precedes the ModRM byte, and the values of that byte
// (of the byte that follows, if there is no ModRM) with which it gives the form.
type opcode struct {
	prefix string // a mandatory or operand-size prefix, or a repeat prefix
	rexW   bool
	code   string // escape and opcode; of VEX, the prefix in three bytes and the opcode
	modrm  []byte
}

// Forms returns every form that the lifter accepts, sorted by name: all opcodes of the four maps are
// tried with every following byte, with and without REX.W and the prefixes 66, F2, F3, 67, and all of VEX with both lengths. EVEX
// encodings are left out: the lifter accepts none.
var Forms = sync.OnceValue(func() []*Encodings {
	forms := map[string]*Encodings{}
	try := func(o opcode) {
		head := o.prefix
		if o.rexW {
			head += "\x48"
		}
		head += o.code
		var buf [15]byte // zeros: the shortest immediate and displacement
		n := copy(buf[:], head)
		for modrm := range 256 {
			buf[n] = byte(modrm)
			_, f, ok := lift.Accept(CodeBase, buf[:])
			if !ok {
				continue
			}
			e := forms[f.Name]
			if e == nil {
				e = &Encodings{Form: f}
				forms[f.Name] = e
			}
			if k := len(e.opcodes); k == 0 || !e.opcodes[k-1].same(o) {
				e.opcodes = append(e.opcodes, o)
			}
			last := &e.opcodes[len(e.opcodes)-1]
			last.modrm = append(last.modrm, byte(modrm))
		}
	}
	for table := 1; table <= 3; table++ {
		for rest := range 16 { // W, length and prefix
			for _, none := range []byte{0x78, 0x70} { // vvvv names nothing, or register 1
				for op := range 256 {
					try(opcode{code: string([]byte{0xc4, 0xe0 | byte(table), byte(rest)&8<<4 | none | byte(rest)&7, byte(op)})})
				}
			}
		}
	}
	for _, prefix := range []string{"", "\x66", "\xf2", "\xf3", "\x66\xf2", "\x66\xf3", "\x67"} {
		for _, rex := range []string{"", "\x48"} {
			for _, escape := range []string{"", "\x0f", "\x0f\x38", "\x0f\x3a"} {
				for op := range 256 {
					if legacyPrefix(byte(op)) && escape == "" {
						continue
					}
					try(opcode{prefix: prefix, rexW: rex != "", code: escape + string([]byte{byte(op)})})
				}
			}
		}
	}
	var list []*Encodings
	for _, name := range slices.Sorted(maps.Keys(forms)) {
		list = append(list, forms[name])
	}
	return list
})

func (o opcode) same(p opcode) bool {
	return o.prefix == p.prefix && o.rexW == p.rexW && o.code == p.code
}

// vex reports whether o is of VEX.
func (o opcode) vex() bool { return len(o.code) == 4 }

// vexPrefix returns o's prefix with random registers, in two bytes where that is possible, and its opcode.
func (o opcode) vexPrefix(r *rand.Rand) []byte {
	c := []byte(o.code)
	c[1] ^= byte(r.IntN(8)) << 5
	if c[2]&0x78 != 0x78 {
		c[2] = c[2]&^0x78 | byte(r.IntN(16))<<3
	}
	if c[1]&0x7f == 0x61 && c[2]&0x80 == 0 && r.IntN(2) == 0 {
		return []byte{0xc5, c[1]&0x80 | c[2], c[3]}
	}
	return c
}

func legacyPrefix(b byte) bool {
	return b&0xf0 == 0x40 || strings.IndexByte("\x66\x67\xf0\xf2\xf3\x26\x2e\x36\x3e\x64\x65", b) >= 0
}

// Modelled are the mnemonics that are not as the processor does: the machine defines what they return.
var Modelled = map[x86asm.Op]string{
	x86asm.CPUID:   "the machine's own processor",
	x86asm.RDTSC:   "the machine's own clock",
	x86asm.RDTSCP:  "the machine's own clock",
	x86asm.XGETBV:  "the parts that the machine's own processor has",
	x86asm.SYSCALL: "the kernel model",
}

// Case is one encoding of a form, ready to be checked.
type Case struct {
	Check Form
	// State makes a state in place.
	State func(r *Rand, s *State)
}

// Case returns a random encoding of the form: registers, addressing, prefixes without effect, immediates.
func (e *Encodings) Case(r *rand.Rand) (Case, bool) {
	for range 5000 {
		code := e.encode(r)
		in, f, ok := lift.Accept(CodeBase, code)
		if !ok || f.Name != e.Name {
			continue
		}
		if c, ok := e.prepare(r, in, slices.Clone(code[:in.Len])); ok {
			return c, true
		}
	}
	return Case{}, false
}

// encode returns a random encoding with random bytes after it; it may be one of another form.
func (e *Encodings) encode(r *rand.Rand) []byte {
	o := e.opcodes[r.IntN(len(e.opcodes))]
	var code []byte
	prefixes := []byte{0x67, 0x65, 0x2e, 0x3e, 0xf0} // addr32, gs, cs, ds or notrack, lock
	if o.vex() {
		prefixes = prefixes[:4]
	}
	for _, p := range prefixes {
		if r.IntN(8) == 0 {
			code = append(code, p)
		}
	}
	code = append(code, o.prefix...)
	switch {
	case o.vex():
		code = append(code, o.vexPrefix(r)...)
	case o.rexW:
		code = append(code, 0x48|byte(r.IntN(8)))
	case r.IntN(2) == 0:
		code = append(code, 0x40|byte(r.IntN(8)))
	}
	if !o.vex() {
		code = append(code, o.code...)
	}
	tail := []byte{o.modrm[r.IntN(len(o.modrm))]}
	tail = binary.LittleEndian.AppendUint64(tail, Value(r))
	if o.code == "\xc8" { // enter: a small frame, level 0
		tail[0], tail[1], tail[2] = byte(r.IntN(128)), 0, tail[2]&^31
	}
	code = append(code, tail...)
	return slices.Concat(code, make([]byte, 15))[:15]
}

// set writes the low w bits of v to general register i, as an instruction would not: the others stay.
func (s *State) set(i ir.Slot, w int, v uint64) {
	m := ^uint64(0) >> (64 - w)
	s.GPR[i] = s.GPR[i]&^m | v&m
}

// bytes returns the n bytes of Data or Stack at addr.
func (s *State) bytes(addr uint64, n int) []byte {
	if off := addr - DataBase; off < uint64(len(s.Data)) {
		return s.Data[off:][:n]
	}
	return s.Stack[addr-StackBase:][:n]
}

// codeTarget is an address at which execution stops.
const codeTarget = CodeBase + 0x80

// prepare makes the case of an instruction. It returns false for encodings that cannot be run: memory
// operands at fixed addresses, of the fs segment, or of one register twice, and the like.
func (e *Encodings) prepare(r *rand.Rand, in *lift.Inst, code []byte) (Case, bool) {
	x87 := in.Op.String()[0] == 'F' || in.Op == x86asm.EMMS || isXSave(in.Op)
	c := Case{Check: Form{Name: e.Name, Code: code, Undef: e.Undefined, X87: x87}}
	var preps []func(r *rand.Rand, s *State)
	if !wellDefined(in) {
		return c, false
	}
	if in.PCRel != 0 {
		again, ok := e.aim(r, in, code)
		if !ok {
			return c, false
		}
		in = again
	}
	at := make([]func(s *State) uint64, len(in.Args)) // addresses of memory operands
	for i, a := range in.Args {
		m, ok := a.(x86asm.Mem)
		if !ok || slices.Contains(noAccess, in.Op) {
			continue
		}
		prep, where, ok := e.place(r, in, m, code)
		if !ok {
			return c, false
		}
		at[i] = where
		preps = append(preps, prep)
	}
	op := operands{in: in, at: at}
	more, ok := op.special(&c.Check)
	if !ok {
		return c, false
	}
	preps = append(preps, more)
	gen := generator(in)
	c.State = func(r *Rand, s *State) {
		gen(r, s)
		for _, p := range preps {
			p(r.Rand, s)
		}
	}
	return c, true
}

// noAccess are instructions that name memory and do not touch it.
var noAccess = []x86asm.Op{x86asm.LEA, x86asm.NOP, x86asm.PREFETCHNTA, x86asm.PREFETCHT0, x86asm.PREFETCHT1, x86asm.PREFETCHT2, x86asm.PREFETCHW, x86asm.UD0, x86asm.UD1, x86asm.UD2}

// wellDefined reports whether the processor's result is one that the manual tells and a host does not change.
func wellDefined(in *lift.Inst) bool {
	switch in.Op {
	case x86asm.INT:
		// int 3 ends a run, int 4 and int 0x80 are not accepted or have handlers of their own, as a host may have for the
		// vectors that the manual reserves (SDM vol. 3, table 6-1: 22 to 31).
		v := in.Args[0].(x86asm.Imm)
		return v != 3 && v != 4 && v != 0x80 && (v < 22 || v > 31)
	case x86asm.SHLD, x86asm.SHRD:
		n, ok := in.Args[2].(x86asm.Imm)
		return !ok || in.DataSize != 16 || n&31 <= 16
	case x86asm.MASKMOVDQU:
		return !slices.ContainsFunc(in.Prefix[:], func(p x86asm.Prefix) bool { return p&0xff == 0x65 })
	}
	return true
}

// aim writes a displacement from the program counter into code: to data, or near by. It is not ok where that makes another instruction of it.
func (e *Encodings) aim(r *rand.Rand, in *lift.Inst, code []byte) (*lift.Inst, bool) {
	disp := int64(r.IntN(64) + 32) // past the jump behind the code
	if r.IntN(2) == 0 {
		disp = -disp
	}
	for _, a := range in.Args {
		if _, ok := a.(x86asm.Mem); ok {
			disp = int64(DataBase+0x180+32*r.IntN(4)) - int64(in.End())
		}
	}
	for i := range in.PCRel {
		code[in.PCRelOff+i] = byte(disp >> (8 * i))
	}
	again, f, ok := lift.Accept(CodeBase, code)
	return again, ok && f.Name == e.Name && again.Len == in.Len
}

// gprOf returns the number and width of a general register that starts at bit 0.
func gprOf(a x86asm.Arg) (ir.Slot, int, bool) {
	r, ok := a.(x86asm.Reg)
	switch {
	case !ok:
	case r >= x86asm.AL && r <= x86asm.BL:
		return ir.Slot(r - x86asm.AL), 8, true
	case r >= x86asm.SPB && r <= x86asm.DIB:
		return ir.RSP + ir.Slot(r-x86asm.SPB), 8, true
	case r >= x86asm.R8B && r <= x86asm.R15B:
		return ir.R8 + ir.Slot(r-x86asm.R8B), 8, true
	case r >= x86asm.AX && r <= x86asm.R15W:
		return ir.Slot(r - x86asm.AX), 16, true
	case r >= x86asm.EAX && r <= x86asm.R15L:
		return ir.Slot(r - x86asm.EAX), 32, true
	case r >= x86asm.RAX && r <= x86asm.R15:
		return ir.Slot(r - x86asm.RAX), 64, true
	}
	return 0, 0, false
}

// aligned returns the number of bytes of which the address of the memory operand must be a multiple.
func (e *Encodings) aligned() uint64 {
	switch e.Op {
	case x86asm.FXSAVE, x86asm.FXSAVE64, x86asm.FXRSTOR, x86asm.FXRSTOR64, x86asm.CMPXCHG16B:
		return 16
	}
	if isXSave(e.Op) {
		return 64
	}
	switch misaligned := strings.Contains(e.Note, "misaligned"); {
	case misaligned && strings.Contains(e.Name, "m128"):
		return 16
	case misaligned && strings.Contains(e.Name, "m256"):
		return 32
	}
	return 1
}

// place returns what gives the address registers of m such values that it lies in Data, and its address then.
func (e *Encodings) place(r *rand.Rand, in *lift.Inst, m x86asm.Mem, code []byte) (prep func(*rand.Rand, *State), where func(*State) uint64, ok bool) {
	var segment uint64
	switch m.Segment {
	case x86asm.FS:
		return nil, nil, false
	case x86asm.GS:
		segment = DataBase
	}
	if in.Opcode>>24&^3 == 0xa0 && in.Op == x86asm.MOV { // a whole address stands in the code
		n := in.AddrSize / 8
		v := DataBase + 0x180 + uint64(r.IntN(256)) - segment
		for i := range n {
			code[len(code)-n+i] = byte(v >> (8 * i))
		}
		return nothing, func(*State) uint64 { return v + segment }, true
	}
	if m.Base == x86asm.RIP || m.Base == x86asm.EIP {
		v := in.End() + uint64(m.Disp)
		return nothing, func(*State) uint64 { return v }, segment == 0 && in.PCRel != 0
	}
	return e.throughRegisters(in, m, segment)
}

// throughRegisters places an operand by giving base or index a value.
func (e *Encodings) throughRegisters(in *lift.Inst, m x86asm.Mem, segment uint64) (prep func(*rand.Rand, *State), where func(*State) uint64, ok bool) {
	base, bw, hasBase := gprOf(m.Base)
	index, iw, hasIndex := gprOf(m.Index)
	w := max(bw, iw)
	stack := in.Op == x86asm.PUSH || in.Op == x86asm.POP || in.Op == x86asm.CALL
	if !hasBase && !hasIndex || hasBase && hasIndex && (base == index || stack && base == ir.RSP) {
		return nil, nil, false
	}
	scale := uint64(max(m.Scale, 1))
	if !hasBase && e.aligned() > 1 && uint64(m.Disp)%scale != 0 {
		return nil, nil, false
	}
	first, room := uint64(DataBase+0x180), 256
	if strings.HasPrefix(e.Name, "fx") {
		room = 128 // they take 512 bytes
	}
	if isXSave(e.Op) {
		first, room = DataBase, 192 // 832 bytes
	}
	prep = func(r *rand.Rand, s *State) {
		t := first + uint64(r.IntN(room))
		t &^= e.aligned() - 1
		v := t - segment - uint64(m.Disp)
		if hasBase {
			var x uint64
			if hasIndex {
				x = s.GPR[index]
			}
			s.set(base, w, v-x*scale)
		} else {
			over := v & (scale - 1)
			v -= over
			s.set(index, w, uint64(int64(v))/scale)
		}
	}
	where = func(s *State) uint64 {
		v := uint64(m.Disp)
		if hasBase {
			v += s.GPR[base]
		}
		if hasIndex {
			v += s.GPR[index] * scale
		}
		return v<<(64-w)>>(64-w) + segment
	}
	return prep, where, true
}

// operands are the operands of an instruction in a state.
type operands struct {
	in *lift.Inst
	at []func(*State) uint64
}

// width returns the width in bits of operand i, a general register or memory.
func (o operands) width(i int) int {
	if _, w, ok := gprOf(o.in.Args[i]); ok {
		return w
	}
	if o.in.MemBytes != 0 {
		return 8 * o.in.MemBytes
	}
	return 8 // ah, ch, dh, bh
}

// write gives operand i a value.
func (o operands) write(s *State, i int, v uint64) {
	if g, w, ok := gprOf(o.in.Args[i]); ok {
		s.set(g, w, v)
	} else if o.at[i] != nil {
		p := s.bytes(o.at[i](s), o.in.MemBytes)
		for k := range min(len(p), 8) {
			p[k] = byte(v >> (8 * k))
		}
	}
}

// read returns the value of operand i.
func (o operands) read(s *State, i int) (v uint64) {
	if g, w, ok := gprOf(o.in.Args[i]); ok {
		return s.GPR[g] << (64 - w) >> (64 - w)
	} else if o.at[i] != nil {
		for k, b := range s.bytes(o.at[i](s), min(o.in.MemBytes, 8)) {
			v |= uint64(b) << (8 * k)
		}
	}
	return v
}

// onStack reports whether rsp is given a value for an operand in memory: it would be no stack then.
func (o operands) onStack() bool {
	for _, a := range o.in.Args {
		if m, ok := a.(x86asm.Mem); ok && (m.Base == x86asm.RSP || m.Base == x86asm.ESP) {
			return true
		}
	}
	return false
}

func isXSave(op x86asm.Op) bool {
	return op == x86asm.XSAVE || op == x86asm.XSAVE64 || op == x86asm.XRSTOR || op == x86asm.XRSTOR64
}

// elements are the sizes of the string instructions' elements, in bytes.
var elements = map[x86asm.Op]int{
	x86asm.MOVSB: 1, x86asm.STOSB: 1, x86asm.LODSB: 1, x86asm.SCASB: 1, x86asm.CMPSB: 1,
	x86asm.MOVSW: 2, x86asm.STOSW: 2, x86asm.LODSW: 2, x86asm.SCASW: 2, x86asm.CMPSW: 2,
	x86asm.MOVSD: 4, x86asm.STOSD: 4, x86asm.LODSD: 4, x86asm.SCASD: 4, x86asm.CMPSD: 4,
	x86asm.MOVSQ: 8, x86asm.STOSQ: 8, x86asm.LODSQ: 8, x86asm.SCASQ: 8, x86asm.CMPSQ: 8,
}

func word(p []byte) (v uint64) {
	for i, b := range p {
		v |= uint64(b) << (8 * i)
	}
	return v
}

// usesAny reports whether m's address depends on one of the registers.
func usesAny(m x86asm.Mem, regs ...ir.Slot) bool {
	for _, a := range []x86asm.Reg{m.Base, m.Index} {
		if g, _, ok := gprOf(a); ok && slices.Contains(regs, g) {
			return true
		}
	}
	return false
}

// stringState makes a short count, any direction, and strings that are often equal up to a point. Where the count is ecx, and zero from
// the start, rcx is zero: Intel's processors clear its upper half there and AMD's do not.
func (o operands) stringState(r *rand.Rand, s *State) {
	n := uint64(r.IntN(16))
	if s.set(ir.RCX, o.in.AddrSize, n); n == 0 {
		s.GPR[ir.RCX] = 0
	}
	if r.IntN(2) == 0 {
		s.Flags |= 1 << 10
	}
	switch r.IntN(3) {
	case 0: // one element throughout
		w := elements[o.in.Op]
		for i := range s.Data[0x80:0x380] {
			s.Data[0x80+i] = byte(s.GPR[ir.RAX] >> (8 * (i % w)))
		}
		s.Data[0x80+r.IntN(0x300)] ^= 1
	case 1: // two equal strings
		if o.at[0] != nil && o.at[1] != nil {
			copy(s.Data[o.at[1](s)-DataBase:][:r.IntN(64)], s.Data[o.at[0](s)-DataBase:])
		}
	}
}

// xmmOf returns the number of an xmm register.
func xmmOf(a x86asm.Arg) (int, bool) {
	r, ok := a.(x86asm.Reg)
	return int(r - x86asm.X0), ok && r >= x86asm.X0 && r <= x86asm.X15
}

// writeXMM gives operand i, an xmm register or memory, a value.
func (o operands) writeXMM(s *State, i int, lo, hi uint64) {
	if x, ok := xmmOf(o.in.Args[i]); ok {
		s.SetXMM(x, lo, hi)
		return
	}
	p := s.bytes(o.at[i](s), 16)
	binary.LittleEndian.PutUint64(p, lo)
	binary.LittleEndian.PutUint64(p[8:], hi)
}

// twoStrings makes strings of few different elements, so that some are found in the other one, and lengths that are near the end.
func (o operands) twoStrings(r *rand.Rand, s *State) {
	var p [2][16]byte
	for k := range p {
		few, words := 1+r.IntN(4), r.IntN(2)
		for i := range p[k] {
			if p[k][i] = byte(1 + 0x55*r.IntN(few)); words != 0 && i&1 != 0 {
				p[k][i] = byte(r.IntN(2)) << 7
			}
		}
		if end := r.IntN(20); end < 16 {
			p[k][end], p[k][end|1] = 0, 0
		}
	}
	if r.IntN(3) == 0 { // nearly the same, or the same further on
		copy(p[1][r.IntN(16):], p[0][:])
		p[1][r.IntN(16)] ^= byte(r.IntN(2))
	}
	for k := range p {
		o.writeXMM(s, k, binary.LittleEndian.Uint64(p[k][:8]), binary.LittleEndian.Uint64(p[k][8:]))
	}
	for _, reg := range []ir.Slot{ir.RAX, ir.RDX} {
		if m, ok := o.in.Args[1].(x86asm.Mem); ok && usesAny(m, reg) {
			continue
		}
		if r.IntN(4) != 0 {
			s.set(reg, 32<<r.IntN(2), uint64(r.IntN(40)-20))
		}
	}
}

// count returns the shift count, operand i.
func (o operands) count(s *State, i int) uint64 {
	if v, ok := o.in.Args[i].(x86asm.Imm); ok {
		return uint64(v) & 255
	}
	return s.GPR[ir.RCX] & 255
}

// shiftUndef returns the flags that a shift or rotation leaves undefined (SDM vol. 2, SAL, RCL, SHLD).
func (o operands) shiftUndef(s *State) (u uint64) {
	i, w := 1, o.width(0)
	double := o.in.Op == x86asm.SHLD || o.in.Op == x86asm.SHRD
	if double {
		i = 2
	}
	n := o.count(s, i) & 31
	if w == 64 {
		n = o.count(s, i) & 63
	}
	if n == 0 {
		return 0
	}
	if n != 1 {
		u |= ir.FlagOF
	}
	switch o.in.Op {
	case x86asm.SHL, x86asm.SHR:
		if n >= uint64(w) {
			u |= ir.FlagCF
		}
		fallthrough
	case x86asm.SAR, x86asm.SHLD, x86asm.SHRD:
		u |= ir.FlagAF
	}
	return u
}

// generator returns what makes the states of an instruction: integers, or floats of its kind.
func generator(in *lift.Inst) func(*Rand, *State) {
	name := strings.TrimSuffix(in.Op.String(), "_XMM")
	if in.IsVEX() {
		name = strings.TrimPrefix(name, "V")
	}
	if name[0] == 'F' && !in.IsVEX() || isXSave(in.Op) {
		switch in.Op {
		case x86asm.FLD, x86asm.FILD, x86asm.FLD1, x86asm.FLDZ, x86asm.FLDPI, x86asm.FLDL2E, x86asm.FLDL2T, x86asm.FLDLG2, x86asm.FLDLN2,
			x86asm.FXTRACT, x86asm.FPTAN, x86asm.FSINCOS:
			return Room
		}
		return X87
	}
	if from, _, ok := strings.Cut(name, "2"); ok && strings.HasPrefix(name, "CVT") {
		name = from
	} else if !slices.ContainsFunc([]string{"ADD", "SUB", "MUL", "DIV", "SQRT", "MIN", "MAX", "CMP", "COMI", "UCOMI", "HADD", "HSUB", "ROUND", "DPP", "FM", "FNM"},
		func(p string) bool { return strings.HasPrefix(name, p) }) || !strings.Contains(strings.Join(kinds(in), " "), "xmm") {
		return Random
	}
	switch name[len(name)-2:] {
	case "SS", "PS":
		return Floats(32, AllModes)
	case "SD", "PD":
		return Floats(64, AllModes)
	}
	return Floats(0, AllModes)
}

func kinds(in *lift.Inst) (k []string) {
	for _, a := range in.Args {
		if r, ok := a.(x86asm.Reg); ok && (r >= x86asm.X0 && r <= x86asm.X15 || r >= x86asm.Y0 && r <= x86asm.Y15) {
			k = append(k, "xmm")
		}
	}
	return k
}
