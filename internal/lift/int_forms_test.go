package lift_test

import (
	"fmt"

	"symchef/internal/cpucheck"
	"symchef/internal/ir"
)

// form is one line of assembly and what is undefined about it (SDM vol. 2, "Flags Affected").
type form struct {
	asm     string
	undef   uint64
	undefIf func(*cpucheck.State) uint64
	prep    func(*cpucheck.State)
	skip    func(*cpucheck.State) bool
}

const (
	cf, pf, af, zf, sf, of = ir.FlagCF, ir.FlagPF, ir.FlagAF, ir.FlagZF, ir.FlagSF, ir.FlagOF
	allFlags               = cf | pf | af | zf | sf | of
)

var widths = []int{8, 16, 32, 64}

var suffix = map[int]string{8: "b", 16: "w", 32: "l", 64: "q"}

// pairs are register operands, source and destination, and one the same twice.
var pairs = map[int][][2]string{
	8:  {{"%cl", "%al"}, {"%dl", "%ah"}, {"%ch", "%dh"}, {"%r9b", "%sil"}, {"%r10b", "%dl"}, {"%cl", "%cl"}, {"%ah", "%ah"}, {"%ah", "%al"}},
	16: {{"%cx", "%ax"}, {"%r9w", "%dx"}, {"%ax", "%r10w"}, {"%dx", "%dx"}},
	32: {{"%ecx", "%eax"}, {"%r9d", "%edx"}, {"%eax", "%r10d"}, {"%edx", "%edx"}},
	64: {{"%rcx", "%rax"}, {"%r9", "%rdx"}, {"%rax", "%r10"}, {"%rdx", "%rdx"}},
}

// regs are single register operands.
var regs = map[int][]string{
	8:  {"%al", "%dl", "%ah", "%sil", "%r9b"},
	16: {"%ax", "%dx", "%r9w"},
	32: {"%eax", "%edx", "%r9d"},
	64: {"%rax", "%rdx", "%r9"},
}

// mems are memory operands; index makes %r11 a small number. The 8-bit ones may be used with ah.
var mems = []string{"(%rbx)", "8(%rbx,%r11,4)", "-16(%rbp)", "%gs:0x40", "%gs:(%r11)", "0x10000900", "-0x1fffff00(%rip)", "16(%ebx,%r11d,2)"}

func index(s *cpucheck.State) { s.GPR[ir.R11] &= 15 }

// imms are immediates of each width.
var imms = map[int][]string{
	8:  {"$1", "$0x7f", "$-128", "$-1"},
	16: {"$1", "$-128", "$0x7fff", "$-0x8000"},
	32: {"$1", "$-128", "$0x7fffffff", "$-0x80000000"},
	64: {"$1", "$-128", "$0x7fffffff", "$-0x80000000"},
}

// one is a list of forms without anything undefined.
func one(lines ...string) (fs []form) {
	for _, l := range lines {
		fs = append(fs, form{asm: l, prep: index})
	}
	return fs
}

// undefined marks flags as undefined in all forms.
func undefined(m uint64, fs []form) []form {
	for i := range fs {
		fs[i].undef |= m
	}
	return fs
}

// twoOperand are the forms op r,r; op r,m; op m,r; op i,r; op i,m.
func twoOperand(op string) (fs []form) {
	for _, w := range widths {
		o := op + suffix[w]
		for _, p := range pairs[w] {
			fs = append(fs, one(fmt.Sprintf("%s %s, %s", o, p[0], p[1]))...)
		}
		for _, m := range mems {
			fs = append(fs, one(fmt.Sprintf("%s %s, %s", o, regs[w][1], m))...)
			if op != "test" {
				fs = append(fs, one(fmt.Sprintf("%s %s, %s", o, m, regs[w][1]))...)
			}
		}
		for _, i := range imms[w] {
			for _, r := range regs[w] {
				fs = append(fs, one(fmt.Sprintf("%s %s, %s", o, i, r))...)
			}
			fs = append(fs, one(fmt.Sprintf("%s %s, 8(%%rbx,%%r11,4)", o, i))...)
		}
	}
	return fs
}

// oneOperand are the forms op r; op m.
func oneOperand(op string, ws ...int) (fs []form) {
	for _, w := range ws {
		for _, r := range regs[w] {
			fs = append(fs, one(op+suffix[w]+" "+r)...)
		}
		for _, m := range mems[:4] {
			fs = append(fs, one(op+suffix[w]+" "+m)...)
		}
	}
	return fs
}

// shiftUndef says what a shift by n of width w leaves undefined.
func shiftUndef(w int, n uint64, rotates bool) uint64 {
	if w == 64 {
		n &= 63
	} else {
		n &= 31
	}
	if n == 0 {
		return 0
	}
	var u uint64
	if !rotates {
		u = af
		if n > uint64(w) || n == uint64(w) && w < 32 {
			u |= cf
		}
	}
	if n != 1 {
		u |= of
	}
	return u
}

// shifts are the forms of a shift or rotation: by 1, by an immediate, by cl.
func shifts(op string, rotates bool) (fs []form) {
	for _, w := range widths {
		dst := append(append([]string{}, regs[w]...), "8(%rbx,%r11,4)")
		if w == 8 {
			dst = append(dst, "%cl", "%ch")
		}
		for _, d := range dst {
			for _, n := range []uint64{0, 1, 3, 7, 8, 9, 15, 16, 17, 31, 32, 33, 63} {
				u := shiftUndef(w, n, rotates)
				fs = append(fs, form{asm: fmt.Sprintf("%s%s $%d, %s", op, suffix[w], n, d), undef: u, prep: index})
			}
			fs = append(fs, form{asm: fmt.Sprintf("%s%s %%cl, %s", op, suffix[w], d), prep: index,
				undefIf: func(s *cpucheck.State) uint64 { return shiftUndef(w, s.GPR[ir.RCX]&255, rotates) }})
		}
	}
	return fs
}

// doubles are the forms of shld and shrd. For 16 bits the result is undefined above 16.
func doubles(op string) (fs []form) {
	for _, w := range widths[1:] {
		for _, p := range append(pairs[w], [2]string{regs[w][1], "8(%rbx,%r11,4)"}) {
			for _, n := range []uint64{0, 1, 3, 8, 15, 16, 31, 33, 63} {
				if w == 16 && n&31 > 16 {
					continue
				}
				fs = append(fs, form{asm: fmt.Sprintf("%s%s $%d, %s, %s", op, suffix[w], n, p[0], p[1]), undef: shiftUndef(w, n, false) &^ cf, prep: index})
			}
			fs = append(fs, form{asm: fmt.Sprintf("%s%s %%cl, %s, %s", op, suffix[w], p[0], p[1]), prep: index,
				undefIf: func(s *cpucheck.State) uint64 { return shiftUndef(w, s.GPR[ir.RCX]&255, false) &^ cf },
				skip:    func(s *cpucheck.State) bool { return w == 16 && s.GPR[ir.RCX]&31 > 16 }})
		}
	}
	return fs
}

// bitTests are the forms of bt, bts, btr, btc, bit strings included.
func bitTests(op string) (fs []form) {
	u := uint64(of | sf | af | pf)
	for _, w := range widths[1:] {
		o := op + suffix[w]
		for _, p := range pairs[w] {
			fs = append(fs, undefined(u, one(fmt.Sprintf("%s %s, %s", o, p[0], p[1])))...)
		}
		for _, n := range []int{0, 1, 7, 15, 16, 31, 33, 63, 127} {
			fs = append(fs, undefined(u, one(fmt.Sprintf("%s $%d, %s", o, n, regs[w][1]), fmt.Sprintf("%s $%d, 8(%%rbx,%%r11,4)", o, n)))...)
		}
		fs = append(fs, form{asm: fmt.Sprintf("%s %s, 8(%%rbx,%%r11,4)", o, regs[w][1]), undef: u, prep: func(s *cpucheck.State) {
			index(s)
			s.GPR[ir.RDX] = uint64(int64(s.GPR[ir.RDX]) << 52 >> 52) // -2048 .. 2047
			if w == 32 {
				s.GPR[ir.RDX] &= 0xffffffff // the upper half is not part of the offset
			}
		}})
	}
	return fs
}

// small makes rcx a short count and the direction and accumulator likely to match memory.
func small(s *cpucheck.State) {
	s.GPR[ir.RCX] &= 15
	if s.GPR[ir.RDX]&1 != 0 {
		s.Flags |= 1 << 10
	}
	if s.GPR[ir.RDX]&2 != 0 { // equal strings up to a point
		copy(s.Data[0x100-0x80:0x100+int(s.GPR[ir.RDX]>>2&63)], s.Data[0x300-0x80:])
	}
	for i := range 0x40 { // runs of one byte
		if s.GPR[ir.RDX]&4 != 0 {
			s.Data[0x300+i-0x20] = byte(s.GPR[ir.RAX])
		}
	}
}

func strings() (fs []form) {
	for _, w := range widths {
		for _, op := range []string{"movs", "stos", "lods", "scas", "cmps"} {
			for _, p := range []string{"", "rep ", "addr32 ", "rep addr32 "} {
				fs = append(fs, form{asm: p + op + suffix[w], prep: small})
			}
			if op == "scas" || op == "cmps" {
				fs = append(fs, form{asm: "repne " + op + suffix[w], prep: small})
			}
		}
	}
	fs = append(fs, one("mov $5, %ecx; rep stosb; inc %eax", "xor %ecx, %ecx; cmp %eax, %edx; repe cmpsb; sete %al", "mov $7, %ecx; rep movsw; rep movsb; nop")...)
	// A fault in the middle: what was done stays done.
	for _, op := range []string{"rep stosb", "rep movsq", "repe cmpsb"} {
		fs = append(fs, form{asm: op, prep: func(s *cpucheck.State) {
			s.GPR[ir.RCX] = 4096
			s.GPR[ir.RDI] = 0x10001000 - 64
			s.GPR[ir.RSI] = 0x10001000 - 64
		}})
	}
	return fs
}

// branches: the code jumps over three nops or not; rip tells.
func branches() (fs []form) {
	for _, c := range conditions { // AF after shl is undefined
		fs = append(fs, undefined(af, one("j"+c+" .+5; nop; nop; nop", "cmpq %rcx, %rax; j"+c+" .+5; nop; nop; nop", "addl %ecx, %eax; j"+c+" .+5; nop; nop; nop",
			"testb %cl, %cl; j"+c+" .+5; nop; nop; nop", "subw %cx, %dx; j"+c+" .+5; nop; nop; nop", "shlq $1, %rdx; j"+c+" .+5; nop; nop; nop",
			"decb %dl; j"+c+" .+5; nop; nop; nop"))...)
	}
	fs = append(fs, one("jmp .+5; nop; nop; nop", "call .+5", "call .+40", "jrcxz .+5; nop; nop; nop", "jecxz .+5; nop; nop; nop")...)
	for _, l := range []string{"loop .+5; nop; nop; nop", "loope .+5; nop; nop; nop", "loopne .+5; nop; nop; nop", "addr32 loop .+5; nop; nop; nop", "loop ."} {
		fs = append(fs, form{asm: l, prep: func(s *cpucheck.State) { s.GPR[ir.RCX] = s.GPR[ir.RCX]&3 + 1 }})
	}
	near := func(s *cpucheck.State) {
		v := uint64(cpucheck.CodeBase + 0x80)
		s.GPR[ir.RAX], s.GPR[ir.R9] = v, v
		for i := range 8 {
			s.Data[0x200+i] = byte(v >> (8 * i))
			s.Stack[0x100+i] = byte(v >> (8 * i))
		}
	}
	for _, l := range []string{"jmp *%rax", "notrack jmp *%rax", "bnd jmp *%r9", "jmp *(%rbx)", "call *%rax", "call *%r9", "notrack call *%r9", "call *(%rbx)", "ret", "rep ret", "bnd ret", "ret $16"} {
		fs = append(fs, form{asm: l, prep: near})
	}
	return fs
}

var conditions = []string{"o", "no", "b", "ae", "e", "ne", "be", "a", "s", "ns", "p", "np", "l", "ge", "le", "g"}

// faults: operands outside memory; the state must be that before the instruction.
func faults() (fs []form) {
	bad := func(s *cpucheck.State) { s.GPR[ir.RBX] = 0x10001000 - 3 }
	for _, l := range []string{"addl %ecx, (%rbx)", "adcl %ecx, (%rbx)", "pushq (%rbx)", "popq (%rbx)", "xchgl %ecx, (%rbx)", "xaddq %rcx, (%rbx)", "cmpxchgl %ecx, (%rbx)",
		"call *(%rbx)", "sarl $1, (%rbx)", "rcll $1, (%rbx)", "shldl $3, %ecx, (%rbx)", "btsl $1, (%rbx)", "setb 3(%rbx)", "incl (%rbx)", "negl (%rbx)", "cmovel (%rbx), %ecx", "mull (%rbx)", "movl $1, (%rbx)"} {
		fs = append(fs, form{asm: l, prep: bad})
	}
	stack := func(s *cpucheck.State) { s.GPR[ir.RSP] = 0x20000004; s.GPR[ir.RBP] = 0x30 }
	for _, l := range []string{"pushq %rax", "pushq (%rbx)", "pushfq", "call .+5", "call *%rax", "leave", "enter $16, $0"} {
		fs = append(fs, form{asm: l, prep: stack})
	}
	return append(fs, one("ud2", "hlt", "inb %dx, %al", "cli", "movaps 0, %xmm1", "movsd %xmm1, 0", "fstpl 0", "fistpl 0", "fldt 0", "fxrstor64 0", ".byte 0xf0, 0x01, 0xc8")...)
}
