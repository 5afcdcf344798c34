#include "textflag.h"

// func execX87(op hostOp, p *byte)
TEXT ·execX87(SB), NOSPLIT, $0-16
	MOVQ op+0(FP), AX
	MOVQ p+8(FP), SI
	FXRSTOR64 (SI)
	CMPQ AX, $0
	JEQ  f2xm1
	CMPQ AX, $1
	JEQ  fyl2x
	CMPQ AX, $2
	JEQ  fyl2xp1
	CMPQ AX, $3
	JEQ  fptan
	CMPQ AX, $4
	JEQ  fpatan
	CMPQ AX, $5
	JEQ  fsin
	CMPQ AX, $6
	JEQ  fcos
	FSINCOS
	JMP  done
f2xm1:
	F2XM1
	JMP  done
fyl2x:
	FYL2X
	JMP  done
fyl2xp1:
	FYL2XP1
	JMP  done
fptan:
	FPTAN
	JMP  done
fpatan:
	FPATAN
	JMP  done
fsin:
	FSIN
	JMP  done
fcos:
	FCOS
done:
	FXSAVE64 (SI)
	FINIT // leave the stack empty, as the ABI has it
	RET
