package cpu

import (
	"encoding/binary"

	"symchef/internal/ir"
)

// FXSize is the size of an FXSAVE image in bytes.
const FXSize = 512

// FlagsFixed are the bits of RFLAGS that a process always sees set: bit 1 and IF.
const FlagsFixed = 0x202

// topMask are the bits of the x87 status word that FTop stands for.
const topMask = 7 << 11

// RFLAGS returns the flags as PUSHFQ stores them, under the current assignment.
func (c *CPU) RFLAGS() uint64 {
	r := &c.R
	return FlagsFixed | ir.Flags(ir.CC(r[ir.CCOp]), r[ir.CCA], r[ir.CCB], r[ir.CCC]) | r[ir.DF]&1<<10
}

// SetRFLAGS makes the flags concrete.
func (c *CPU) SetRFLAGS(v uint64) {
	c.Set(ir.CCOp, uint64(ir.MakeCC(ir.CCFlags, 64)))
	c.Set(ir.CCA, v&(ir.FlagCF|ir.FlagPF|ir.FlagAF|ir.FlagZF|ir.FlagSF|ir.FlagOF))
	c.Set(ir.CCB, 0)
	c.Set(ir.CCC, 0)
	c.Set(ir.DF, v>>10&1)
}

// FXSave lays the floating-point state out as FXSAVE does (SDM vol. 1, 10.5.1), under the current assignment.
func (c *CPU) FXSave() []byte {
	b, r := make([]byte, FXSize), &c.R
	le := binary.LittleEndian
	le.PutUint16(b, uint16(r[ir.FCW]))
	le.PutUint16(b[2:], uint16(r[ir.FSW]&^topMask|r[ir.FTop]&7<<11))
	b[4] = byte(r[ir.FTag])
	le.PutUint32(b[24:], uint32(r[ir.MXCSR]))
	le.PutUint32(b[28:], 0xffff)
	for i := range 8 {
		phys := (int(r[ir.FTop]) + i) & 7
		le.PutUint64(b[32+16*i:], r[int(ir.FPR)+2*phys])
		le.PutUint16(b[40+16*i:], uint16(r[int(ir.FPR)+2*phys+1]))
	}
	for i := range 32 {
		le.PutUint64(b[160+8*i:], r[int(ir.X0)+i])
	}
	return b
}

// FXRestore loads what FXSave laid out.
func (c *CPU) FXRestore(b []byte) {
	le := binary.LittleEndian
	c.Set(ir.FCW, uint64(le.Uint16(b)))
	fsw := uint64(le.Uint16(b[2:]))
	top := int(fsw >> 11 & 7)
	c.Set(ir.FSW, fsw&^topMask)
	c.Set(ir.FTop, uint64(top))
	c.Set(ir.FTag, uint64(b[4]))
	c.Set(ir.MXCSR, uint64(le.Uint32(b[24:])&0xffff))
	for i := range 8 {
		phys := (top + i) & 7
		c.Set(ir.FPR+ir.Slot(2*phys), le.Uint64(b[32+16*i:]))
		c.Set(ir.FPR+ir.Slot(2*phys+1), uint64(le.Uint16(b[40+16*i:])))
	}
	for i := range 32 {
		c.Set(ir.X0+ir.Slot(i), le.Uint64(b[160+8*i:]))
	}
}
