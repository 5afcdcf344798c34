package lift_test

import (
	"fmt"
	"maps"
	"slices"
	"testing"

	"symchef/internal/cpucheck"
	"symchef/internal/ir"
	"symchef/internal/seed"
)

// statesPerForm is the number of random states each form runs on. Single instructions run on more of them in package cpucheck; here
// are sequences, flags that are computed late, and faults.
const statesPerForm = 50

// integerForms are the families of forms, by name.
func integerForms() map[string][]form {
	f := map[string][]form{
		"string": strings(), "branch": branches(), "fault": faults(),
	}
	for _, op := range []string{"add", "adc", "sub", "sbb", "cmp", "mov"} {
		f[op] = twoOperand(op)
	}
	for _, op := range []string{"and", "or", "xor", "test"} {
		f[op] = undefined(af, twoOperand(op))
	}
	for _, op := range []string{"not", "neg", "inc", "dec"} {
		f[op] = oneOperand(op, widths...)
	}
	for _, op := range []string{"shl", "shr", "sar"} {
		f[op] = shifts(op, false)
	}
	for _, op := range []string{"rol", "ror", "rcl", "rcr"} {
		f[op] = shifts(op, true)
	}
	f["shld"], f["shrd"] = doubles("shld"), doubles("shrd")
	for _, op := range []string{"bt", "bts", "btr", "btc"} {
		f[op] = bitTests(op)
	}
	f["mul"] = undefined(sf|zf|af|pf, append(oneOperand("mul", widths...), oneOperand("imul", widths...)...))
	f["div"] = undefined(allFlags, append(oneOperand("div", widths...), oneOperand("idiv", widths...)...))
	fit := func(signed bool) func(*cpucheck.State) { // high half so small that most quotients fit
		return func(s *cpucheck.State) {
			index(s)
			s.GPR[ir.RDX] = s.GPR[ir.R8] & 3
			if signed && s.GPR[ir.R8]&1 != 0 {
				s.GPR[ir.RDX] = ^s.GPR[ir.RDX]
			}
			if s.GPR[ir.R8]&8 != 0 { // exactly the extension
				s.GPR[ir.RDX] = 0
				if signed {
					s.GPR[ir.RDX] = uint64(int64(s.GPR[ir.RAX]) >> 63)
				}
			}
		}
	}
	for _, w := range widths {
		for _, r := range []string{"%r9", "%rcx"} {
			r = map[int]string{8: "%cl", 16: r + "w", 32: r + "d", 64: r}[w]
			if r == "%rcxw" || r == "%rcxd" {
				r = map[int]string{16: "%cx", 32: "%ecx"}[w]
			}
			f["div"] = append(f["div"], form{asm: "div" + suffix[w] + " " + r, undef: allFlags, prep: fit(false)},
				form{asm: "idiv" + suffix[w] + " " + r, undef: allFlags, prep: fit(true)})
		}
	}
	f["div"] = append(f["div"], undefined(allFlags, one("xorl %edx, %edx; divq %rcx", "cqo; idivq %rcx", "xorl %edx, %edx; divl %ecx", "cltd; idivl %ecx", "movl $0, %edx; divq (%rbx)",
		"cqo; movq %r8, %rax; idivq %r9", "xorl %edx, %edx; movb $1, %dl; divq %r9", "cltd; idivq %r9", "movabs $0x8000000000000000, %rax; cqo; idivq %rcx"))...)
	for _, w := range widths[1:] {
		for _, p := range pairs[w] {
			f["imul"] = append(f["imul"], undefined(sf|zf|af|pf, one(fmt.Sprintf("imul%s %s, %s", suffix[w], p[0], p[1]),
				fmt.Sprintf("imul%s $-128, %s, %s", suffix[w], p[0], p[1]), fmt.Sprintf("imul%s $0x7fff, %s, %s", suffix[w], p[0], p[1]),
				fmt.Sprintf("imul%s $3, 8(%%rbx,%%r11,4), %s", suffix[w], p[1]), fmt.Sprintf("imul%s -16(%%rbp), %s", suffix[w], p[1])))...)
			for _, c := range conditions {
				f["cmov"] = append(f["cmov"], one(fmt.Sprintf("cmov%s%s %s, %s", c, suffix[w], p[0], p[1]), fmt.Sprintf("cmov%s%s (%%rbx), %s", c, suffix[w], p[1]))...)
			}
			f["bsf"] = append(f["bsf"], undefined(allFlags&^zf, one(fmt.Sprintf("bsf%s %s, %s", suffix[w], p[0], p[1]), fmt.Sprintf("bsr%s %s, %s", suffix[w], p[0], p[1]),
				fmt.Sprintf("bsf%s (%%rbx), %s", suffix[w], p[1]), fmt.Sprintf("bsr%s (%%rbx), %s", suffix[w], p[1])))...)
			f["tzcnt"] = append(f["tzcnt"], undefined(of|sf|af|pf, one(fmt.Sprintf("tzcnt%s %s, %s", suffix[w], p[0], p[1]), fmt.Sprintf("lzcnt%s %s, %s", suffix[w], p[0], p[1]),
				fmt.Sprintf("tzcnt%s (%%rbx), %s", suffix[w], p[1])))...)
			f["popcnt"] = append(f["popcnt"], one(fmt.Sprintf("popcnt%s %s, %s", suffix[w], p[0], p[1]), fmt.Sprintf("popcnt%s (%%rbx), %s", suffix[w], p[1]))...)
		}
	}
	for _, w := range widths {
		for _, p := range append(pairs[w], [2]string{regs[w][1], "8(%rbx,%r11,4)"}, [2]string{regs[w][1], "%gs:0x40"}) {
			f["xchg"] = append(f["xchg"], one(fmt.Sprintf("xchg%s %s, %s", suffix[w], p[0], p[1]))...)
			f["xadd"] = append(f["xadd"], one(fmt.Sprintf("xadd%s %s, %s", suffix[w], p[0], p[1]))...)
			f["cmpxchg"] = append(f["cmpxchg"], one(fmt.Sprintf("cmpxchg%s %s, %s", suffix[w], p[0], p[1]))...)
			if p[1][0] != '%' {
				f["cmpxchg"] = append(f["cmpxchg"], one(fmt.Sprintf("lock cmpxchg%s %s, %s", suffix[w], p[0], p[1]), fmt.Sprintf("lock xadd%s %s, %s", suffix[w], p[0], p[1]),
					fmt.Sprintf("lock add%s %s, %s", suffix[w], p[0], p[1]))...)
				f["cmpxchg"] = append(f["cmpxchg"], form{asm: fmt.Sprintf("lock cmpxchg%s %s, (%%rbx)", suffix[w], p[0]), prep: match})
			} else {
				f["cmpxchg"] = append(f["cmpxchg"], form{asm: fmt.Sprintf("cmpxchg%s %s, %s", suffix[w], p[0], p[1]), prep: func(s *cpucheck.State) {
					s.GPR[ir.RAX] &= 0xff
					s.GPR[ir.RDX] = s.GPR[ir.RAX] | s.GPR[ir.RDX]<<32
					s.GPR[ir.R10] = s.GPR[ir.RAX] | s.GPR[ir.R10]<<32
				}})
			}
		}
	}
	for _, l := range []string{"cmpxchg8b (%rbx)", "cmpxchg16b (%rbx)", "lock cmpxchg8b (%rbx)"} {
		f["cmpxchg"] = append(f["cmpxchg"], form{asm: l, prep: match}, form{asm: l})
	}
	for _, c := range conditions {
		f["setcc"] = append(f["setcc"], one("set"+c+" %al", "set"+c+" %ah", "set"+c+" %r9b", "set"+c+" %sil", "set"+c+" (%rbx)",
			"cmpb %cl, %dl; set"+c+" %al", "cmpw %cx, %dx; set"+c+" %al", "cmpl %ecx, %edx; set"+c+" %al", "cmpq %rcx, %rdx; set"+c+" %al",
			"addq %rcx, %rdx; set"+c+" %al", "adcb %cl, %dl; set"+c+" %al", "sbbw %cx, %dx; set"+c+" %al", "incl %edx; set"+c+" %al", "decq %rdx; set"+c+" %al")...)
	}
	for _, src := range []string{"%cl", "%ah", "%sil", "%r9b", "(%rbx)", "%gs:0x40"} {
		for _, op := range []string{"movzb", "movsb"} {
			f["movx"] = append(f["movx"], one(op+"w "+src+", %dx", op+"l "+src+", %edx")...)
			if src != "%ah" {
				f["movx"] = append(f["movx"], one(op+"q "+src+", %rdx", op+"l "+src+", %r10d")...)
			}
		}
	}
	f["movx"] = append(f["movx"], one("movzwl %cx, %edx", "movzwq %cx, %rdx", "movswl %cx, %edx", "movswq (%rbx), %rdx", "movzwl (%rbx), %r9d", "movslq %ecx, %rdx", "movslq (%rbx), %rdx", "movslq %ecx, %rcx",
		".byte 0x63, 0xd1", ".byte 0x66, 0x0f, 0xb7, 0xd1")...)
	f["lea"] = one("lea (%rbx,%rcx,8), %rax", "lea -128(%rbx,%rcx,8), %eax", "lea 0x7fffffff(%rcx), %ax", "lea -0x80000000(%rcx), %rax", "lea 16(%ecx,%edx), %rax", "lea 16(%ecx,%edx,2), %eax",
		"lea 5(%rip), %rax", "lea -0x80000000(%rip), %rax", "lea -1(%eip), %rax", "lea (,%rcx,4), %rdx", "lea -8(,%rcx,8), %rcx", "lea %gs:8(%rcx), %rax", "lea 0x7fffffff, %rax", "lea -1, %rax", "lea (%r12,%r13), %r14", "lea (%rsp), %r12", "lea 8(%r13), %rbp")
	f["mov"] = append(f["mov"], one("movabs $0x8123456789abcdef, %r9", "movabs 0x10000900, %al", "movabs 0x10000900, %eax", "movabs %rax, 0x10000900", "movabs 0xffffffff10000900, %ax", "addr32 movabs 0x10000900, %rax",
		"mov $-1, %r9", "mov $0xffffffff, %r9d", "movq $-0x80000000, (%rbx)", "mov $0x80, %ah", "movnti %ecx, (%rbx)", "movnti %rcx, (%rbx)", "mov %gs:-8(%r11), %al", "mov %cs, %eax", "mov %ds, %rcx", "mov %ss, (%rbx)", "mov %cs, %ax")...)
	f["stack"] = one("push %rax", "push %rsp", "push %r12", "pushw %ax", "push $-1", "push $0x7fffffff", "pushw $-2", "pushw $0x1234", "pushq (%rbx)", "pushw (%rbx)", "pushq 8(%rsp)", "push $-128",
		"pop %rax", "pop %rsp", "pop %r12", "popw %ax", "popq (%rbx)", "popw (%rbx)", "popq 8(%rsp)", "popq -8(%rsp)", "popw 2(%rsp)", "leave", "enter $32, $0", "pushfq", "pushfw",
		"mov %rsp, %rbp; leave", "push %rax; pop %rcx", "popfq; pushfq; pop %rax; and $0xcd5, %eax; pushq $2; popfq")
	for i := range f["stack"] {
		if f["stack"][i].asm == "pushfq" || f["stack"][i].asm == "pushfw" {
			f["stack"][i].prep = nil
		}
	}
	popf := func(s *cpucheck.State) {
		v := 0x202 | s.GPR[ir.RCX]&0xcd5
		for i := range 8 {
			s.Stack[0x100+i] = byte(v >> (8 * i))
		}
	}
	f["stack"][len(f["stack"])-1].prep = popf
	f["stack"] = append(f["stack"], form{asm: "popfq", prep: popf}, form{asm: "popfw", prep: popf})
	f["flags"] = one("clc", "stc", "cmc", "cld", "std", "lahf", "sahf", "cmc; setb %al", "std; cld", "sub %rcx, %rax; lahf", "stc; adc %rcx, %rdx", "lahf; sahf")
	f["misc"] = one("cbtw", "cwtl", "cltq", "cwtd", "cltd", "cqto", "bswap %eax", "bswap %rdx", "bswap %r9d", "bswap %r9", "nop", "nopw (%rax)", "nopl 8(%rax,%rax)", "nopw %cs:0(%rax,%rax)", "xchg %ax, %ax", "xchg %rax, %rax",
		".byte 0x87, 0xc0", "pause", "endbr64", "prefetcht0 (%rbx)", "prefetchw (%rbx)", "prefetchnta (%rax)", "mfence", "lfence", "sfence", "clflush (%rbx)", ".byte 0x0f,0x18,0xe0", ".byte 0x66,0x0f,0x1f,0xc0", ".byte 0xf3,0x48,0x0f,0x1e,0xc8",
		".byte 0x66,0x66,0x8d,0x01", ".byte 0x66,0x66,0x48,0xe8,0x24,0,0,0", ".byte 0x3e,0x48,0x89,0xc8", ".byte 0xf2,0x48,0x89,0xc8", "rex.W nop", ".byte 0x48,0x0f,0x1f,0x00")
	f["misc"] = append(f["misc"], form{asm: "xlat", prep: index}, form{asm: "xlat %gs:(%rbx)", prep: func(s *cpucheck.State) { s.GPR[ir.RBX] = 0x20 }},
		form{asm: "addr32 xlat"})
	return f
}

// match makes the comparison of cmpxchg, cmpxchg8b, cmpxchg16b with (%rbx) succeed in half of the states.
func match(s *cpucheck.State) {
	index(s)
	if s.GPR[ir.R8]&1 == 0 {
		return
	}
	for i := range 8 {
		s.Data[0x200+i] = byte(s.GPR[ir.RAX] >> (8 * i))
		s.Data[0x208+i] = byte(s.GPR[ir.RDX] >> (8 * i))
	}
	if s.GPR[ir.R8]&2 == 0 {
		copy(s.Data[0x204:], s.Data[0x208:0x20c])
	}
}

// TestIntegerInstructions runs every form on the processor and lifted.
func TestIntegerInstructions(t *testing.T) {
	seed := seed.Of(t)
	cpu := cpucheck.New(t)
	total := 0
	pool := make([]cpucheck.State, 10*statesPerForm)
	r := cpucheck.NewRand(seed, 0)
	for i := range pool {
		cpucheck.Random(r, &pool[i])
	}
	families := integerForms()
	for _, name := range slices.Sorted(maps.Keys(families)) {
		forms := families[name]
		t.Run(name, func(t *testing.T) {
			lines := make([]string, len(forms))
			for i, f := range forms {
				lines[i] = f.asm
			}
			for i, code := range cpucheck.Assemble(t, lines) {
				f := forms[i]
				first := r.IntN(len(pool) - statesPerForm + 1)
				check := cpucheck.Form{Name: f.asm, Code: code, Undef: f.undef, UndefIf: f.undefIf, Skip: f.skip, X87: true}
				cpu.Check(t, check, statesPerForm, func(j int, s *cpucheck.State) {
					*s = pool[first+j]
					if f.prep != nil {
						f.prep(s)
					}
				})
				total++
			}
		})
	}
	t.Logf("%d forms, %d states each", total, statesPerForm)
}
