package cpu

import (
	"encoding/binary"

	"symchef/internal/ir"
)

// FXSize is the size of an FXSAVE image in bytes. With AVX, XSAVE puts behind it which parts are there, from XParts on, and the upper halves of the
// vector registers, from XUpper on; the size is XSize then (SDM vol. 1, 13.4).
const (
	FXSize = 512
	XParts = 512
	XUpper = 576
	XSize  = 832
)

// XAll are the parts of a processor with AVX: x87, SSE, AVX.
const XAll = 7

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

// XSave lays the state out as XSAVE does, with all parts.
func (c *CPU) XSave() []byte {
	b := append(c.FXSave(), make([]byte, XSize-FXSize)...)
	binary.LittleEndian.PutUint64(b[XParts:], XAll)
	for i := range 32 {
		binary.LittleEndian.PutUint64(b[XUpper+8*i:], c.R[int(ir.Y0)+i])
	}
	return b
}

// initial is an area with the state of a program's start.
var initial = func() []byte {
	var c CPU
	c.R[ir.FCW], c.R[ir.MXCSR] = 0x37f, 0x1f80
	return c.XSave()
}()

// XArea completes an area of XSAVE, whose parts that are missing become those of a program's start; with b no longer than FXSize, AVX is missing.
func XArea(b []byte) []byte {
	out := append([]byte(nil), initial...)
	parts := uint64(3)
	if len(b) > FXSize {
		parts = binary.LittleEndian.Uint64(b[XParts:])
	}
	if parts&1 != 0 {
		copy(out[:24], b)
		copy(out[32:160], b[32:])
	}
	if parts&6 != 0 {
		copy(out[24:32], b[24:])
	}
	if parts&2 != 0 {
		copy(out[160:416], b[160:])
	}
	if parts&4 != 0 {
		copy(out[XUpper:], b[XUpper:])
	}
	return out
}

// XRestore loads what XSave laid out.
func (c *CPU) XRestore(b []byte) {
	b = XArea(b)
	c.FXRestore(b)
	for i := range 32 {
		c.Set(ir.Y0+ir.Slot(i), binary.LittleEndian.Uint64(b[XUpper+8*i:]))
	}
}
