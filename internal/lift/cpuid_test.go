package lift_test

import (
	"bytes"
	"encoding/binary"
	"testing"

	"symchef/internal/ir"
	"symchef/internal/lift"
)

// What a program finds out about its processor, read as the manual has it (SDM vol. 2A, CPUID; vol. 2B, RDTSC).

// TestCPUIDLeaves: the highest leaves that are announced are there, and none above them.
func TestCPUIDLeaves(t *testing.T) {
	for _, p := range []ir.Processor{ir.V2, ir.V3, ir.Elsewhere} {
		for _, first := range []uint32{0, 0x80000000} {
			last, _, _, _ := lift.CPUID(p, first, 0)
			if a, b, c, d := lift.CPUID(p, last, 0); last <= first || a|b|c|d == 0 {
				t.Errorf("leaf %#x, announced as the last one, is empty", last)
			}
			for leaf := last + 1; leaf < last+0x40; leaf++ {
				if a, b, c, d := lift.CPUID(p, leaf, 0); a|b|c|d != 0 {
					t.Errorf("leaf %#x is beyond the last one, %#x", leaf, last)
				}
			}
		}
	}
}

// TestCPUIDNames: vendor and brand.
func TestCPUIDNames(t *testing.T) {
	text := func(words ...uint32) (p []byte) {
		for _, w := range words {
			p = binary.LittleEndian.AppendUint32(p, w)
		}
		return p
	}
	_, b, c, d := lift.CPUID(ir.V2, 0, 0)
	if s := string(text(b, d, c)); s != "GenuineIntel" {
		t.Errorf("vendor %q", s)
	}
	var brand []byte
	for leaf := range uint32(3) {
		a, b, c, d := lift.CPUID(ir.V2, 0x80000002+leaf, 0)
		brand = append(brand, text(a, b, c, d)...)
	}
	if s, rest, ok := bytes.Cut(brand, []byte{0}); !ok || string(s) != "SymChef x86-64-v2 processor" || len(bytes.Trim(rest, "\x00")) != 0 {
		t.Errorf("brand %q", brand)
	}
}

// TestCPUIDFeatures: the processor is a Nehalem, with the features of x86-64-v2; every feature that has instructions has them, and what came
// later is not announced.
func TestCPUIDFeatures(t *testing.T) {
	a, b, c, d := lift.CPUID(ir.V2, 1, 0)
	family, model, stepping := a>>8&15, a>>4&15|a>>16&15<<4, a&15
	if family != 6 || model != 26 || stepping != 5 || a>>20 != 0 || a>>12&15 != 0 {
		t.Errorf("family %d, model %d, stepping %d (%#x)", family, model, stepping, a)
	}
	if line, processors := b>>8&255*8, b>>16&255; line != 64 || processors != 1 || b>>24 != 0 {
		t.Errorf("CLFLUSH of %d bytes, %d processors, APIC %d", line, processors, b>>24)
	}
	_, _, extC, extD := lift.CPUID(ir.V2, 0x80000001, 0)
	features := []struct {
		name string
		reg  *uint32
		bit  int
		code string // an instruction of it
	}{
		{"FPU", &d, 0, "\xd9\xe8"}, {"TSC", &d, 4, "\x0f\x31"}, {"CX8", &d, 8, "\x0f\xc7\x0e"}, {"CMOV", &d, 15, "\x0f\x44\xc1"},
		{"CLFSH", &d, 19, "\x0f\xae\x3e"}, {"MMX", &d, 23, ""}, {"FXSR", &d, 24, "\x0f\xae\x06"}, {"SSE", &d, 25, "\x0f\x58\xc1"},
		{"SSE2", &d, 26, "\x66\x0f\x58\xc1"}, {"SYSCALL", &extD, 11, "\x0f\x05"}, {"NX", &extD, 20, ""}, {"LM", &extD, 29, "\x48\x01\xc8"},
		{"SSE3", &c, 0, "\x66\x0f\xd0\xc1"}, {"SSSE3", &c, 9, "\x66\x0f\x38\x00\xc1"}, {"CMPXCHG16B", &c, 13, "\x48\x0f\xc7\x0e"},
		{"SSE4.1", &c, 19, "\x66\x0f\x38\x17\xc1"}, {"SSE4.2", &c, 20, "\x66\x0f\x3a\x63\xc1\x00"}, {"POPCNT", &c, 23, "\xf3\x0f\xb8\xc1"},
		{"LAHF", &extC, 0, "\x9f"},
	}
	for _, f := range features {
		if *f.reg>>f.bit&1 == 0 {
			t.Errorf("%s is not announced", f.name)
		}
		*f.reg &^= 1 << f.bit
		if f.code == "" { // MMX is announced because x86-64 has it; that it ends the path is in docs/instructions.md
			continue
		}
		if b, err := lift.Lift(0x1000, func(addr uint64, p []byte) int { return copy(p, (f.code + "\xc3")[addr-0x1000:]) }); err != nil || b.Uops[len(b.Uops)-1].Op == ir.Unsup {
			t.Errorf("%s is announced: %v", f.name, err)
		}
	}
	if c != 0 || d != 0 || extC != 0 || extD != 0 {
		t.Errorf("more is announced: %#x %#x %#x %#x", c, d, extC, extD)
	}
	a, b, c, d = lift.CPUID(ir.V2, 0x80000008, 0)
	if a&255 != 36 || a>>8&255 != 48 || a>>16|b|c|d != 0 {
		t.Errorf("%d physical and %d linear address bits (%#x %#x %#x %#x)", a&255, a>>8&255, a, b, c, d)
	}
}

// TestCPUIDOfV3: the processor of x86-64-v3 is a Haswell and announces what that level has more, each with its instructions, and nothing besides. What those are
// is not supported on the other processor.
func TestCPUIDOfV3(t *testing.T) {
	a, _, c, d := lift.CPUID(ir.V3, 1, 0)
	if family, model, stepping := a>>8&15, a>>4&15|a>>16&15<<4, a&15; family != 6 || model != 60 || stepping != 3 {
		t.Errorf("family %d, model %d, stepping %d", family, model, stepping)
	}
	_, _, oldC, oldD := lift.CPUID(ir.V2, 1, 0)
	_, _, extC, _ := lift.CPUID(ir.V3, 0x80000001, 0)
	_, _, oldExtC, _ := lift.CPUID(ir.V2, 0x80000001, 0)
	_, b, c7, d7 := lift.CPUID(ir.V3, 7, 0)
	if c&oldC != oldC || d != oldD || extC&oldExtC != oldExtC {
		t.Errorf("less is announced: %#x %#x %#x", c, d, extC)
	}
	c, extC = c&^oldC, extC&^oldExtC
	for _, f := range []struct {
		name string
		reg  *uint32
		bit  int
		code string // an instruction of it
	}{
		{"FMA", &c, 12, "\xc4\xe2\xe9\xa9\xc1"}, {"MOVBE", &c, 22, "\x0f\x38\xf0\x06"}, {"XSAVE", &c, 26, "\x0f\xae\x26"}, {"OSXSAVE", &c, 27, "\x0f\x01\xd0"},
		{"AVX", &c, 28, "\xc5\xf4\x58\xc1"}, {"F16C", &c, 29, "\xc4\xe2\x79\x13\xc1"}, {"BMI1", &b, 3, "\xc4\xe2\x70\xf2\xc1"},
		{"AVX2", &b, 5, "\xc5\xf5\xfc\xc1"}, {"BMI2", &b, 8, "\xc4\xe2\x70\xf5\xc1"}, {"LZCNT", &extC, 5, ""},
	} {
		if *f.reg>>f.bit&1 == 0 {
			t.Errorf("%s is not announced", f.name)
		}
		*f.reg &^= 1 << f.bit
		for _, p := range []ir.Processor{ir.V2, ir.V3} {
			if f.code == "" { // which is BSR on V2, where no program means it
				continue
			}
			blk, err := lift.How{Processor: p}.Lift(0x1000, func(addr uint64, p []byte) int { return copy(p, (f.code + "\xc3")[addr-0x1000:]) })
			if err != nil || (blk.Uops[len(blk.Uops)-1].Op == ir.Unsup) != (p == ir.V2) {
				t.Errorf("%s on %s: %v", f.name, lift.Level(p), err)
			}
		}
	}
	if b != 0 || c != 0 || extC != 0 || c7 != 0 || d7 != 0 {
		t.Errorf("more is announced: %#x %#x %#x %#x %#x", b, c, extC, c7, d7)
	}
}

// cache is what CPUID tells of one.
type cache struct{ kind, level, ways, line, size uint32 }

// TestCPUIDCaches: the three leaves that describe caches agree.
func TestCPUIDCaches(t *testing.T) {
	const data, code, unified = 1, 2, 3
	want := []cache{{data, 1, 8, 64, 32 << 10}, {code, 1, 8, 64, 32 << 10}, {unified, 2, 16, 64, 4 << 20}}

	// Leaf 2 in the words of its table of descriptors.
	descriptors := map[byte]cache{0x2c: want[0], 0x30: want[1], 0x49: want[2]}
	seen := map[cache]int{}
	a, b, c, d := lift.CPUID(ir.V2, 2, 0)
	if a&255 != 1 {
		t.Errorf("leaf 2 has to be asked %d times", a&255)
	}
	for i, w := range []uint32{a &^ 255, b, c, d} {
		if w>>31 != 0 {
			t.Errorf("register %d of leaf 2 is not valid", i)
		}
		for ; w != 0; w >>= 8 {
			if k, ok := descriptors[byte(w)]; ok {
				seen[k]++
			} else if byte(w) != 0 {
				t.Errorf("descriptor %#x", byte(w))
			}
		}
	}
	for _, k := range want {
		if seen[k] != 1 {
			t.Errorf("leaf 2 has %d times %+v", seen[k], k)
		}
	}

	// Leaf 4: fields are one less than what they count.
	for i, want := range want {
		a, b, sets, d := lift.CPUID(ir.V2, 4, uint32(i))
		line, partitions, ways := b&0xfff+1, b>>12&0x3ff+1, b>>22+1
		got := cache{a & 31, a >> 5 & 7, ways, line, ways * partitions * line * (sets + 1)}
		if got != want || partitions != 1 {
			t.Errorf("cache %d of leaf 4: %+v, want %+v", i, got, want)
		}
		if selfInit, associative, sharing, cores := a>>8&1, a>>9&1, a>>14&0xfff+1, a>>26+1; selfInit != 1 || associative != 0 || sharing != 1 || cores != 1 || a>>10&15 != 0 {
			t.Errorf("cache %d is shared by %d threads of %d cores, fully associative %d (%#x)", i, sharing, cores, associative, a)
		}
		if d != 0 { // no WBINVD, not inclusive, indexed directly
			t.Errorf("cache %d: EDX %#x", i, d)
		}
	}
	if a, b, c, d := lift.CPUID(ir.V2, 4, 3); a|b|c|d != 0 {
		t.Errorf("a fourth cache: %#x %#x %#x %#x", a, b, c, d)
	}

	_, _, c, _ = lift.CPUID(ir.V2, 0x80000006, 0)
	const of16Ways = 8
	if kib, ways, line := c>>16, c>>12&15, c&255; kib<<10 != want[2].size || ways != of16Ways || line != 64 || c>>8&15 != 0 {
		t.Errorf("L2: %d KiB, ways %d, lines of %d bytes", kib, ways, line)
	}
}

// clock is a Machine for helpers that tell the time.
type clock struct {
	ir.Machine
	regs    [ir.NumSlots]uint64
	retired uint64
}

func (c *clock) Reg() *[ir.NumSlots]uint64 { return &c.regs }
func (c *clock) Retired() uint64           { return c.retired }
func (c *clock) Processor() ir.Processor   { return ir.V2 }

// TestTimeStamp: EDX:EAX is the number of instructions retired; RDTSCP says that the processor is number 0.
func TestTimeStamp(t *testing.T) {
	for _, code := range []string{"\x0f\x31", "\x0f\x01\xf9"} {
		b, err := lift.Lift(0x1000, func(addr uint64, p []byte) int { return copy(p, (code + "\xc3")[addr-0x1000:]) })
		if err != nil {
			t.Fatal(err)
		}
		if b.Uops[0].Op != ir.Helper {
			t.Fatalf("% x: %v", code, b.Uops[0].Op)
		}
		const old = 0xdead_beef_1234_5678
		for _, n := range []uint64{0, 1, 0xffff_ffff, 0x1_0000_0000, 0x1234_5678_9abc_def0, 1 << 63} {
			c := &clock{retired: n, regs: [ir.NumSlots]uint64{ir.RAX: old, ir.RCX: old, ir.RDX: old, ir.RBX: old}}
			want := c.regs
			want[ir.RAX], want[ir.RDX] = n&0xffff_ffff, n>>32
			if len(code) == 3 {
				want[ir.RCX] = 0
			}
			if err := ir.Helpers[b.Uops[0].Imm].Run(&b.Uops[0], c); err != nil || c.regs != want {
				t.Errorf("% x after %#x instructions: rax %#x, rcx %#x, rdx %#x (%v)", code, n, c.regs[ir.RAX], c.regs[ir.RCX], c.regs[ir.RDX], err)
			}
		}
	}
}
