package nativeboot

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"

	"golang.org/x/sys/unix"

	"symchef/internal/cpu"
	"symchef/internal/guest"
	"symchef/internal/mem"
)

// contents is a file of memory in which Backings stand one behind the other: the process maps it. One file is enough, since mappings of it are private.
type contents struct {
	fd    uint64 // in the process
	file  *os.File
	end   uint64                   // of the last
	parts map[*mem.Backing]content // that may be mapped from now on
}

// content is where in the file a Backing is.
type content struct{ at, size uint64 }

// load gives the process the memory of space, which is lent to it, and the registers c.
func (p *process) load(space *mem.Space, c *cpu.CPU) error {
	p.objects = space.Objects
	p.space = nil // no guard before all is written
	space.Lend(p)
	p.space = space
	for _, a := range space.Areas() {
		p.guard(a, a.Start, a.End, a.Prot)
	}
	p.set(c)
	copy(p.fx[:], c.XSave())
	p.fresh = false
	return p.err
}

// unload gives the space back with the content that the process has.
func (p *process) unload() error {
	p.space.Return()
	if p.shared != nil {
		if err := p.shared.unload(); err != nil {
			return err
		}
	}
	buf := make([]byte, 1<<20)
	for _, a := range p.space.Areas() {
		if a.Obj != 0 {
			continue
		}
		err := p.own(a, func(start, end uint64) error {
			for start < end {
				n := min(end-start, uint64(len(buf)))
				if _, err := p.mem.ReadAt(buf[:n], int64(start)); err != nil {
					return fmt.Errorf("memory of the process: %w", err)
				}
				p.original(start, buf[:n])
				p.unstub(buf[:n])
				if err := p.space.Keep(start, buf[:n]); err != nil {
					return err
				}
				start += n
			}
			return nil
		})
		if err != nil {
			return err
		}
	}
	return p.err
}

// unstub makes pointers to code in the gate those that the machine has in their place.
func (p *process) unstub(b []byte) {
	if len(p.stubs) == 0 {
		return
	}
	for i := 0; i < len(b); i += 8 {
		if v := binary.LittleEndian.Uint64(b[i:]); v&^(gateSize-1) == gate && p.stubs[v] != 0 {
			binary.LittleEndian.PutUint64(b[i:], p.stubs[v])
		}
	}
}

// Bits of /proc/PID/pagemap (Documentation/admin-guide/mm/pagemap.rst).
const (
	pagePresent = 1 << 63
	pageSwapped = 1 << 62
	pageOfFile  = 1 << 61
)

// own calls f for the runs of a's pages that may not have their initial content.
func (p *process) own(a *mem.Area, f func(start, end uint64) error) error {
	file, err := os.Open(fmt.Sprintf("/proc/%d/pagemap", p.pid))
	if err != nil {
		return err
	}
	defer file.Close()
	const chunk = 1 << 16 // pages at a time
	var from, to uint64   // the present run
	for at := a.Start; at < a.End; at += chunk * guest.PageSize {
		pages := min((a.End-at)/guest.PageSize, chunk)
		buf := make([]byte, 8*pages)
		if _, err := file.ReadAt(buf, int64(at/guest.PageSize*8)); err != nil && err != io.EOF {
			return err
		}
		for i := range pages {
			e := binary.LittleEndian.Uint64(buf[8*i:])
			if e&(pagePresent|pageSwapped) == 0 || e&pageOfFile != 0 {
				continue
			}
			page := at + i*guest.PageSize
			if page != to {
				if err := f(from, to); err != nil {
					return err
				}
				from = page
			}
			to = page + guest.PageSize
		}
	}
	return f(from, to)
}

// Map is mem.Remote.
func (p *process) Map(a *mem.Area) {
	p.forget(a.Start, a.End)
	shows := a.Obj != 0 && !a.Nothing() // an object
	if shows {
		if err := p.share(); err != nil {
			p.fail(err)
			return
		}
	}
	switch {
	case shows && !p.objects.Mapped(a.Obj, a.End-a.Start, 0):
		p.limit = errShared
		p.unmap(a.Start, a.End)
		return
	case a.Start < gate+gateSize && gate < a.End:
		p.fail(fmt.Errorf("the guest maps the address %#x", uint64(gate)))
		return
	}
	flags, fd, off := uint64(unix.MAP_PRIVATE|unix.MAP_FIXED|unix.MAP_NORESERVE), ^uint64(0), uint64(0)
	switch {
	case shows:
		flags = unix.MAP_SHARED | unix.MAP_FIXED | unix.MAP_NORESERVE
		fd, off = p.shared.fd, a.Obj
	case a.Back == nil:
		flags |= unix.MAP_ANONYMOUS
	default:
		file, at, err := p.content(a.Back, a.Off+a.End-a.Start)
		if err != nil {
			p.fail(err)
			return
		}
		fd, off = file, at+a.Off
	}
	if _, err := p.invoke(unix.SYS_MMAP, a.Start, a.End-a.Start, hostProt(a, a.Prot), flags, fd, off); err != nil {
		p.fail(fmt.Errorf("mmap: %w", err))
		return
	}
	if p.space == nil {
		return
	}
	p.guard(a, a.Start, a.End, a.Prot)
	all, writable := uint64(0), uint64(0)
	for _, b := range append(slices.Clone(p.space.Areas()), a) {
		all += b.End - b.Start
		if b.Prot&guest.ProtWrite != 0 {
			writable += b.End - b.Start
		}
	}
	switch {
	case all > maxMapped:
		p.fail(errors.New("more is mapped than can be looked through"))
	case p.most > 0 && writable > p.most:
		p.limit = "much memory is mapped"
	}
}

// maxMapped bounds what the guest may map in all, in bytes: own looks at each page.
const maxMapped = 1 << 37

// hostProt is what the process may do in a where the guest may do prot: not write what it executes, nor execute what is
// no file's.
func hostProt(a *mem.Area, prot guest.Prot) uint64 {
	if a.Nothing() {
		return 0 // a fault, which the machine makes again
	}
	if prot&guest.ProtWrite != 0 || a.Back == nil {
		prot &^= guest.ProtExec
	}
	return uint64(prot)
}

// content returns a file that the process has open, and where in it b is, with at least size bytes: the one that b stands in, or a copy. Where a copy has
// fewer b is written again: what is mapped stays as it is.
func (p *process) content(b *mem.Backing, size uint64) (fd, at uint64, err error) {
	if size <= guest.PageUp(uint64(len(b.Data))) {
		if fd, at, ok := p.opened(b); ok {
			return fd, at, nil
		}
	}
	if p.files == nil {
		fd, file, err := p.memoryFile()
		if err != nil {
			return 0, 0, err
		}
		p.files = &contents{fd: fd, file: file, parts: map[*mem.Backing]content{}}
	}
	f := p.files
	c, ok := f.parts[b]
	if !ok || c.size < size {
		c = content{f.end, guest.PageUp(max(size, uint64(len(b.Data))))}
		if err := f.file.Truncate(int64(c.at + c.size)); err != nil {
			return 0, 0, err
		}
		if _, err := f.file.WriteAt(b.Data, int64(c.at)); err != nil {
			return 0, 0, err
		}
		f.end, f.parts[b] = c.at+c.size, c
	}
	return f.fd, c.at, nil
}

// memoryFile makes a file of memory that the process and this one have open.
func (p *process) memoryFile() (fd uint64, file *os.File, err error) {
	if fd, err = p.invoke(unix.SYS_MEMFD_CREATE, gateName, 0); err != nil {
		return 0, nil, fmt.Errorf("memfd_create: %w", err)
	}
	file, err = os.OpenFile(fmt.Sprintf("/proc/%d/fd/%d", p.pid, fd), os.O_RDWR, 0)
	return fd, file, err
}

// flush writes to the process what was written in the model.
func (p *process) flush() {
	p.space.Flush()
	if p.shared != nil {
		p.shared.space.Flush()
	}
}

// Show is mem.Remote.
func (p *process) Show(a *mem.Area, start, end uint64, b *mem.Backing, off uint64) bool {
	file, at, err := p.content(b, uint64(len(b.Data)))
	if err == nil {
		_, err = p.invoke(unix.SYS_MMAP, start, end-start, hostProt(a, a.Prot), unix.MAP_PRIVATE|unix.MAP_FIXED|unix.MAP_NORESERVE, file, at+off)
	}
	if err != nil {
		p.fail(fmt.Errorf("mmap: %w", err))
	}
	return true
}

// opened has the process open the file that b stands in; false if there is none, or it may not.
func (p *process) opened(b *mem.Backing) (fd, at uint64, ok bool) {
	file, at := b.File()
	if file == nil {
		return 0, 0, false
	}
	if fd, ok = p.kept[b]; ok {
		return fd, at, true
	}
	name := fmt.Sprintf("/proc/%d/fd/%d\x00", os.Getpid(), file.Fd())
	if _, err := p.mem.WriteAt([]byte(name), int64(gatePath)); err != nil {
		return 0, 0, false
	}
	fd, err := p.invoke(unix.SYS_OPEN, gatePath, unix.O_RDONLY)
	if err != nil {
		return 0, 0, false
	}
	p.kept[b] = fd
	return fd, at, true
}

// Unmap is mem.Remote.
func (p *process) Unmap(start, end uint64) {
	p.forget(start, end)
	p.unmap(start, end)
}

func (p *process) unmap(start, end uint64) {
	if _, err := p.invoke(unix.SYS_MUNMAP, start, end-start); err != nil {
		p.fail(fmt.Errorf("munmap: %w", err))
	}
}

// Protect is mem.Remote.
func (p *process) Protect(start, end uint64, prot guest.Prot) {
	p.restore(start, end)
	for _, a := range p.space.Areas() {
		lo, hi := max(a.Start, start), min(a.End, end)
		if lo >= hi {
			continue
		}
		if _, err := p.invoke(unix.SYS_MPROTECT, lo, hi-lo, hostProt(a, prot)); err != nil {
			p.fail(fmt.Errorf("mprotect: %w", err))
			return
		}
		p.guard(a, lo, hi, prot)
	}
}

// Read is mem.Remote.
func (p *process) Read(addr uint64, b *[mem.GranuleSize]byte) bool {
	if _, err := p.mem.ReadAt(b[:], int64(addr)); err != nil {
		return false
	}
	p.original(addr, b[:])
	return true
}

// Write is mem.Remote.
func (p *process) Write(addr uint64, b []byte) {
	if _, err := p.mem.WriteAt(b, int64(addr)); err != nil {
		p.fail(fmt.Errorf("memory of the process: %w", err))
	}
}
