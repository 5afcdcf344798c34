package lift

import (
	"fmt"
	"slices"
	"strings"

	"golang.org/x/arch/x86/x86asm"

	"symchef/internal/ir"
)

// The table of instruction forms, docs/instructions.md: what stands in rows, with the flags and the
// manual's entries of this file. A form is a mnemonic and the kinds of its operands:
//
//	r8 r16 r32 r64   general register       m8 ... m128  memory of so many bits, m of no size
//	xmm st st(i)     SSE, x87 register      imm rel cl   immediate, relative target, the register cl
//	sreg             segment register
//
// Prefixes that change nothing (lock, segments, address size, hints) make no form; rep and repne do.

// Form is an instruction form that the lifter accepts.
type Form struct {
	Name   string // "add r32, m32"
	Op     x86asm.Op
	Manual string // entry of the SDM, vol. 2
	// Defined and Undefined are the flags that the instruction sets from its operands, and
	// those that it leaves undefined; When says in which case only, empty if always.
	Defined, Undefined uint64
	When               string
	Note               string // what is inexact; empty if nothing is
}

const (
	allFlags  = ir.FlagCF | ir.FlagPF | ir.FlagAF | ir.FlagZF | ir.FlagSF | ir.FlagOF
	flagDF    = 1 << 10
	someFlags = ir.FlagCF | ir.FlagPF | ir.FlagZF | ir.FlagSF | ir.FlagOF // all but AF
)

// flagRule is what a group of mnemonics does to the flags (SDM vol. 2, "Flags Affected").
type flagRule struct {
	ops                string
	defined, undefined uint64
	when               string
}

// flagRules has every mnemonic that touches a flag.
var flagRules = []flagRule{
	{ops: "ADD ADC SUB SBB CMP NEG XADD CMPXCHG", defined: allFlags},
	{ops: "SCASB SCASW SCASD SCASQ CMPSB CMPSW CMPSD CMPSQ", defined: allFlags},
	{ops: "AND OR XOR TEST", defined: someFlags, undefined: ir.FlagAF},
	{ops: "INC DEC", defined: allFlags &^ ir.FlagCF},
	{ops: "MUL IMUL", defined: ir.FlagCF | ir.FlagOF, undefined: allFlags &^ (ir.FlagCF | ir.FlagOF)},
	{ops: "DIV IDIV", undefined: allFlags},
	{ops: "SHL SHR", defined: someFlags, undefined: ir.FlagAF | ir.FlagOF | ir.FlagCF,
		when: "count 0 keeps all; OF is defined for count 1, CF below the operand's width"},
	{ops: "SAR", defined: someFlags, undefined: ir.FlagAF | ir.FlagOF, when: "count 0 keeps all; OF is defined for count 1"},
	{ops: "ROL ROR RCL RCR", defined: ir.FlagCF | ir.FlagOF, undefined: ir.FlagOF, when: "count 0 keeps all; OF is defined for count 1"},
	{ops: "SHLD SHRD", defined: someFlags, undefined: ir.FlagAF | ir.FlagOF,
		when: "count 0 keeps all; OF is defined for count 1; a count above the width leaves all undefined"},
	{ops: "BT BTS BTR BTC", defined: ir.FlagCF, undefined: ir.FlagOF | ir.FlagSF | ir.FlagAF | ir.FlagPF},
	{ops: "BSF BSR", defined: ir.FlagZF, undefined: allFlags &^ ir.FlagZF},
	{ops: "TZCNT LZCNT", defined: ir.FlagCF | ir.FlagZF, undefined: ir.FlagOF | ir.FlagSF | ir.FlagPF | ir.FlagAF},
	{ops: "ANDN BLSI BLSR BLSMSK BZHI", defined: ir.FlagOF | ir.FlagSF | ir.FlagZF | ir.FlagCF, undefined: ir.FlagAF | ir.FlagPF},
	{ops: "BEXTR", defined: ir.FlagOF | ir.FlagZF | ir.FlagCF, undefined: ir.FlagSF | ir.FlagAF | ir.FlagPF},
	{ops: "VPTEST VTESTPS VTESTPD VPCMPESTRI VPCMPESTRM VPCMPISTRI VPCMPISTRM VCOMISS VCOMISD VUCOMISS VUCOMISD", defined: allFlags},
	{ops: "PTEST PCMPESTRI PCMPESTRM PCMPISTRI PCMPISTRM POPCNT COMISS COMISD UCOMISS UCOMISD FCOMI FCOMIP FUCOMI FUCOMIP", defined: allFlags},
	{ops: "CMPXCHG8B CMPXCHG16B", defined: ir.FlagZF},
	{ops: "CLC STC CMC", defined: ir.FlagCF},
	{ops: "CLD STD", defined: flagDF},
	{ops: "SAHF", defined: allFlags &^ ir.FlagOF},
	{ops: "POPF POPFQ", defined: allFlags | flagDF},
}

// entries are the entries of the SDM that several mnemonics share. Any other mnemonic is its own.
var entries = map[string]string{
	"Jcc":                               "JO JNO JB JAE JE JNE JBE JA JS JNS JP JNP JL JGE JLE JG JECXZ JRCXZ",
	"SETcc":                             "SETO SETNO SETB SETAE SETE SETNE SETBE SETA SETS SETNS SETP SETNP SETL SETGE SETLE SETG",
	"CMOVcc":                            "CMOVO CMOVNO CMOVB CMOVAE CMOVE CMOVNE CMOVBE CMOVA CMOVS CMOVNS CMOVP CMOVNP CMOVL CMOVGE CMOVLE CMOVG",
	"FCMOVcc":                           "FCMOVB FCMOVNB FCMOVE FCMOVNE FCMOVBE FCMOVNBE FCMOVU FCMOVNU",
	"LOOP/LOOPcc":                       "LOOP LOOPE LOOPNE",
	"INT n/INTO/INT3/INT1":              "INT",
	"UD":                                "UD0 UD1 UD2",
	"SAL/SAR/SHL/SHR":                   "SHL SHR SAR",
	"RCL/RCR/ROL/ROR":                   "RCL RCR ROL ROR",
	"MOVSX/MOVSXD":                      "MOVSX MOVSXD",
	"CBW/CWDE/CDQE":                     "CBW CWDE CDQE",
	"CWD/CDQ/CQO":                       "CWD CDQ CQO",
	"CMPXCHG8B/CMPXCHG16B":              "CMPXCHG8B CMPXCHG16B",
	"PUSHF/PUSHFD/PUSHFQ":               "PUSHF PUSHFQ",
	"POPF/POPFD/POPFQ":                  "POPF POPFQ",
	"XLAT/XLATB":                        "XLATB",
	"MOVS":                              "MOVSB MOVSW MOVSD MOVSQ",
	"STOS":                              "STOSB STOSW STOSD STOSQ",
	"LODS":                              "LODSB LODSW LODSD LODSQ",
	"SCAS":                              "SCASB SCASW SCASD SCASQ",
	"CMPS":                              "CMPSB CMPSW CMPSD CMPSQ",
	"INS":                               "INSB INSW INSD",
	"OUTS":                              "OUTSB OUTSW OUTSD",
	"PREFETCHh":                         "PREFETCHNTA PREFETCHT0 PREFETCHT1 PREFETCHT2",
	"MOVD/MOVQ":                         "MOVD MOVQ",
	"SARX/SHLX/SHRX":                    "SARX SHLX SHRX",
	"MOVSD":                             "MOVSD_XMM",
	"CMPSD":                             "CMPSD_XMM",
	"PADDB/PADDW/PADDD/PADDQ":           "PADDB PADDW PADDD PADDQ",
	"PADDSB/PADDSW":                     "PADDSB PADDSW",
	"PADDUSB/PADDUSW":                   "PADDUSB PADDUSW",
	"PSUBB/PSUBW/PSUBD":                 "PSUBB PSUBW PSUBD",
	"PSUBSB/PSUBSW":                     "PSUBSB PSUBSW",
	"PSUBUSB/PSUBUSW":                   "PSUBUSB PSUBUSW",
	"PAVGB/PAVGW":                       "PAVGB PAVGW",
	"PMINUB/PMINUW":                     "PMINUB PMINUW",
	"PMINUD/PMINUQ":                     "PMINUD",
	"PMAXUB/PMAXUW":                     "PMAXUB PMAXUW",
	"PMAXUD/PMAXUQ":                     "PMAXUD",
	"PMINSB/PMINSW":                     "PMINSB PMINSW",
	"PMINSD/PMINSQ":                     "PMINSD",
	"PMAXSB/PMAXSW/PMAXSD/PMAXSQ":       "PMAXSB PMAXSW PMAXSD",
	"PMULLD/PMULLQ":                     "PMULLD",
	"PABSB/PABSW/PABSD/PABSQ":           "PABSB PABSW PABSD",
	"PSIGNB/PSIGNW/PSIGND":              "PSIGNB PSIGNW PSIGND",
	"PHADDW/PHADDD":                     "PHADDW PHADDD",
	"PHSUBW/PHSUBD":                     "PHSUBW PHSUBD",
	"PMOVSX":                            "PMOVSXBW PMOVSXBD PMOVSXBQ PMOVSXWD PMOVSXWQ PMOVSXDQ",
	"PMOVZX":                            "PMOVZXBW PMOVZXBD PMOVZXBQ PMOVZXWD PMOVZXWQ PMOVZXDQ",
	"PEXTRB/PEXTRD/PEXTRQ":              "PEXTRB PEXTRD PEXTRQ",
	"PINSRB/PINSRD/PINSRQ":              "PINSRB PINSRD PINSRQ",
	"PCMPEQB/PCMPEQW/PCMPEQD":           "PCMPEQB PCMPEQW PCMPEQD",
	"PCMPGTB/PCMPGTW/PCMPGTD":           "PCMPGTB PCMPGTW PCMPGTD",
	"PSLLW/PSLLD/PSLLQ":                 "PSLLW PSLLD PSLLQ",
	"PSRLW/PSRLD/PSRLQ":                 "PSRLW PSRLD PSRLQ",
	"PSRAW/PSRAD/PSRAQ":                 "PSRAW PSRAD",
	"PACKSSWB/PACKSSDW":                 "PACKSSWB PACKSSDW",
	"PUNPCKLBW/PUNPCKLWD/PUNPCKLDQ/...": "PUNPCKLBW PUNPCKLWD PUNPCKLDQ PUNPCKLQDQ",
	"PUNPCKHBW/PUNPCKHWD/PUNPCKHDQ/...": "PUNPCKHBW PUNPCKHWD PUNPCKHDQ PUNPCKHQDQ",
	"FADD/FADDP/FIADD":                  "FADD FADDP FIADD",
	"FSUB/FSUBP/FISUB":                  "FSUB FSUBP FISUB",
	"FSUBR/FSUBRP/FISUBR":               "FSUBR FSUBRP FISUBR",
	"FMUL/FMULP/FIMUL":                  "FMUL FMULP FIMUL",
	"FDIV/FDIVP/FIDIV":                  "FDIV FDIVP FIDIV",
	"FDIVR/FDIVRP/FIDIVR":               "FDIVR FDIVRP FIDIVR",
	"FCOM/FCOMP/FCOMPP":                 "FCOM FCOMP FCOMPP",
	"FUCOM/FUCOMP/FUCOMPP":              "FUCOM FUCOMP FUCOMPP",
	"FCOMI/FCOMIP/FUCOMI/FUCOMIP":       "FCOMI FCOMIP FUCOMI FUCOMIP",
	"FICOM/FICOMP":                      "FICOM FICOMP",
	"FST/FSTP":                          "FST FSTP",
	"FIST/FISTP":                        "FIST FISTP",
	"FLD1/FLDL2T/FLDL2E/FLDPI/...":      "FLD1 FLDL2T FLDL2E FLDPI FLDLG2 FLDLN2 FLDZ",
	"FSTSW/FNSTSW":                      "FNSTSW",
	"FSTCW/FNSTCW":                      "FNSTCW",
	"FSTENV/FNSTENV":                    "FNSTENV",
	"FCLEX/FNCLEX":                      "FNCLEX",
	"FINIT/FNINIT":                      "FNINIT",
	"FXSAVE":                            "FXSAVE FXSAVE64",
	"FXRSTOR":                           "FXRSTOR FXRSTOR64",
	"WAIT/FWAIT":                        "FWAIT",
	"FFREE":                             "FFREE FFREEP",
}

// The two tables by mnemonic.
var (
	entryOf = map[string]string{}
	rulesOf = map[string]flagRule{}
)

// sseOf are the instructions by name, to find what one of AVX is described with.
var sseOf = map[string]x86asm.Op{}

func init() {
	for op := x86asm.Op(1); op < x86asm.ANDN; op++ {
		sseOf[strings.TrimSuffix(op.String(), "_XMM")] = op
	}
	for entry, ops := range entries {
		for _, op := range strings.Fields(ops) {
			entryOf[op] = entry
		}
	}
	for _, r := range flagRules {
		for _, op := range strings.Fields(r.ops) {
			rulesOf[op] = r
		}
	}
}

// manual returns the entry of the SDM for op: volume 2A has A to L, 2B M to U, 2C V, 2D W to Z.
func manual(op x86asm.Op) string {
	e := entryOf[op.String()]
	if sse, ok := sseOf[strings.TrimPrefix(op.String(), "V")]; ok && e == "" && op.String()[0] == 'V' { // described there
		return manual(sse)
	}
	if e == "" {
		e = op.String()
	}
	vol := "2D"
	switch c := e[0]; {
	case c <= 'L':
		vol = "2A"
	case c <= 'U':
		vol = "2B"
	case c == 'V':
		vol = "2C"
	}
	return vol + ", " + e
}

// Accept decodes the instruction at pc from code and returns it and its form; ok is false if the lifter does not accept it.
func Accept(pc uint64, code []byte) (in *Inst, f Form, ok bool) {
	in, err := decode(pc, code)
	if err != nil {
		return in, Form{}, false
	}
	r, known := rows[in.Op]
	if !known {
		return in, Form{}, false
	}
	b := &builder{blk: &ir.Block{PC: pc}, in: in, temp: ir.Temp0}
	if r.lift(b, in) != nil {
		return in, Form{}, false
	}
	rule, note := rulesOf[in.Op.String()], r.note
	if !slices.ContainsFunc(in.Args[:], func(a x86asm.Arg) bool { _, mem := a.(x86asm.Mem); return mem }) {
		note = strings.TrimSuffix(strings.TrimSuffix(note, noAlign), "; ")
	}
	return in, Form{Name: formName(in), Op: in.Op, Manual: manual(in.Op), Defined: rule.defined, Undefined: rule.undefined, When: rule.when, Note: note}, true
}

// formName names the form of in.
func formName(in *Inst) string {
	name := strings.TrimSuffix(strings.ToLower(in.Op.String()), "_xmm")
	if in.Op == x86asm.UD2 { // also what lock makes of instructions that it may not precede
		return name
	}
	if isRep(in) {
		if name = "rep " + name; repPrefix(in) == 0xf2 {
			name = strings.Replace(name, "rep", "repne", 1)
		}
	}
	var kinds []string
	sized := false
	for i, a := range in.Args {
		if a == nil {
			break
		}
		k := operandKind(in, i)
		sized = sized || k[0] == 'r' || k[0] == 'm'
		kinds = append(kinds, k)
	}
	if in.Op == x86asm.PUSH && !sized && in.DataSize == 16 { // nothing else tells
		name += "w"
	}
	return strings.TrimSpace(name + " " + strings.Join(kinds, ", "))
}

// counted are the instructions whose last operand may be the register cl.
var counted = []x86asm.Op{x86asm.SHL, x86asm.SHR, x86asm.SAR, x86asm.ROL, x86asm.ROR, x86asm.RCL, x86asm.RCR, x86asm.SHLD, x86asm.SHRD}

// operandKind names the kind of operand i.
func operandKind(in *Inst, i int) string {
	switch a := in.Args[i].(type) {
	case x86asm.Imm:
		return "imm"
	case x86asm.Rel:
		return "rel"
	case x86asm.Mem:
		w := 8 * in.MemBytes
		switch {
		case stringWidth[in.Op] != 0:
			w = stringWidth[in.Op]
		case w == 0 && (in.Op == x86asm.FLD || in.Op == x86asm.FSTP):
			w = 80
		case w == 0:
			return "m"
		}
		return fmt.Sprintf("m%d", w)
	case x86asm.Reg:
		switch g, isGPR := gpr(a); {
		case a == x86asm.CL && i > 0 && slices.Contains(counted, in.Op):
			return "cl"
		case isGPR:
			return fmt.Sprintf("r%d", g.w)
		case a == x86asm.F0:
			return "st"
		case a > x86asm.F0 && a <= x86asm.F7:
			return "st(i)"
		case a >= x86asm.X0 && a <= x86asm.X15:
			return "xmm"
		case a >= x86asm.Y0 && a <= x86asm.Y15:
			return "ymm"
		case a >= x86asm.ES && a <= x86asm.GS:
			return "sreg"
		}
	}
	return "other"
}
