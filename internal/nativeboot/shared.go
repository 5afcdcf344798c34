package nativeboot

import (
	"fmt"
	"io"
	"os"

	"golang.org/x/sys/unix"

	"symchef/internal/guest"
	"symchef/internal/mem"
)

// objects is the remote of the space of objects, which shared mappings show: a file of memory that the process has open. An object stands there at its
// address.
type objects struct {
	p     *process
	space *mem.Space
	fd    uint64 // in the process
	file  *os.File
	size  uint64
}

// share lends the space of objects, if it is not.
func (p *process) share() error {
	if p.shared != nil {
		return nil
	}
	fd, file, err := p.memoryFile()
	if err != nil {
		return err
	}
	p.shared = &objects{p: p, space: p.objects, fd: fd, file: file}
	p.objects.Lend(p.shared)
	return p.err
}

// Map is mem.Remote. The file is empty there.
func (o *objects) Map(a *mem.Area) {
	if o.size < a.End {
		o.size = a.End
		if err := o.file.Truncate(int64(o.size)); err != nil {
			o.p.fail(err)
		}
	}
	if a.Back != nil && a.Off < uint64(len(a.Back.Data)) {
		o.Write(a.Start, a.Back.Data[a.Off:min(uint64(len(a.Back.Data)), a.Off+a.End-a.Start)])
	}
}

// Unmap is mem.Remote. A mapping that shows what goes would fault.
func (o *objects) Unmap(start, end uint64) {
	for _, a := range o.p.space.Areas() {
		if a.Obj != 0 && a.Obj < end && start < a.Obj+a.End-a.Start {
			o.p.limit = errShared
		}
	}
	if err := unix.Fallocate(int(o.file.Fd()), unix.FALLOC_FL_PUNCH_HOLE|unix.FALLOC_FL_KEEP_SIZE, int64(start), int64(end-start)); err != nil {
		o.p.fail(fmt.Errorf("fallocate: %w", err))
	}
}

// Protect is mem.Remote: the process has no mapping by which it could do what an object does not allow.
func (o *objects) Protect(start, end uint64, prot guest.Prot) {}

// Show is mem.Remote.
func (o *objects) Show(a *mem.Area, start, end uint64, b *mem.Backing, off uint64) bool { return false }

// Read is mem.Remote.
func (o *objects) Read(addr uint64, b *[mem.GranuleSize]byte) bool {
	_, err := o.file.ReadAt(b[:], int64(addr))
	return err == nil
}

// Write is mem.Remote.
func (o *objects) Write(addr uint64, b []byte) {
	if _, err := o.file.WriteAt(b, int64(addr)); err != nil {
		o.p.fail(fmt.Errorf("shared memory of the process: %w", err))
	}
}

// unload gives the space back with the content that the file has.
func (o *objects) unload() error {
	o.space.Return()
	buf := make([]byte, 1<<16)
	for _, a := range o.space.Areas() {
		for at := a.Start; at < a.End; {
			data, err := unix.Seek(int(o.file.Fd()), int64(at), unix.SEEK_DATA)
			if err == unix.ENXIO || err == nil && uint64(data) >= a.End {
				break
			}
			if err != nil {
				return err
			}
			at = max(at, uint64(data)&^(guest.PageSize-1))
			n := min(a.End-at, uint64(len(buf)))
			if _, err := o.file.ReadAt(buf[:n], int64(at)); err != nil && err != io.EOF {
				return err
			}
			o.p.unstub(buf[:n])
			if err := o.space.Keep(at, buf[:n]); err != nil {
				return err
			}
			at += n
		}
	}
	return nil
}

// errShared is a shared mapping of more than there is of the file: the machine tells where it faults.
const errShared = "shared memory goes beyond the end of its file"
