package lift

import (
	"encoding/binary"

	"symchef/internal/ir"
)

// The processor that guests see is the same on every host: all that it announces is lifted. It is one that was built, so that
// libraries that know processors by name agree with those that ask for features: an Intel Nehalem without hyper-threading,
// the first with all of x86-64-v2 (System V ABI, AMD64 supplement, table 3.1) and nothing of x86-64-v3.
const (
	// Level is the level of the processor.
	Level = "x86-64-v2"

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
	cpuBrand       = "SymChef " + Level + " processor"
)

func cpuid(_ *ir.Uop, m ir.Machine) error {
	r := m.Reg()
	a, b, c, d := CPUID(uint32(r[ir.RAX]), uint32(r[ir.RCX]))
	r[ir.RAX], r[ir.RBX], r[ir.RCX], r[ir.RDX] = uint64(a), uint64(b), uint64(c), uint64(d)
	return nil
}

// CPUID returns what EAX, EBX, ECX and EDX are after CPUID with leaf in EAX and sub in ECX (SDM vol. 2, CPUID).
func CPUID(leaf, sub uint32) (a, b, c, d uint32) {
	word := func(s string, i int) uint32 {
		var p [48]byte
		copy(p[:], s)
		return binary.LittleEndian.Uint32(p[i:])
	}
	switch leaf {
	case 0:
		a, b, d, c = 4, word(cpuVendor, 0), word(cpuVendor, 4), word(cpuVendor, 8)
	case 1:
		a, b, c, d = cpuSignature, cpuMisc, cpuMore, cpuFeatures
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
	case 0x80000000:
		a = 0x80000008
	case 0x80000001:
		c, d = cpuExtMore, cpuExtFeatures
	case 0x80000002, 0x80000003, 0x80000004:
		i := int(leaf-0x80000002) * 16
		a, b, c, d = word(cpuBrand, i), word(cpuBrand, i+4), word(cpuBrand, i+8), word(cpuBrand, i+12)
	case 0x80000006: // L2: 4 MiB, 16 ways, 64-byte lines
		c = 4096<<16 | 8<<12 | 64
	case 0x80000008: // 36 physical, 48 linear address bits
		a = 48<<8 | 36
	}
	return a, b, c, d
}
