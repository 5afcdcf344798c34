package probe

import (
	"symchef/internal/ir"
	"symchef/internal/mem"
)

// Memory is the process's.
func (p *Process) Memory() *mem.Space { return p.sys.CurrentProcess().Mem }

// Read is the number of n bytes at an address; 0 where nothing is mapped.
func (p *Process) Read(at uint64, n int) uint64 {
	v, err := p.Memory().ReadU(at, n)
	if err != nil {
		return 0
	}
	return v
}

// Write writes a number of n bytes.
func (p *Process) Write(at, v uint64, n int) error { return p.Memory().WriteU(at, v, n) }

// Bytes are n bytes at an address; nil where they are not mapped.
func (p *Process) Bytes(at uint64, n int) []byte {
	b := make([]byte, n)
	if p.Memory().Read(at, b) != nil {
		return nil
	}
	return b
}

// Put places bytes on the stack, for good, with a NUL behind them, and returns their address, a multiple of 16.
func (p *Process) Put(b []byte) uint64 {
	c := &p.sys.Current().CPU
	sp := (c.R[ir.RSP] - redZone - uint64(len(b)) - 1) &^ 15
	c.Set(ir.RSP, sp)
	if p.Memory().Write(sp, append(b[:len(b):len(b)], 0)) != nil {
		return 0
	}
	return sp
}
