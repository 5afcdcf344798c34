package kernel

import (
	"golang.org/x/sys/unix"

	"symchef/internal/guest"
	"symchef/internal/loader"
	"symchef/internal/mem"
)

// protOf turns PROT_* into a protection. Pages that may be written or executed can be read on x86.
func protOf(p uint64) guest.Prot {
	r := guest.Prot(p & 7)
	if r&(guest.ProtWrite|guest.ProtExec) != 0 {
		r |= guest.ProtRead
	}
	return r
}

// minAddr is vm.mmap_min_addr.
const minAddr = 65536

// MAP_32BIT asks for an address between these (arch/x86/kernel/sys_x86_64.c).
const low32, high32 = 1 << 30, 1 << 31

// maxMap bounds one mapping in bytes; beyond it mmap returns ENOMEM.
const maxMap = 1 << 46

// maxData is the memory of the host, in bytes.
const maxData = 4 << 30

// tooMuch reports whether a mapping of size bytes that a program may write is more than it may have for itself: Linux gives no more than the host has
// (overcommit_memory 0), and a replay no more than 4 GiB (RLIMIT_DATA).
func (s *System) tooMuch(a *mem.Area, size uint64) bool {
	return !a.Shared && a.Prot&guest.ProtWrite != 0 && size > s.cfg.World.host().memory
}

func (c *call) sysMmap() (uint64, error) {
	addr, length, flags, off := c.a[0], c.a[1], c.a[3], c.a[5]
	if off%guest.PageSize != 0 {
		return 0, unix.EINVAL
	}
	if _, _, err := c.fd(c.arg32(4)); flags&unix.MAP_ANONYMOUS == 0 && err != nil {
		return 0, unix.EBADF
	}
	if length == 0 {
		return 0, unix.EINVAL
	}
	if length > maxMap {
		return 0, unix.ENOMEM
	}
	a := mem.Area{Prot: protOf(c.a[2])}
	switch flags & unix.MAP_TYPE {
	case unix.MAP_PRIVATE:
	case unix.MAP_SHARED, unix.MAP_SHARED_VALIDATE:
		a.Shared = true
	default:
		return 0, unix.EINVAL
	}
	if c.s.tooMuch(&a, length) {
		return 0, unix.ENOMEM
	}
	if flags&(unix.MAP_HUGETLB|unix.MAP_ANONYMOUS) == unix.MAP_HUGETLB|unix.MAP_ANONYMOUS {
		return 0, unix.ENOMEM // there are no huge pages
	}
	var sym mem.Bytes
	size := guest.PageUp(length)
	if flags&unix.MAP_ANONYMOUS == 0 {
		var err error
		if sym, err = c.mapFile(&a, off, size); err != nil {
			return 0, err
		}
	} else if a.Shared {
		a.Name = anonymousName
	}
	addr, err := c.placeMap(addr, size, flags)
	if err != nil {
		return 0, err
	}
	if !c.mayMap(size) {
		return 0, unix.ENOMEM
	}
	a.Start, a.End = addr, addr+size
	if a.Shared && a.Back == nil && a.Obj == 0 {
		if a.Obj, err = c.s.anonymous(size); err != nil {
			return 0, err
		}
	}
	if err := c.s.shareCode(a); err != nil {
		return 0, err
	}
	return addr, c.mapArea(a, sym)
}

// placeMap is where a mapping of size bytes goes that was asked for at addr.
func (c *call) placeMap(addr, size, flags uint64) (uint64, error) {
	m := c.p.Mem
	if flags&(unix.MAP_FIXED|unix.MAP_FIXED_NOREPLACE) != 0 {
		switch {
		case addr%guest.PageSize != 0:
			return 0, unix.EINVAL
		case addr >= guest.AddrLimit-guest.PageSize || size > guest.AddrLimit-guest.PageSize-addr:
			return 0, unix.ENOMEM
		case addr < minAddr && c.s.refused() != nil:
			return 0, unix.EPERM
		case flags&unix.MAP_FIXED_NOREPLACE != 0 && !free(m, addr, size):
			return 0, unix.EEXIST
		}
		return addr, nil
	}
	addr = guest.PageUp(addr)
	if flags&unix.MAP_32BIT != 0 {
		if addr < minAddr || addr > high32 || size > high32-addr || !free(m, addr, size) {
			addr = m.FindLowGap(size, low32, high32)
		}
	} else if addr < minAddr || addr+size > loader.StackTop || !free(m, addr, size) {
		addr = m.FindGap(size, c.s.cfg.World.mmapTop())
	}
	if addr < minAddr {
		return 0, unix.ENOMEM
	}
	return addr, nil
}

// mapArea maps a, with sym as what it shows if some of that is symbolic. Pages behind the end of its file are there, but cannot be touched.
func (c *call) mapArea(a mem.Area, sym mem.Bytes) error {
	m, size := c.p.Mem, a.End-a.Start
	inside := size // of the file, in pages
	if a.Back != nil {
		pages := guest.PageUp(uint64(len(a.Back.Data)))
		inside = min(size, pages-min(a.Off, pages))
	}
	if beyond := size - inside; beyond > 0 && beyond < mem.NoObject-guest.PageSize {
		tail := mem.Area{Start: a.Start + inside, End: a.End, Prot: a.Prot, Name: a.Name, Off: a.Off + inside, Shared: a.Shared, ReadOnly: a.ReadOnly, Obj: guest.PageSize}
		if m.MapArea(tail) != nil {
			return unix.ENOMEM
		}
		a.End = a.Start + inside
	}
	if a.Start == a.End {
		return nil
	}
	if m.MapArea(a) != nil {
		return unix.ENOMEM
	}
	if !sym.IsConcrete() {
		n := min(inside, uint64(len(sym.Data)))
		_ = m.Protect(a.Start, inside, guest.ProtRead|guest.ProtWrite)
		_ = m.WriteSym(a.Start, sym.Slice(0, int(n)))
		_ = m.Protect(a.Start, inside, a.Prot)
	}
	return nil
}

// mapFile fills in what area a shows of the file; the result is not empty if some of it is symbolic.
func (c *call) mapFile(a *mem.Area, off, size uint64) (mem.Bytes, error) {
	var none mem.Bytes
	_, f, err := c.fd(c.arg32(4))
	switch {
	case err != nil:
		return none, err
	case !f.readable() || a.Shared && a.Prot&guest.ProtWrite != 0 && !f.writable():
		return none, unix.EACCES
	case f.Kind == fileZero:
		a.ReadOnly = a.Shared && !f.writable()
		return none, nil
	case f.Kind == fileSocket && c.s.socks.get(f.Sock).tcp(): // tcp_mmap
		if c.a[2]&(unix.PROT_WRITE|unix.PROT_EXEC) != 0 {
			return none, unix.EPERM
		}
		return none, unsupported("a mapping of a TCP socket")
	case !f.regular():
		return none, unix.ENODEV
	case a.Shared && a.Prot&guest.ProtExec != 0 && a.Prot&guest.ProtWrite != 0:
		return none, unsupported(execShared)
	case a.Shared && (off > objectRoom || size > objectRoom-off):
		return none, unsupported("a shared mapping of more than a file can have")
	}
	a.Name, a.Off, a.ReadOnly = f.Path, off, a.Shared && !f.writable()
	if f.Kind == fileLower {
		a.Back = f.Back
		return none, nil
	}
	if a.Shared && a.Prot&guest.ProtExec == 0 {
		a.Obj, err = c.s.share(f.Node)
		a.Obj += off
		return none, err
	}
	if err := c.s.mayShow(f.Node); err != nil {
		return none, err
	}
	b := c.s.readNode(f.Node, 0, int(c.s.nodes.get(f.Node).Size))
	a.Back = &mem.Backing{Name: f.Path, Data: b.Data, Copied: true}
	if !b.IsConcrete() && off < uint64(len(b.Data)) {
		return b.Slice(int(off), len(b.Data)), nil
	}
	return none, nil
}

// free reports whether nothing is mapped in the range.
func free(m *mem.Space, addr, size uint64) bool {
	for _, a := range m.Areas() {
		if a.Start < addr+size && addr < a.End {
			return false
		}
	}
	return true
}

// pages checks an address range argument.
func pages(addr, length uint64) (uint64, error) {
	size := guest.PageUp(length)
	if addr%guest.PageSize != 0 || size < length || addr+size < addr || addr+size > guest.AddrLimit {
		return 0, unix.EINVAL
	}
	return size, nil
}

func (c *call) sysMunmap() (uint64, error) {
	size, err := pages(c.a[0], c.a[1])
	if err != nil || size == 0 {
		return 0, unix.EINVAL
	}
	if c.p.Mem.Unmap(c.a[0], size) != nil {
		return 0, unix.EINVAL
	}
	return 0, nil
}

func (c *call) sysMprotect() (uint64, error) {
	const sem, down, up = 8, 0x01000000, 0x02000000 // PROT_SEM, PROT_GROWSDOWN, PROT_GROWSUP
	both := c.a[2]&(down|up) == down|up
	size := guest.PageUp(c.a[1])
	switch {
	case both || c.a[0]%guest.PageSize != 0:
		return 0, unix.EINVAL
	case c.a[1] == 0:
		return 0, nil
	case c.a[0]+size <= c.a[0]:
		return 0, unix.ENOMEM
	case c.a[2]&^(7|sem|down|up) != 0:
		return 0, unix.EINVAL
	case c.a[0]+size > guest.AddrLimit:
		return 0, unix.ENOMEM
	}
	for _, a := range c.p.Mem.Areas() {
		switch {
		case a.End <= c.a[0] || a.Start >= c.a[0]+size:
		case !a.Shared && c.a[2]&uint64(guest.ProtWrite) != 0 && min(a.End, c.a[0]+size)-max(a.Start, c.a[0]) > c.s.cfg.World.host().memory:
			return 0, unix.ENOMEM
		case a.ReadOnly && c.a[2]&uint64(guest.ProtWrite) != 0:
			return 0, unix.EACCES
		case a.Obj == 0 && a.Shared && c.a[2]&uint64(guest.ProtWrite) != 0:
			return 0, unsupported(execShared)
		case c.a[2]&uint64(guest.ProtExec) != 0:
			p := a.Part(max(a.Start, c.a[0]), min(a.End, c.a[0]+size))
			p.Prot = guest.ProtExec
			if err := c.s.shareCode(p); err != nil {
				return 0, err
			}
		}
	}
	if c.p.Mem.Protect(c.a[0], size, protOf(c.a[2])) != nil {
		return 0, unix.ENOMEM
	}
	return 0, nil
}

// execShared is refused because translations of code do not notice writes to the file.
const execShared = "a shared writable mapping of a file that is executable"

// anonymousName is what /proc/PID/maps shows of anonymous shared memory.
const anonymousName = "/dev/zero (deleted)"

// shareCode marks the object of an executable area as code, if it shows one.
func (s *System) shareCode(a mem.Area) error {
	switch {
	case a.Obj == 0 || a.Nothing() || a.Prot&guest.ProtExec == 0:
		return nil
	case a.Name != anonymousName:
		return unsupported(execShared)
	}
	if s.objects.Protect(a.Obj, a.End-a.Start, readWrite|guest.ProtExec) != nil {
		return unix.ENOMEM
	}
	return nil
}

func (c *call) sysMadvise() (uint64, error) {
	size, err := pages(c.a[0], c.a[1])
	if !knownAdvice(c.a[2] & 0xffffffff) {
		err = unix.EINVAL
	}
	if err != nil {
		return 0, err
	}
	if size == 0 {
		return 0, nil
	}
	m, lo, hi := c.p.Mem, c.a[0], c.a[0]+size
	if !m.Mapped(lo, size, 0) {
		return 0, unix.ENOMEM
	}
	switch c.a[2] {
	case unix.MADV_DONTNEED:
		for _, a := range m.Areas() {
			if a.End <= lo || a.Start >= hi || a.Shared {
				continue
			}
			n := a.Part(max(a.Start, lo), min(a.End, hi))
			if m.MapArea(n) != nil { // drops what was written there
				return 0, unix.EINVAL
			}
		}
	case unix.MADV_REMOVE, unix.MADV_WIPEONFORK, unix.MADV_DONTFORK:
		return 0, unsupported("this advice")
	case unix.MADV_FREE:
		for _, a := range m.Areas() {
			if a.End > lo && a.Start < hi && (a.Shared || a.Back != nil) { // anonymous memory only
				return 0, unix.EINVAL
			}
		}
	}
	return 0, nil
}

// knownAdvice is madvise_behavior_valid in mm/madvise.c.
func knownAdvice(advice uint64) bool {
	return advice <= unix.MADV_WILLNEED+1 || advice >= unix.MADV_FREE && advice <= unix.MADV_COLLAPSE || advice == 100 || advice == 101 // MADV_HWPOISON, MADV_SOFT_OFFLINE
}

func (c *call) sysMremap() (uint64, error) {
	r, err := c.remapping()
	if err != nil {
		return 0, err
	}
	m := c.p.Mem
	switch {
	case r.flags&remapFixed != 0:
		if r.to%guest.PageSize != 0 || r.to < minAddr || r.to+r.newSize > guest.AddrLimit || r.to < r.addr+r.oldSize && r.addr < r.to+r.newSize {
			return 0, unix.EINVAL
		}
	case r.newSize <= r.oldSize:
		if r.newSize < r.oldSize {
			_ = m.Unmap(r.addr+r.newSize, r.oldSize-r.newSize)
		}
		return r.addr, nil
	case r.addr+r.oldSize == r.area.End && r.addr+r.newSize <= loader.StackTop && free(m, r.area.End, r.newSize-r.oldSize):
		if m.MapArea(r.area.Part(r.addr+r.oldSize, r.addr+r.newSize)) != nil {
			return 0, unix.ENOMEM
		}
		return r.addr, nil
	case r.flags&remapMayMove == 0:
		return 0, unix.ENOMEM
	default:
		if r.to = m.FindGap(r.newSize, c.s.cfg.World.mmapTop()); r.to < minAddr {
			return 0, unix.ENOMEM
		}
	}
	return r.to, c.moveMap(r.area, r.addr, r.oldSize, r.to, r.newSize)
}

// Flags of mremap(2).
const (
	remapMayMove   = 1 // MREMAP_MAYMOVE
	remapFixed     = 2 // MREMAP_FIXED
	remapDontUnmap = 4 // MREMAP_DONTUNMAP
)

// remapping is what a call of mremap(2) asks for. All of the old range lies in area, unless the new one is a part of it.
type remapping struct {
	addr, oldSize, newSize, to, flags uint64
	area                              *mem.Area
}

// remapping reads the arguments of mremap(2), and returns what Linux says of those that cannot be granted wherever the new range is.
func (c *call) remapping() (r remapping, err error) {
	r = remapping{addr: c.a[0], newSize: guest.PageUp(c.a[2]), flags: c.a[3], to: c.a[4]}
	r.oldSize, err = pages(r.addr, c.a[1])
	if err != nil || r.newSize == 0 || c.a[2] > maxMap || r.flags&^(remapMayMove|remapFixed) != 0 || r.flags&remapFixed != 0 && r.flags&remapMayMove == 0 {
		if r.flags&remapDontUnmap != 0 {
			return r, unsupported("MREMAP_DONTUNMAP")
		}
		return r, unix.EINVAL
	}
	r.area = c.p.Mem.Find(r.addr)
	shrinks := r.flags&remapFixed == 0 && r.newSize <= r.oldSize // what is behind the mapping is no matter then
	if r.area == nil || !shrinks && !c.p.Mem.Mapped(r.addr, max(r.oldSize, 1), 0) {
		return r, unix.EFAULT
	}
	if r.oldSize == 0 && !r.area.Shared {
		return r, unix.EINVAL
	}
	if c.s.tooMuch(r.area, r.newSize) || r.newSize > r.oldSize && !c.mayMap(r.newSize-r.oldSize) {
		return r, unix.ENOMEM
	}
	if r.oldSize == 0 || r.area.Obj != 0 && r.newSize > r.oldSize && (r.area.Obj+r.addr-r.area.Start)%objectRoom+r.newSize > objectRoom {
		return r, unsupported("mremap of shared memory to an unusual size")
	}
	if r.addr+r.oldSize > r.area.End && !shrinks {
		return r, unix.EFAULT
	}
	return r, nil
}

// moveMap moves oldSize bytes of area a, from addr on, to an area of newSize bytes at to.
func (c *call) moveMap(a *mem.Area, addr, oldSize, to, newSize uint64) error {
	m := c.p.Mem
	n := a.Part(addr, addr+newSize)
	n.Start, n.End = to, to+newSize
	final := n.Prot
	n.Prot = guest.ProtRead | guest.ProtWrite
	_ = m.Protect(addr, oldSize, n.Prot)
	if m.MapArea(n) != nil {
		return unix.ENOMEM
	}
	// Pages that were never touched are all zero, and stay untouched.
	for off := uint64(0); off < min(oldSize, newSize) && a.Obj == 0; off += guest.PageSize {
		c.s.moves(guest.PageSize)
		b, err := m.ReadSym(addr+off, guest.PageSize)
		if err == nil && (a.Back != nil || !b.IsConcrete() || !zero(b.Data)) {
			_ = m.WriteSym(to+off, b)
		}
	}
	_ = m.Unmap(addr, oldSize)
	_ = m.Protect(to, newSize, final)
	return nil
}

func zero(b []byte) bool {
	for _, x := range b {
		if x != 0 {
			return false
		}
	}
	return true
}

func (c *call) sysBrk() (uint64, error) {
	p, m, want := c.p, c.p.Mem, c.a[0]
	if want < p.BrkStart || want > p.BrkStart+c.s.cfg.World.host().memory {
		return p.Brk, nil
	}
	old, end := guest.PageUp(p.Brk), guest.PageUp(want)
	switch {
	case end > old:
		// A page stays free above the heap, as with the kernel's stack guard gap.
		if !free(m, old, end-old+guest.PageSize) || !c.mayMap(end-old) {
			return p.Brk, nil
		}
		err := m.MapArea(mem.Area{Start: old, End: end, Prot: guest.ProtRead | guest.ProtWrite, Name: "[heap]"})
		if err != nil {
			return p.Brk, nil
		}
	case end < old:
		_ = m.Unmap(end, old-end)
	}
	c.moved = [2]uint64{min(old, end), max(old, end)}
	p.Brk = want
	return want, nil
}

// sysMsync finds nothing to write back: a file and its shared mappings are one.
func (c *call) sysMsync() (uint64, error) {
	const async, sync = unix.MS_ASYNC, unix.MS_SYNC
	if f := c.a[2]; c.a[0]%guest.PageSize != 0 || f&^(async|sync|unix.MS_INVALIDATE) != 0 || f&async != 0 && f&sync != 0 {
		return 0, unix.EINVAL
	}
	return c.sysMapped()
}

// sysMlock has no effect, but pages that may not be touched cannot be brought in.
func (c *call) sysMlock() (uint64, error) { return c.mapped(guest.ProtRead) }

// sysMapped succeeds for mapped ranges: munlock has no effect here.
func (c *call) sysMapped() (uint64, error) { return c.mapped(0) }

// mapped checks that the range of the arguments is mapped with protection p.
func (c *call) mapped(p guest.Prot) (uint64, error) {
	lo := guest.PageDown(c.a[0])
	switch n := guest.PageUp(c.a[0] + c.a[1] - lo); {
	case lo+n < lo:
		return 0, unix.EINVAL
	case n > 0 && !c.p.Mem.Mapped(lo, n, p):
		return 0, unix.ENOMEM
	}
	return 0, nil
}

func (c *call) sysMincore() (uint64, error) {
	size, err := pages(c.a[0], c.a[1])
	if err != nil {
		return 0, err
	}
	if !c.p.Mem.Mapped(c.a[0], size, 0) {
		return 0, unix.ENOMEM
	}
	v := make([]byte, size/guest.PageSize)
	for i := range v {
		v[i] = 1
	}
	return 0, c.put(c.a[2], v)
}
