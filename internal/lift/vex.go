package lift

import (
	"slices"

	"golang.org/x/arch/x86/x86asm"
)

// First bytes of VEX and EVEX prefixes in 64-bit mode.
const (
	vex2 = 0xc5
	vex3 = 0xc4
	evex = 0x62
)

// vexAt returns the index of the VEX or EVEX prefix that code begins with, behind prefixes of segment and address size; -1 if there is none.
func vexAt(code []byte) int {
	for i, b := range code {
		switch b {
		case 0x67, 0x2e, 0x36, 0x3e, 0x26, 0x64, 0x65:
			continue
		case vex2, vex3, evex:
			return i
		}
		break
	}
	return -1
}

// decodeVEX decodes the instruction in buf, whose VEX prefix begins at n, and mends what x86asm gets wrong or leaves to its caller:
//
//   - it knows no prefix before VEX, no address relative to RIP and none of 32 bits;
//   - it sees a ModRM byte where there is none;
//   - it does not look at vvvv where that names no operand: any value but 1111 is invalid;
//   - it gives the bytes of the prefix as prefixes.
//
// EVEX is not accepted.
func decodeVEX(buf []byte, n int) (x86asm.Inst, bool) {
	if buf[n] == evex {
		return x86asm.Inst{}, false
	}
	size := 2 // of the prefix
	if buf[n] == vex3 {
		size = 3
	}
	modrm := size + 1
	code := slices.Concat(buf[n:], make([]byte, n))
	inst, err := x86asm.Decode(code, 64)
	if err != nil || inst.Op == 0 {
		return inst, false
	}
	zero := inst.Op == x86asm.VZEROUPPER || inst.Op == x86asm.VZEROALL
	if (zero || inst.Args[0] != nil) && spareRegister(code, size, &inst) {
		return inst, false
	}
	if zero {
		inst.Len = modrm
	}
	w, segment, ok := addressing(buf[:n])
	if !ok {
		return inst, false
	}
	for i, a := range inst.Args {
		m, ok := a.(x86asm.Mem)
		if !ok {
			continue
		}
		m.Segment = segment
		if code[modrm]&0xc7 == 5 {
			m.Base = x86asm.RIP
			inst.PCRel, inst.PCRelOff = 4, n+modrm+1
		}
		if w == 32 {
			m.Base, m.Index = narrowReg(m.Base), narrowReg(m.Index)
		}
		inst.Args[i] = m
	}
	inst.Prefix = x86asm.Prefixes{}
	switch segment {
	case x86asm.FS:
		inst.Prefix[0] = x86asm.PrefixFS
	case x86asm.GS:
		inst.Prefix[0] = x86asm.PrefixGS
	}
	inst.Len, inst.AddrSize = inst.Len+n, w
	inst.DataSize = 32
	if size == 3 && code[2]&0x80 != 0 {
		inst.DataSize = 64
	}
	return inst, inst.Len <= maxInsnLen
}

// spareRegister reports whether the VEX prefix of code names a register that the instruction has no use for, which the processor refuses.
func spareRegister(code []byte, size int, inst *x86asm.Inst) bool {
	if code[size-1]&0x78 == 0x78 {
		return false
	}
	other := slices.Clone(code)
	other[size-1] |= 0x78
	none, err := x86asm.Decode(other, 64)
	return err == nil && none.Args == inst.Args
}

// addressing is what the legacy prefixes before a VEX prefix say of addresses: their width and segment. It is not ok where more than one segment is
// named: which of them counts differs between processors.
func addressing(prefixes []byte) (w int, segment x86asm.Reg, ok bool) {
	w = 64
	for _, b := range prefixes {
		switch b {
		case 0x67:
			w = 32
		case 0x64:
			segment = x86asm.FS
		case 0x65:
			segment = x86asm.GS
		default:
			if segment != 0 {
				return 0, 0, false
			}
		}
	}
	return w, segment, true
}

// narrowReg is the 32-bit register that an address of 32 bits has where the decoder says r.
func narrowReg(r x86asm.Reg) x86asm.Reg {
	switch {
	case r == x86asm.RIP:
		return x86asm.EIP
	case r >= x86asm.RAX && r <= x86asm.R15:
		return r - (x86asm.RAX - x86asm.EAX)
	}
	return r
}

// IsVEX reports whether in has a VEX prefix.
func (in *Inst) IsVEX() bool { return vexAt(in.Bytes) >= 0 }
