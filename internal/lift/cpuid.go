package lift

import (
	"encoding/binary"

	"symchef/internal/ir"
)

// The processor that guests see is the same on every host: all that it announces is lifted. It is one that was built, so that
// libraries that know processors by name agree with those that ask for features: an Intel Nehalem without hyper-threading,
// the first with all of x86-64-v2 (System V ABI, AMD64 supplement, table 3.1) and nothing of x86-64-v3; or an Intel Haswell, the first
// with all of x86-64-v3, without TSX.
const (
	// Family 6, model 26, stepping 5.
	cpuSignature = 0x106a5
	// EBX of leaf 1: CLFLUSH line of 8 quadwords, 1 logical processor.
	cpuMisc = 1<<16 | 8<<8
	// ECX of leaf 1: SSE3, SSSE3, CMPXCHG16B, SSE4.1, SSE4.2, POPCNT.
	cpuMore = 1<<0 | 1<<9 | 1<<13 | 1<<19 | 1<<20 | 1<<23
	// EDX of leaf 1: FPU, TSC, CX8, CMOV, CLFSH, MMX, FXSR, SSE, SSE2.
	cpuFeatures = 1<<0 | 1<<4 | 1<<8 | 1<<15 | 1<<19 | 1<<23 | 1<<24 | 1<<25 | 1<<26
	// ECX of leaf 0x80000001: LAHF and SAHF. EDX: SYSCALL, NX, LM.
	cpuExtMore     = 1 << 0
	cpuExtFeatures = 1<<11 | 1<<20 | 1<<29
	cpuVendor      = "GenuineIntel"

	// What v3 has more or instead: model 60, stepping 3; ECX of leaf 1: FMA, MOVBE, XSAVE, OSXSAVE, AVX, F16C; EBX of leaf 7: BMI1, AVX2, BMI2;
	// ECX of leaf 0x80000001: LZCNT.
	v3Signature = 0x306c3
	v3More      = 1<<12 | 1<<22 | 1<<26 | 1<<27 | 1<<28 | 1<<29
	v3Leaf7     = 1<<3 | 1<<5 | 1<<8
	v3ExtMore   = 1 << 5
)

// Level names the level of p: what the machine's processors are called.
func Level(p ir.Processor) string {
	if p == ir.V3 {
		return "x86-64-v3"
	}
	return "x86-64-v2"
}

func cpuid(_ *ir.Uop, m ir.Machine) error {
	r := m.Reg()
	a, b, c, d := CPUID(m.Processor(), uint32(r[ir.RAX]), uint32(r[ir.RCX]))
	r[ir.RAX], r[ir.RBX], r[ir.RCX], r[ir.RDX] = uint64(a), uint64(b), uint64(c), uint64(d)
	return nil
}

// elsewhere is CPUID of a processor without what x86-64-v2 has more than the first level, another model, its third of four. Programs that run there may find out
// what of their outcome depends on the processor.
func elsewhere(leaf, sub uint32) (a, b, c, d uint32) {
	const (
		signature = 0x6fb // family 6, model 15, stepping 11
		misc      = 2<<24 | 4<<16 | 8<<8
		htt       = 1 << 28
	)
	switch a, b, c, d = CPUID(ir.V2, leaf, sub); leaf {
	case 1:
		a, b, c, d = signature, misc, 0, d|htt
	case 2:
		d = 0x00007d2c // 2 MiB L2
	case 4:
		if sub == 2 {
			c = 2047
		}
	case 0x80000001:
		c = 0
	case 0x80000002:
		a = ^a&0x1f1f1f1f | 0x60606060 // letters
	}
	return a, b, c, d
}

// CPUID returns what EAX, EBX, ECX and EDX are on p after CPUID with leaf in EAX and sub in ECX (SDM vol. 2, CPUID).
func CPUID(p ir.Processor, leaf, sub uint32) (a, b, c, d uint32) {
	if p == ir.Elsewhere {
		return elsewhere(leaf, sub)
	}
	v3 := p == ir.V3
	word := func(s string, i int) uint32 {
		var p [48]byte
		copy(p[:], s)
		return binary.LittleEndian.Uint32(p[i:])
	}
	switch leaf {
	case 0:
		a, b, d, c = 4, word(cpuVendor, 0), word(cpuVendor, 4), word(cpuVendor, 8)
		if v3 {
			a = 13
		}
	case 1:
		a, b, c, d = cpuSignature, cpuMisc, cpuMore, cpuFeatures
		if v3 {
			a, c = v3Signature, c|v3More
		}
	case 2: // cache descriptors: 32 KiB L1d (2c) and L1i (30), 4 MiB L2 (49)
		a, d = 0x00003001, 0x0000492c
	case 4: // deterministic cache parameters: L1d, L1i, L2
		switch sub {
		case 0:
			a, b, c = 1|1<<5|1<<8, 7<<22|63, 63
		case 1:
			a, b, c = 2|1<<5|1<<8, 7<<22|63, 63
		case 2:
			a, b, c = 3|2<<5|1<<8, 15<<22|63, 4095
		}
	case 7:
		if v3 && sub == 0 {
			b = v3Leaf7
		}
	case 13: // XSAVE: which parts, the size of its area now and at most; of AVX, its size and place
		switch {
		case v3 && sub == 0:
			a, b, c = xcr0, xsaveSize, xsaveSize
		case v3 && sub == 2:
			a, b = xsaveSize-xsaveUpper, xsaveUpper
		}
	case 0x80000000:
		a = 0x80000008
	case 0x80000001:
		c, d = cpuExtMore, cpuExtFeatures
		if v3 {
			c |= v3ExtMore
		}
	case 0x80000002, 0x80000003, 0x80000004:
		i, brand := int(leaf-0x80000002)*16, "SymChef "+Level(p)+" processor"
		a, b, c, d = word(brand, i), word(brand, i+4), word(brand, i+8), word(brand, i+12)
	case 0x80000006: // L2: 4 MiB, 16 ways, 64-byte lines
		c = 4096<<16 | 8<<12 | 64
	case 0x80000008: // 36 physical, 48 linear address bits
		a = 48<<8 | 36
	}
	return a, b, c, d
}
