// Package jit turns hot blocks of micro-ops into machine code of the host.
//
//	b.Compile(&jit.Source{Block: blk, ...})  // a Code, once a block is hot
//	b.Run(code, &ctx)                        // until something is due that Go code does
//
// Compiled code does what package exec's evaluator does on blocks that meet no symbolic slot, and nothing
// else: the same slots are written, the same instructions counted, and a block ends where the
// evaluator would end it. What it does not do itself (helpers, memory outside the translation caches, system calls) it
// leaves to the evaluator: it returns with the index of the micro-op, everything before it done.
//
// # Invariants
//
//   - Between micro-ops that may leave, every slot below ir.Temp0 is in memory: registers of the host only cache it.
//     Temporaries are written when code leaves.
//   - Compiled blocks jump to each other only while one text is current (Retext); the contents of memory that may be
//     executed do not change while compiled code runs, since the translation cache for writing has no such memory.
//   - Bytes that have expressions are left to the evaluator: of a granule with such bytes the expressions are looked at with every access.
//   - MXCSR has no special control bits (Plain); blocks that write it leave.
//   - Compiled code counts instructions down and leaves when none are left, at block boundaries.
//
// It runs on the goroutine's stack and needs eight bytes of it. The Go scheduler cannot preempt it: callers bound
// Context.Left.
package jit

import (
	"bytes"
	"encoding/binary"
	"runtime"
	"sync"
	"syscall"
	"unsafe"

	"symchef/internal/ir"
	"symchef/internal/mem"
)

// TLBSize is the number of entries of a translation cache, a power of two.
const TLBSize = 4096

// granMask is the low bits of an address: those within its granule.
const granMask = mem.GranuleSize - 1

// Translation caches where a granule's bytes are. Tag is the guest address of its last byte; the zero value is no translation.
type Translation struct {
	Tag  uint64
	Data *[mem.GranuleSize]byte
}

// TLB is a direct-mapped cache of translations, by granule number.
type TLB [TLBSize]Translation

// Find returns the bytes of the granule that holds all n bytes at addr, or nil.
func (t *TLB) Find(addr, n uint64) *[mem.GranuleSize]byte {
	if e := &t[addr>>mem.GranuleBits&(TLBSize-1)]; e.Tag == (addr+n-1)|granMask {
		return e.Data
	}
	return nil
}

// Set makes p the bytes of addr's granule.
func (t *TLB) Set(addr uint64, p *[mem.GranuleSize]byte) {
	t[addr>>mem.GranuleBits&(TLBSize-1)] = Translation{addr | granMask, p}
}

// Drop forgets addr's granule.
func (t *TLB) Drop(addr uint64) {
	if e := &t[addr>>mem.GranuleBits&(TLBSize-1)]; e.Tag == addr|granMask {
		*e = Translation{}
	}
}

// MixedSize is the number of entries of a cache of granules with symbolic bytes, a power of two.
const MixedSize = 256

// Mixed caches where a granule's bytes and their expressions are. A granule with symbolic bytes is in no TLB, and one without in no MixedTLB: when it
// becomes the other its translations are stale.
type Mixed struct {
	Tag  uint64
	Data *[mem.GranuleSize]byte
	Refs *mem.Refs
	_    uint64
}

// MixedTLB is a direct-mapped cache of such granules.
type MixedTLB [MixedSize]Mixed

// Find returns the granule that holds all n bytes at addr; nil if it is not there.
func (t *MixedTLB) Find(addr, n uint64) *Mixed {
	if e := &t[addr>>mem.GranuleBits&(MixedSize-1)]; e.Tag == (addr+n-1)|granMask {
		return e
	}
	return nil
}

// Set makes p and refs those of addr's granule.
func (t *MixedTLB) Set(addr uint64, p *[mem.GranuleSize]byte, refs *mem.Refs) {
	t[addr>>mem.GranuleBits&(MixedSize-1)] = Mixed{Tag: addr | granMask, Data: p, Refs: refs}
}

// Drop forgets addr's granule.
func (t *MixedTLB) Drop(addr uint64) {
	if e := &t[addr>>mem.GranuleBits&(MixedSize-1)]; e.Tag == addr|granMask {
		*e = Mixed{}
	}
}

// Concrete reports whether the n bytes at addr, which m holds, are.
func (m *Mixed) Concrete(addr, n uint64) bool {
	for _, r := range m.Refs[addr&granMask:][:n] {
		if r != 0 {
			return false
		}
	}
	return true
}

// Cache is the caches for reading, or those for writing.
type Cache struct {
	Whole TLB
	Mixed MixedTLB
}

// Set makes p and, if there are symbolic bytes, refs those of addr's granule.
func (c *Cache) Set(addr uint64, p *[mem.GranuleSize]byte, refs *mem.Refs) {
	if refs == nil {
		c.Whole.Set(addr, p)
	} else {
		c.Mixed.Set(addr, p, refs)
	}
}

// Drop forgets addr's granule.
func (c *Cache) Drop(addr uint64) {
	c.Whole.Drop(addr)
	c.Mixed.Drop(addr)
}

// Find returns the bytes of the granule that holds the n bytes at addr; nil if it is not cached or one of them is symbolic.
func (c *Cache) Find(addr, n uint64) *[mem.GranuleSize]byte {
	if p := c.Whole.Find(addr, n); p != nil {
		return p
	}
	if e := c.Mixed.Find(addr, n); e != nil && e.Concrete(addr, n) {
		return e.Data
	}
	return nil
}

// ToldSize is the number of entries of a cache of granules of which somebody is told, a power of two.
const ToldSize = 2048

// Free is the bytes of a granule that may be accessed without telling, a bit each from the lowest of the first byte on.
type Free [mem.GranuleSize/8 + 1]byte // 16 bits are read from any

// Has reports whether the n bytes at off are.
func (f *Free) Has(off, n uint64) bool {
	if n <= 8 {
		return ^(uint16(f[off>>3])|uint16(f[off>>3+1])<<8)>>(off&7)&(1<<n-1) == 0
	}
	for i := off; i < off+n; i++ {
		if !f.Has(i, 1) {
			return false
		}
	}
	return true
}

// Add adds the n bytes at off.
func (f *Free) Add(off, n uint64) {
	for ; n > 0; off, n = off+1, n-1 {
		f[off>>3] |= 1 << (off & 7)
	}
}

// Told caches where granules' bytes are that have no expressions, and which of them may be accessed without telling anybody.
type Told [ToldSize]struct {
	Tag  uint64 // as in Translation
	Data *[mem.GranuleSize]byte
	Free *Free
	_    uint64
}

// Set makes p the bytes of addr's granule, and free those that may be accessed.
func (t *Told) Set(addr uint64, p *[mem.GranuleSize]byte, free *Free) {
	e := &t[addr>>mem.GranuleBits&(ToldSize-1)]
	e.Tag, e.Data, e.Free = addr|granMask, p, free
}

// Free returns what may be accessed of addr's granule; nil if it is not cached.
func (t *Told) Free(addr uint64) *Free {
	if e := &t[addr>>mem.GranuleBits&(ToldSize-1)]; e.Tag == addr|granMask {
		return e.Free
	}
	return nil
}

// Keep forgets addr's granule if its bytes are not p.
func (t *Told) Keep(addr uint64, p *[mem.GranuleSize]byte) {
	if e := &t[addr>>mem.GranuleBits&(ToldSize-1)]; e.Tag == addr|granMask && e.Data != p {
		e.Tag, e.Data, e.Free = 0, nil, nil
	}
}

// Drop forgets addr's granule.
func (t *Told) Drop(addr uint64) {
	if e := &t[addr>>mem.GranuleBits&(ToldSize-1)]; e.Tag == addr|granMask {
		e.Tag, e.Data, e.Free = 0, nil, nil
	}
}

// ToldCache is two of them, for reading and for writing.
type ToldCache struct{ Read, Write Told }

// Tellers is how many kinds of code there are, each of which tells of its accesses by itself.
const Tellers = 2

const jumpTable = 1 << 13

// jump leads from an address to the code of its block.
type jump struct {
	pc   uint64
	code uintptr
}

// Context is what compiled code works on. It must not move: part of a heap object.
type Context struct {
	// Regs is the task's register file, Sym its symbolic slots; both belong to the caller.
	Regs *[ir.NumSlots]uint64
	// Left is how many instructions may still be retired; the last block may exceed it.
	Left int64
	Sym  ir.SlotSet
	// After Run: if Uop is not negative, block Block is to be continued at that micro-op. Else PC is the
	// address of the next block, and Site where the code came from (for Link), or 0.
	Uop       int64
	Block, PC uint64
	Site      uint64

	Read, Write Cache
	Told        *[Tellers]ToldCache // for code that tells, see Source.Teller
	jumps       [jumpTable]jump
}

// forget empties the table of jumps.
func (c *Context) forget() {
	clear(c.jumps[:])
	c.jumps[0].pc = 1 // address 0 belongs there and has no code
}

// Plain reports whether compiled code may run under MXCSR v.
func Plain(v uint64) bool { return v&(3<<13|1<<15|1<<6) == 0 }

// Code is a compiled block; the zero value is none.
type Code struct {
	entry uintptr
	epoch uint32
	ID    uint32 // what Context.Block says
	size  uint32 // bytes
}

// Buffer holds compiled code.
type Buffer struct {
	mem   []byte
	used  int
	epoch uint32
	ids   uint32
	sites []site
	live  []int // sites that are linked
	text  uint64
	ctx   *Context
	off   bool
}

// site is a jump to another block.
type site struct{ at, stub int }

const bufferSize = 64 << 20

// NewBuffer returns a buffer for code that works on ctx only. Its memory is reserved at the first Compile.
func NewBuffer(ctx *Context) *Buffer {
	ctx.forget()
	return &Buffer{ctx: ctx, epoch: 1}
}

// Valid reports whether c is code that has not been dropped.
func (b *Buffer) Valid(c Code) bool { return c.epoch == b.epoch }

// reserve maps the memory; false if the host allows no such memory.
func (b *Buffer) reserve() bool {
	if b.off || b.mem != nil {
		return !b.off
	}
	if b.mem = spare.take(); b.mem != nil {
		runtime.AddCleanup(b, spare.give, b.mem)
		return true
	}
	p, err := syscall.Mmap(-1, 0, bufferSize, syscall.PROT_READ|syscall.PROT_WRITE|syscall.PROT_EXEC,
		syscall.MAP_PRIVATE|syscall.MAP_ANON|syscall.MAP_NORESERVE)
	if err != nil {
		b.off = true
		return false
	}
	b.mem = p
	runtime.AddCleanup(b, spare.give, p)
	return true
}

// mostSpare is how much memory for code is kept for buffers to come: as much as two have used.
const mostSpare = 2

// spares is memory of buffers that are no more. What has held code stays mapped where it is: an address at which code stood is then never one of other pages.
type spares struct {
	mu   sync.Mutex
	list [][]byte
}

var spare spares

// take returns memory for a buffer, with code of another one; nil if there is none.
func (s *spares) take() []byte {
	s.mu.Lock()
	defer s.mu.Unlock()
	n := len(s.list)
	if n == 0 {
		return nil
	}
	p := s.list[n-1]
	s.list = s.list[:n-1]
	return p
}

// give takes memory back.
func (s *spares) give(p []byte) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.list) < mostSpare {
		s.list = append(s.list, p)
		return
	}
	syscall.Munmap(p)
}

// Drop forgets all code.
func (b *Buffer) Drop() {
	b.used, b.ids, b.sites, b.live = 0, 0, nil, nil
	b.epoch++
	b.ctx.Site = 0
	b.ctx.forget()
}

// Retext must be called before Run when the current text may have changed: ways from block to block are of one text.
func (b *Buffer) Retext(text uint64) {
	if b.text == text {
		return
	}
	b.text = text
	b.Unlink()
}

// Unlink forgets all ways from block to block.
func (b *Buffer) Unlink() {
	for _, i := range b.live {
		b.patch(b.sites[i].at, b.sites[i].stub)
	}
	b.live = b.live[:0]
	b.ctx.forget()
}

func (b *Buffer) patch(at, to int) {
	binary.LittleEndian.PutUint32(b.mem[at:], uint32(to-at-4))
}

// Link makes code, that of the block at ctx.PC, the successor of the way by which the last Run came out.
func (b *Buffer) Link(c Code) {
	if n := b.ctx.Site; n != 0 {
		b.patch(b.sites[n-1].at, int(c.entry-b.base()))
		b.live = append(b.live, int(n-1))
		return
	}
	b.ctx.jumps[b.ctx.PC&(jumpTable-1)] = jump{b.ctx.PC, c.entry}
}

func (b *Buffer) base() uintptr { return uintptr(unsafe.Pointer(&b.mem[0])) }

// Bytes is the machine code of c; nil if it has been dropped. Ways to other blocks are as they are linked now; the address of notes, which differs from
// process to process, is 0.
func (b *Buffer) Bytes(c Code, notes *Notes) []byte {
	if !b.Valid(c) || c.entry == 0 {
		return nil
	}
	at := int(c.entry - b.base())
	address := binary.LittleEndian.AppendUint64(nil, uint64(uintptr(unsafe.Pointer(notes))))
	return bytes.ReplaceAll(b.mem[at:at+int(c.size)], address, make([]byte, len(address)))
}

// Run executes code until it leaves, see Context.
func (b *Buffer) Run(c Code) {
	enter(c.entry, b.ctx)
	runtime.KeepAlive(b)
}

// enter calls compiled code.
//
//go:noescape
func enter(code uintptr, ctx *Context)
