#include "textflag.h"

// func enter(code uintptr, ctx *Context)
//
// Registers of compiled code: BX the slots (Context.Regs) plus 128, R14 Context.Left, R15 the Context.
TEXT ·enter(SB), NOSPLIT, $16-16
	MOVQ code+0(FP), AX
	MOVQ ctx+8(FP), R15
	MOVQ 0(R15), BX
	ADDQ $128, BX
	MOVQ 8(R15), R14
	CALL AX
	MOVQ R14, 8(R15)
	RET
