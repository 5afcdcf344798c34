package lift

import (
	"golang.org/x/arch/x86/x86asm"
)

// decode decodes the instruction at pc from code, which may be short. It mends what x86asm gets wrong:
//
//   - a truncated instruction comes back as an error or as a lone prefix: decode pads it and looks at the length;
//   - the hint NOPs 0F 18 to 0F 1E are unknown to it where they are not prefetches: endbr64, rdsspq among them;
//   - disp32 is zero-extended;
//   - it looks over prefixes that make another instruction, or an invalid one (see misread);
//   - VEX: see decodeVEX.
func decode(pc uint64, code []byte) (*Inst, error) {
	if len(code) == 0 {
		return nil, ErrFault
	}
	n := len(code)
	inst, known := decodePadded(code, 0)
	if known && inst.Len > n {
		return nil, ErrFault
	}
	if !known && n < maxInsnLen { // unknown, or a ModRM byte is missing and 0 is none of its values
		for _, pad := range []byte{0xc0, 0xff} {
			if long, ok := decodePadded(code, pad); ok && long.Len > n {
				return nil, ErrFault
			}
		}
	}
	in := &Inst{Inst: inst, PC: pc, Bytes: code[:min(max(inst.Len, 1), n)]}
	if !known {
		in.Bytes = code
		return in, unsupported(in)
	}
	if misread(&inst) {
		return in, unsupported(in)
	}
	moffs := inst.Op == x86asm.MOV && inst.Opcode>>24&^3 == 0xa0
	for i, a := range in.Args {
		if m, ok := a.(x86asm.Mem); ok && !moffs {
			m.Disp = int64(int32(m.Disp))
			in.Args[i] = m
		}
	}
	for _, p := range in.Prefix {
		if p == 0 {
			break
		}
		if p&x86asm.PrefixInvalid != 0 { // lock where it is not allowed
			in.Op = x86asm.UD2
		}
	}
	return in, nil
}

// misread reports whether the prefixes 66, F2, F3 and REX give the instruction another meaning than
// x86asm says, or one that differs between vendors.
func misread(inst *x86asm.Inst) bool {
	var data16, rep, rexW, rexB bool
	for _, p := range inst.Prefix {
		switch b := byte(p); {
		case p.IsREX():
			rexW, rexB = p&x86asm.PrefixREXW != 0, p&x86asm.PrefixREXB != 0
		case b == 0x66:
			data16 = true
		case b == 0xf2 || b == 0xf3:
			rep = true
		}
	}
	switch inst.Op {
	case x86asm.EMMS, x86asm.CLFLUSH, x86asm.FXSAVE, x86asm.FXSAVE64, x86asm.FXRSTOR, x86asm.FXRSTOR64, x86asm.LDMXCSR, x86asm.STMXCSR,
		x86asm.XSAVE, x86asm.XSAVE64, x86asm.XRSTOR, x86asm.XRSTOR64, x86asm.XGETBV, x86asm.MOVNTI, x86asm.MFENCE, x86asm.LFENCE, x86asm.SFENCE:
		return data16 || rep // clflushopt, incssp and the like, or undefined
	case x86asm.MOVBE:
		return rep // CRC32, or undefined
	case x86asm.PAUSE:
		return rexB // xchg r8, rax
	case x86asm.LOOPE, x86asm.LOOPNE:
		return rep || data16 && !rexW // AMD lets the prefix choose the condition
	case x86asm.FLDENV, x86asm.FNSTENV:
		return data16 // the 14-byte format
	case x86asm.CALL, x86asm.JMP, x86asm.RET:
		return data16 && !rexW // AMD cuts RIP to 16 bits, Intel ignores the prefix
	}
	_, branch := inst.Args[0].(x86asm.Rel)
	return branch && data16 && !rexW // as well
}

// decodePadded decodes code, which pad bytes fill up to the longest instruction.
func decodePadded(code []byte, pad byte) (x86asm.Inst, bool) {
	var buf [maxInsnLen]byte
	for i := copy(buf[:], code); i < maxInsnLen; i++ {
		buf[i] = pad
	}
	if i := vexAt(buf[:]); i >= 0 {
		return decodeVEX(buf[:], i)
	}
	inst, err := x86asm.Decode(buf[:], 64)
	if err != nil || inst.Op == 0 {
		if i := hintOpcode(buf[:]); i >= 0 {
			buf[i], buf[i+1] = 0x1f, buf[i+1]&^0x38 // the NOP of the same length
			if i > 1 && buf[i-2]&0xf0 == 0x40 {
				buf[i-2] &^= 8 // which it does not know with REX.W
			}
			inst, err = x86asm.Decode(buf[:], 64)
		}
	}
	return inst, err == nil && inst.Op != 0
}

// hintOpcode returns the index of the second opcode byte of a hint NOP (SDM vol. 2, appendix A: 0F 18 to 0F 1F), or -1.
func hintOpcode(code []byte) int {
	i := 0
	for ; i < len(code); i++ {
		switch b := code[i]; {
		case b == 0x66 || b == 0x67 || b == 0xf2 || b == 0xf3 || b == 0x2e || b == 0x36 || b == 0x3e || b == 0x26 || b == 0x64 || b == 0x65:
			continue
		case b&0xf0 == 0x40:
			i++
		}
		break
	}
	if i+2 < len(code) && code[i] == 0x0f && code[i+1] >= 0x18 && code[i+1] <= 0x1f {
		return i + 1
	}
	return -1
}
