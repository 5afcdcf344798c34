package lift

import (
	"golang.org/x/arch/x86/x86asm"
)

// decode decodes the instruction at pc from code, which may be short. It mends what x86asm gets wrong.
func decode(pc uint64, code []byte) (*Inst, error) {
	if len(code) == 0 {
		return nil, ErrFault
	}
	inst, err := x86asm.Decode(code, 64)
	in := &Inst{Inst: inst, PC: pc, Bytes: code[:max(inst.Len, 1)]}
	if err == x86asm.ErrTruncated && len(code) < maxInsnLen {
		return nil, ErrFault
	}
	if err != nil || inst.Op == 0 {
		in.Bytes = code
		return in, unsupported(in)
	}
	return in, nil
}
