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
	const fixed, noReplace = unix.MAP_FIXED, unix.MAP_FIXED_NOREPLACE
	addr, length, flags, off := c.a[0], c.a[1], c.a[3], c.a[5]
	if off%guest.PageSize != 0 {
		return 0, unix.EINVAL
	}
	if _, f, err := c.fd(c.arg32(4)); flags&unix.MAP_ANONYMOUS == 0 && (err != nil || f.Kind == filePath) {
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
	m := c.p.Mem
	switch {
	case flags&(fixed|noReplace) != 0:
		if addr%guest.PageSize != 0 {
			return 0, unix.EINVAL
		}
		if addr >= guest.AddrLimit-guest.PageSize || size > guest.AddrLimit-guest.PageSize-addr {
			return 0, unix.ENOMEM
		}
		if addr < minAddr {
			return 0, unix.EPERM
		}
		if flags&noReplace != 0 && !free(m, addr, size) {
			return 0, unix.EEXIST
		}
	case flags&unix.MAP_32BIT != 0:
		addr = guest.PageUp(addr)
		if addr < minAddr || addr > high32 || size > high32-addr || !free(m, addr, size) {
			addr = m.FindLowGap(size, low32, high32)
		}
		if addr < minAddr {
			return 0, unix.ENOMEM
		}
	default:
		addr = guest.PageUp(addr)
		if addr < minAddr || addr+size > loader.StackTop || !free(m, addr, size) {
			addr = m.FindGap(size, c.s.cfg.World.mmapTop())
		}
		if addr < minAddr {
			return 0, unix.ENOMEM
		}
	}
	if !c.mayMap(size) {
		return 0, unix.ENOMEM
	}
	a.Start, a.End = addr, addr+size
	if a.Shared && a.Back == nil && a.Obj == 0 {
		var err error
		if a.Obj, err = c.s.anonymous(size); err != nil {
			return 0, err
		}
	}
	if err := c.s.shareCode(a); err != nil {
		return 0, err
	}
	inside := size // of the file, in pages
	if a.Back != nil {
		inside = min(size, guest.PageUp(uint64(len(a.Back.Data)))-min(off, guest.PageUp(uint64(len(a.Back.Data)))))
	}
	if beyond := size - inside; beyond > 0 && beyond < mem.NoObject-guest.PageSize {
		tail := mem.Area{Start: addr + inside, End: a.End, Prot: a.Prot, Name: a.Name, Off: off + inside, Shared: a.Shared, ReadOnly: a.ReadOnly, Obj: guest.PageSize}
		if m.MapArea(tail) != nil {
			return 0, unix.ENOMEM
		}
		a.End = addr + inside
	}
	if a.Start == a.End {
		return addr, nil
	}
	if err := m.MapArea(a); err != nil {
		return 0, unix.ENOMEM
	}
	if !sym.IsConcrete() {
		n := min(inside, uint64(len(sym.Data)))
		_ = m.Protect(addr, inside, guest.ProtRead|guest.ProtWrite)
		_ = m.WriteSym(addr, sym.Slice(0, int(n)))
		_ = m.Protect(addr, inside, a.Prot)
	}
	return addr, nil
}

// mapFile fills in what area a shows of the file; the result is not empty if some of it is symbolic.
func (c *call) mapFile(a *mem.Area, off, size uint64) (mem.Bytes, error) {
	var none mem.Bytes
	_, f, err := c.fd(c.arg32(4))
	switch {
	case err != nil:
		return none, err
	case f.Kind == fileZero:
		return none, nil
	case f.Kind != fileLower && f.Kind != fileNode:
		return none, unix.ENODEV
	case !f.readable() || a.Shared && a.Prot&guest.ProtWrite != 0 && !f.writable():
		return none, unix.EACCES
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
	b := c.s.readNode(f.Node, 0, int(c.s.nodes.get(f.Node).Size))
	a.Back = &mem.Backing{Name: f.Path, Data: b.Data}
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
	}
	return 0, nil
}

// knownAdvice is madvise_behavior_valid in mm/madvise.c.
func knownAdvice(advice uint64) bool {
	return advice <= unix.MADV_WILLNEED+1 || advice >= unix.MADV_FREE && advice <= unix.MADV_COLLAPSE || advice == 100 || advice == 101 // MADV_HWPOISON, MADV_SOFT_OFFLINE
}

func (c *call) sysMremap() (uint64, error) {
	const mayMove, fixed, dontUnmap = 1, 2, 4
	addr, flags := c.a[0], c.a[3]
	oldSize, err := pages(addr, c.a[1])
	newSize := guest.PageUp(c.a[2])
	if err != nil || newSize == 0 || c.a[2] > maxMap || flags&^(mayMove|fixed) != 0 || flags&fixed != 0 && flags&mayMove == 0 {
		if flags&dontUnmap != 0 {
			return 0, unsupported("MREMAP_DONTUNMAP")
		}
		return 0, unix.EINVAL
	}
	m := c.p.Mem
	a := m.Find(addr)
	if a == nil || !m.Mapped(addr, max(oldSize, 1), 0) {
		return 0, unix.EFAULT
	}
	if c.s.tooMuch(a, newSize) {
		return 0, unix.ENOMEM
	}
	if newSize > oldSize && !c.mayMap(newSize-oldSize) {
		return 0, unix.ENOMEM
	}
	if oldSize == 0 || a.Obj != 0 && newSize > oldSize && (a.Obj+addr-a.Start)%objectRoom+newSize > objectRoom {
		return 0, unsupported("mremap of shared memory to an unusual size")
	}
	if addr+oldSize > a.End {
		return 0, unix.EFAULT
	}
	grown := func(at uint64) mem.Area {
		n := a.Part(addr, addr+newSize)
		n.Start, n.End = at, at+newSize
		return n
	}
	if flags&fixed == 0 {
		if newSize <= oldSize {
			if newSize < oldSize {
				_ = m.Unmap(addr+newSize, oldSize-newSize)
			}
			return addr, nil
		}
		if addr+oldSize == a.End && addr+newSize <= loader.StackTop && free(m, a.End, newSize-oldSize) {
			n := a.Part(addr+oldSize, addr+newSize)
			if m.MapArea(n) != nil {
				return 0, unix.ENOMEM
			}
			return addr, nil
		}
		if flags&mayMove == 0 {
			return 0, unix.ENOMEM
		}
	}
	to := c.a[4]
	if flags&fixed == 0 {
		if to = m.FindGap(newSize, c.s.cfg.World.mmapTop()); to < minAddr {
			return 0, unix.ENOMEM
		}
	} else if to%guest.PageSize != 0 || to < minAddr || to+newSize > guest.AddrLimit || to < addr+oldSize && addr < to+newSize {
		return 0, unix.EINVAL
	}
	n := grown(to)
	final := n.Prot
	n.Prot = guest.ProtRead | guest.ProtWrite
	_ = m.Protect(addr, oldSize, n.Prot)
	if m.MapArea(n) != nil {
		return 0, unix.ENOMEM
	}
	// Pages that were never touched are all zero, and stay untouched.
	for off := uint64(0); off < min(oldSize, newSize) && a.Obj == 0; off += guest.PageSize {
		b, err := m.ReadSym(addr+off, guest.PageSize)
		if err == nil && (a.Back != nil || !b.IsConcrete() || !zero(b.Data)) {
			_ = m.WriteSym(to+off, b)
		}
	}
	_ = m.Unmap(addr, oldSize)
	_ = m.Protect(to, newSize, final)
	return to, nil
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

// sysMapped succeeds for mapped ranges: mlock and munlock have no effect here.
func (c *call) sysMapped() (uint64, error) {
	lo := guest.PageDown(c.a[0])
	switch n := guest.PageUp(c.a[0] + c.a[1] - lo); {
	case lo+n < lo:
		return 0, unix.EINVAL
	case n > 0 && !c.p.Mem.Mapped(lo, n, 0):
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
