package ir

import (
	"fmt"
	"strings"
)

// String is the block as text, an instruction's address before its micro-ops.
//
//	0x401000:
//	  ult.64     t0 = rax, rbx
//	  brnz.1     t0 -> 0x401020, else 0x401008
func (b *Block) String() string {
	var s strings.Builder
	next := 0
	for i := range b.Uops {
		for next < len(b.Insns) && int(b.Insns[next].Uop) <= i {
			fmt.Fprintf(&s, "%#x:\n", b.PC+uint64(b.Insns[next].Off))
			next++
		}
		fmt.Fprintf(&s, "  %s\n", b.Uops[i].text(b))
	}
	return s.String()
}

// text is the micro-op, of block b.
func (u *Uop) text(b *Block) string {
	name := fmt.Sprintf("%s.%d", u.Op, u.W)
	if u.X != 0 {
		name += fmt.Sprintf(".%d", u.X)
	}
	args := func(list string) string { return strings.TrimRight(fmt.Sprintf("%-12s %s", name, list), " ") }
	plus := ""
	if u.Imm != 0 {
		plus = fmt.Sprintf(" + %#x", u.Imm)
	}
	address := SlotName(u.A)
	if u.B != Zero {
		address += fmt.Sprintf(" + %s<<%d", SlotName(u.B), u.Scale)
	}
	address = "[" + address + plus + "]"
	switch u.Op {
	case Load:
		return args(SlotName(u.D) + " = " + address)
	case Store:
		return args(address + " = " + SlotName(u.C))
	case SetCC:
		return args(fmt.Sprintf("flags %d of %s, %s, %s", u.Imm, SlotName(u.A), SlotName(u.B), SlotName(u.C)))
	case SetCCIf:
		return args(fmt.Sprintf("if %s: flags %d of %s, %s, %s", SlotName(u.D), u.Imm, SlotName(u.A), SlotName(u.B), SlotName(u.C)))
	case Cond:
		return args(fmt.Sprintf("%s = condition %d", SlotName(u.D), u.Imm))
	case GetFlags:
		return args(SlotName(u.D))
	case Helper:
		return args(fmt.Sprintf("%s = %s(%s, %s, %s)", SlotName(u.D), Helpers[u.Imm].Name, SlotName(u.A), SlotName(u.B), SlotName(u.C)))
	case TrapIf:
		return args(fmt.Sprintf("%s: %s", SlotName(u.A), TrapKind(u.Imm)))
	case Trap:
		return args(TrapKind(u.Imm).String())
	case SkipIf:
		return args(fmt.Sprintf("%s -> %#x", SlotName(u.A), b.Next))
	case Jmp:
		return args(fmt.Sprintf("-> %#x", b.Taken))
	case Jcc:
		return args(fmt.Sprintf("condition %d -> %#x, else %#x", u.Imm, b.Taken, b.Next))
	case Brnz:
		return args(fmt.Sprintf("%s -> %#x, else %#x", SlotName(u.A), b.Taken, b.Next))
	case JmpInd:
		return args("-> " + SlotName(u.A))
	case Syscall, Unsup:
		return args("")
	}
	row := RowOf(u.Op)
	if u.Op == Mov {
		return args(SlotName(u.D) + " = " + SlotName(u.B) + plus)
	}
	list := []string{SlotName(u.A), SlotName(u.B), SlotName(u.C)}[:row.Args]
	text := SlotName(u.D) + " = " + strings.Join(list, ", ")
	if u.Scale != 0 {
		text += fmt.Sprintf("<<%d", u.Scale)
	}
	if row.Param {
		return args(text + fmt.Sprintf(" # %#x", u.Imm))
	}
	return args(text + plus)
}

// SlotName is the slot as people write it: rax, xmm3.1 (the high quadword), ymm3.2 (the first above it), t5.
func SlotName(s Slot) string {
	switch {
	case s <= R15:
		return [...]string{"rax", "rcx", "rdx", "rbx", "rsp", "rbp", "rsi", "rdi", "r8", "r9", "r10", "r11", "r12", "r13", "r14", "r15"}[s]
	case s >= X0 && s < FPR:
		return fmt.Sprintf("xmm%d.%d", (s-X0)/2, (s-X0)%2)
	case s >= Y0 && s < NumState:
		return fmt.Sprintf("ymm%d.%d", (s-Y0)/2, 2+(s-Y0)%2)
	case s >= Y0 && s < NumState:
		return fmt.Sprintf("ymm%d.%d", (s-Y0)/2, 2+(s-Y0)%2)
	case s >= FPR && s < FTop:
		return fmt.Sprintf("fpr%d.%d", (s-FPR)/2, (s-FPR)%2)
	case s >= Temp0:
		return fmt.Sprintf("t%d", s-Temp0)
	}
	if name, ok := slotNames[s]; ok {
		return name
	}
	return fmt.Sprintf("s%d", s)
}

var slotNames = map[Slot]string{FSBase: "fs", GSBase: "gs", CCOp: "ccop", CCA: "cca", CCB: "ccb", CCC: "ccc", DF: "df", MXCSR: "mxcsr", FTop: "ftop", FCW: "fcw", FSW: "fsw", FTag: "ftag", Zero: "0"}
