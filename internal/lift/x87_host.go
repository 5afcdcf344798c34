package lift

import (
	"encoding/binary"
	"unsafe"

	"golang.org/x/arch/x86/x86asm"

	"symchef/internal/softfp"
)

// The transcendental instructions run on the host's own unit: their last bits differ
// between vendors, so there is no one answer that software could give (SDM vol. 1, 8.3.10).

// hostOp selects the instruction that execX87 executes.
type hostOp uint64

// The instructions, as numbered in x87_host_amd64.s.
const (
	hostF2XM1 hostOp = iota
	hostFYL2X
	hostFYL2XP1
	hostFPTAN
	hostFPATAN
	hostFSIN
	hostFCOS
	hostFSINCOS
)

// execX87 loads the FXSAVE image at p (16-byte aligned), executes op and stores the image again.
//
//go:noescape
func execX87(op hostOp, p *byte)

// The fields of an FXSAVE image that matter here (SDM vol. 1, table 10-2), in bytes.
const (
	fxFCW   = 0
	fxFSW   = 2
	fxTag   = 4
	fxMXCSR = 24
	fxST    = 32
	fxSize  = 512
)

// onHost executes op on the host's unit with all exceptions masked; commit judges those that came.
func onHost(name string, op hostOp) lifter {
	return plain(name, func(f *fpu) {
		var space [fxSize + 15]byte
		p := space[-uintptr(unsafe.Pointer(&space[0]))&15:][:fxSize]
		le := binary.LittleEndian
		le.PutUint16(p[fxFCW:], uint16(f.fcw)|0x3f)
		le.PutUint16(p[fxFSW:], uint16(f.status()&^0x3f))
		p[fxTag] = byte(f.tag)
		le.PutUint32(p[fxMXCSR:], 0x1f80)
		for i := range 8 {
			v := f.raw[f.phys(i)]
			le.PutUint64(p[fxST+16*i:], v[0])
			le.PutUint16(p[fxST+16*i+8:], uint16(v[1]))
		}
		execX87(op, &p[0])
		old := f.fsw & 0x3f
		f.setStatus(uint64(le.Uint16(p[fxFSW:])))
		f.env.Flags |= softfp.Flags(f.fsw & 0x3f)
		f.fsw |= old
		f.tag = uint64(p[fxTag])
		for i := range 8 {
			f.raw[f.phys(i)] = [2]uint64{le.Uint64(p[fxST+16*i:]), uint64(le.Uint16(p[fxST+16*i+8:]))}
		}
	})
}

func init() {
	const note = x87Note + "; runs on the host's unit: the last bit depends on its vendor"
	register(map[x86asm.Op]row{
		x86asm.F2XM1:   {onHost("f2xm1", hostF2XM1), note},
		x86asm.FYL2X:   {onHost("fyl2x", hostFYL2X), note},
		x86asm.FYL2XP1: {onHost("fyl2xp1", hostFYL2XP1), note},
		x86asm.FPTAN:   {onHost("fptan", hostFPTAN), note},
		x86asm.FPATAN:  {onHost("fpatan", hostFPATAN), note},
		x86asm.FSIN:    {onHost("fsin", hostFSIN), note},
		x86asm.FCOS:    {onHost("fcos", hostFCOS), note},
		x86asm.FSINCOS: {onHost("fsincos", hostFSINCOS), note},
	})
}
