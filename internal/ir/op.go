package ir

// The pure ops. Their meaning is in the rows of sem_int.go and sem_vec.go, sem_float.go.
const (
	Mov Op = iota // D = B+Imm
	Lea           // D = A + B<<Scale + Imm
	Sx            // D = sign-extend A from W bits to X bits (Param)
	Add
	Sub
	And
	Or
	Xor
	Mul
	MulHU
	MulHS
	UDiv
	URem
	SDiv
	SRem
	Shl // count B+Imm unmasked: at W or above the result is 0 (AShr: the sign)
	LShr
	AShr
	Rol // count modulo W
	Ror
	Not // ^A
	Neg // -A
	Eq  // 0 or 1
	Ult
	Slt
	Ite // A != 0 ? B : C, all 64 bits of B and C; A is tested at width W
	Get // D = bits [Imm, Imm+W) of A (Param)
	Put // D = B with bits [Imm, Imm+W) replaced by the low W bits of A (Param)
	Ctz // number of trailing zeros of A, W if A is 0
	Clz // number of leading zeros of A, W if A is 0
	Popcnt
	Bswap // bytes of A in reverse
	Crc32 // the CRC-32C of the low 32 bits of A, continued with the low W bits of B; no inversion before or after
	Pext  // the bits of A where B has ones, side by side from bit 0 on
	Pdep  // the lowest bits of A where B has ones, 0 elsewhere
	// FirstVec: lane and float ops are numbered from here by their own files.
	FirstVec
)

// The ops with effects.
const (
	Load  Op = 200 + iota // D = W bits at A + B<<Scale + Imm, zero-extended
	Store                 // W bits at A + B<<Scale + Imm = C
	// SetCC makes the lazy flags CCOp=Imm (a CC), CCA=A, CCB=B, CCC=C.
	SetCC
	// SetCCIf does so if the low W bits of D (read, not written) are not 0, and otherwise leaves the flags.
	SetCCIf
	Cond     // D = 0 or 1: condition Imm (x86 encoding 0..15) of the lazy flags
	GetFlags // D = the arithmetic flags as their RFLAGS bits
	Helper   // calls Helpers[Imm] (its operands as the helper says)
	TrapIf   // if the low W bits of A are not 0: trap Imm, at this instruction
	// SkipIf leaves the block for Next, the instruction done, if the low W bits of A are not 0: a
	// repeated string instruction whose count is 0.
	SkipIf
	Jmp     // to Taken
	Jcc     // to Taken if condition Imm holds, else to Next
	Brnz    // to Taken if the low W bits of A are not 0, else to Next
	JmpInd  // to A
	Syscall // system call, resumes at Next
	Trap    // trap Imm at this instruction
	Unsup   // an instruction that is not supported: ends the path
)

// IsTerm reports whether op ends a block.
func (o Op) IsTerm() bool { return o >= Jmp }

// TrapKind is what a Trap raises.
type TrapKind uint64

// The traps and the signals they become on Linux.
const (
	TrapUD TrapKind = iota // SIGILL
	TrapDE                 // SIGFPE: division error
	TrapBP                 // SIGTRAP
	TrapGP                 // SIGSEGV: privileged or general protection (hlt, in, out ...)
)

// String returns the trap's name.
func (k TrapKind) String() string {
	return [...]string{"invalid opcode", "division error", "breakpoint", "general protection"}[k]
}

var (
	rows    [256]Row
	opNames = map[Op]string{Load: "load", Store: "store", SetCC: "setcc", SetCCIf: "setccif", Cond: "cond", GetFlags: "getflags", Helper: "helper", TrapIf: "trapif", SkipIf: "skipif", Jmp: "jmp", Jcc: "jcc", Brnz: "brnz", JmpInd: "jmpind", Syscall: "syscall", Trap: "trap", Unsup: "unsup"}
)

// RowOf returns the row of a pure op, or nil.
func RowOf(o Op) *Row {
	if rows[o].Eval == nil {
		return nil
	}
	return &rows[o]
}

func define(o Op, r Row) {
	if rows[o].Eval != nil || r.Eval == nil || r.Sym == nil {
		panic("ir: op defined twice or by half: " + r.Name)
	}
	rows[o] = r
	opNames[o] = r.Name
}

// String returns the op's name.
func (o Op) String() string { return opNames[o] }

// Uses calls f for every slot that u reads.
func (u *Uop) Uses(f func(Slot)) {
	cc := func() { f(CCOp); f(CCA); f(CCB); f(CCC) }
	switch u.Op {
	case Load:
		f(u.A)
		f(u.B)
	case Store, SetCC:
		f(u.A)
		f(u.B)
		f(u.C)
	case SetCCIf:
		f(u.D)
		f(u.A)
		f(u.B)
		f(u.C)
		cc()
	case Cond, GetFlags, Jcc:
		cc()
	case Helper:
		Helpers[u.Imm].Slots(u, f, func(Slot) {})
	case TrapIf, SkipIf, Brnz, JmpInd:
		f(u.A)
	case Jmp, Trap, Unsup:
	case Syscall:
		for s := RAX; s <= R15; s++ {
			f(s)
		}
	default:
		r := &rows[u.Op]
		if u.Op == Mov {
			f(u.B)
			return
		}
		f(u.A)
		if r.Args > 1 {
			f(u.B)
		}
		if r.Args > 2 {
			f(u.C)
		}
	}
}

// Defs calls f for every slot that u writes.
func (u *Uop) Defs(f func(Slot)) {
	switch u.Op {
	case SetCC, SetCCIf:
		f(CCOp)
		f(CCA)
		f(CCB)
		f(CCC)
	case Helper:
		Helpers[u.Imm].Slots(u, func(Slot) {}, f)
	case Syscall:
		f(RAX)
		f(RCX)
		f(R11)
	case Store, TrapIf, SkipIf, Jmp, Jcc, Brnz, JmpInd, Trap, Unsup:
	default:
		f(u.D)
	}
}
