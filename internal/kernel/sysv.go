package kernel

import (
	"encoding/binary"
	"fmt"
	"slices"

	"golang.org/x/sys/unix"

	"symchef/internal/guest"
	"symchef/internal/loader"
	"symchef/internal/mem"
)

// segment is one of System V shared memory (shmget(2)): an object that has an identifier, its row in System.segments.
type segment struct {
	Key        int32
	Size       uint64 // bytes; the object has whole pages
	Obj        uint64
	Mode       uint32 // permissions, and shmDest
	CPID, LPID int    // who made it, and who attached or detached it last
	Attached   int64  // seconds, as the others; 0: never
	Detached   int64
	Changed    int64
}

//lint:ignore U1000 called through cloner
func (g *segment) clone() *segment { c := *g; return &c }

func (g *segment) end() uint64 { return g.Obj + guest.PageUp(g.Size) }

// shmDest marks a segment that goes with the last who is attached to it (linux/shm.h).
const shmDest = 0o1000

func (s *System) segment(i int) *segment { return edit[segment](&s.segments, s.owner, i) }

// attached counts the mappings of segment g: each begins where it was attached, or is what an munmap(2) left of one.
func (s *System) attached(g *segment) (n uint64) {
	seen := map[*mem.Space]bool{}
	for _, p := range s.procs {
		if p.Mem == nil || seen[p.Mem] {
			continue
		}
		seen[p.Mem] = true
		at := map[uint64]bool{}
		for _, a := range p.Mem.Areas() {
			if a.Obj >= g.Obj && a.Obj < g.end() {
				at[a.Start-(a.Obj-g.Obj)] = true
			}
		}
		n += uint64(len(at))
	}
	return n
}

// sweepSegments removes the segments that nobody can use any more.
func (s *System) sweepSegments() {
	for i := range s.segments.rows {
		if g := s.segments.get(i); g != nil && g.Mode&shmDest != 0 && s.attached(g) == 0 {
			_ = s.objects.Unmap(g.Obj, g.end()-g.Obj)
			s.segments.del(i)
		}
	}
}

func (s *System) seconds() int64 { return int64(s.Now().wall() / 1e9) }

func (c *call) sysShmget() (uint64, error) {
	s, key, size, flags := c.s, int32(c.a[0]), c.a[1], c.a[2]
	s.sweepSegments()
	if key != unix.IPC_PRIVATE {
		for i := range s.segments.rows {
			g := s.segments.get(i)
			switch {
			case g == nil || g.Key != key:
			case flags&(unix.IPC_CREAT|unix.IPC_EXCL) == unix.IPC_CREAT|unix.IPC_EXCL:
				return 0, unix.EEXIST
			case size > g.Size:
				return 0, unix.EINVAL
			case !c.may(g, uint32(flags>>6|flags>>3|flags)&7):
				return 0, unix.EACCES
			default:
				return uint64(i), nil
			}
		}
		if flags&unix.IPC_CREAT == 0 {
			return 0, unix.ENOENT
		}
	}
	const hugeTLB = 0o4000
	switch {
	case size == 0:
		return 0, unix.EINVAL
	case flags&hugeTLB != 0 || size > maxData:
		return 0, unix.ENOMEM
	}
	at, err := s.anonymous(guest.PageUp(size))
	if err != nil {
		return 0, err
	}
	g := &segment{Key: key, Size: size, Obj: at, Mode: uint32(flags & 0o777), CPID: c.p.PID, Changed: s.seconds()}
	// A number is not given again at once.
	s.segments.rows = append(s.segments.rows, &row[segment]{s.owner, g})
	return uint64(len(s.segments.rows) - 1), nil
}

// may reports whether the user, who owns everything here, has the rights of bits (4 reading, 2 writing) to g.
func (c *call) may(g *segment, bits uint32) bool { return bits&6&^(g.Mode>>6) == 0 }

func (c *call) sysShmat() (uint64, error) {
	const readOnly, round, remap, executable = 0o10000, 0o20000, 0o40000, 0o100000
	s, m, addr, flags := c.s, c.p.Mem, c.a[1], c.a[2]
	s.sweepSegments()
	id := c.arg32(0)
	g := s.segments.get(id)
	if g == nil {
		return 0, unix.EINVAL
	}
	if flags&executable != 0 {
		return 0, unsupported("shared memory to execute")
	}
	a := mem.Area{Prot: guest.ProtRead | guest.ProtWrite, Shared: true, Obj: g.Obj, Name: fmt.Sprintf("/SYSV%08x (deleted)", uint32(g.Key))}
	want := uint32(6)
	if flags&readOnly != 0 {
		a.Prot, a.ReadOnly, want = guest.ProtRead, true, 4
	}
	if !c.may(g, want) {
		return 0, unix.EACCES
	}
	size := guest.PageUp(g.Size)
	if addr%guest.PageSize != 0 {
		if flags&round == 0 {
			return 0, unix.EINVAL
		}
		addr -= addr % guest.PageSize
	}
	switch {
	case addr == 0 && flags&remap != 0:
		return 0, unix.EINVAL
	case addr == 0:
		if addr = m.FindGap(size, s.cfg.World.mmapTop()); addr < minAddr {
			return 0, unix.ENOMEM
		}
	case addr < minAddr:
		return 0, unix.EPERM
	case addr+size > loader.StackTop, flags&remap == 0 && !free(m, addr, size):
		return 0, unix.EINVAL
	}
	a.Start, a.End = addr, addr+size
	if m.MapArea(a) != nil {
		return 0, unix.ENOMEM
	}
	g = s.segment(id)
	g.LPID, g.Attached = c.p.PID, s.seconds()
	return addr, nil
}

func (c *call) sysShmdt() (uint64, error) {
	s, m, addr := c.s, c.p.Mem, c.a[0]
	if addr%guest.PageSize != 0 {
		return 0, unix.EINVAL
	}
	for i := range s.segments.rows {
		g := s.segments.get(i)
		if g == nil {
			continue
		}
		found := false
		for _, a := range slices.Clone(m.Areas()) {
			if a.Obj >= g.Obj && a.Obj < g.end() && a.Start-(a.Obj-g.Obj) == addr {
				found = true
				if m.Unmap(a.Start, a.End-a.Start) != nil {
					return 0, unix.EINVAL
				}
			}
		}
		if found {
			g = s.segment(i)
			g.LPID, g.Detached = c.p.PID, s.seconds()
			s.sweepSegments()
			return 0, nil
		}
	}
	return 0, unix.EINVAL
}

func (c *call) sysShmctl() (uint64, error) {
	const lock, unlock = 11, 12
	s, id := c.s, c.arg32(0)
	s.sweepSegments()
	cmd := c.arg32(1)
	switch cmd {
	case unix.IPC_RMID, unix.IPC_SET, unix.IPC_STAT, lock, unlock:
	default:
		return 0, unsupported(fmt.Sprintf("shmctl %d", cmd))
	}
	g := s.segments.get(id)
	if g == nil {
		return 0, unix.EINVAL
	}
	le := binary.LittleEndian
	switch cmd {
	case unix.IPC_RMID:
		g = s.segment(id)
		g.Key, g.Mode = unix.IPC_PRIVATE, g.Mode|shmDest
		s.sweepSegments()
	case unix.IPC_SET:
		b, err := c.bytes(c.a[2], 48)
		if err != nil {
			return 0, err
		}
		g = s.segment(id)
		g.Mode, g.Changed = g.Mode&shmDest|le.Uint32(b[20:])&0o777, s.seconds()
	case unix.IPC_STAT:
		if !c.may(g, 4) {
			return 0, unix.EACCES
		}
		b := make([]byte, 112) // struct shmid64_ds (asm-generic/shmbuf.h, ipcbuf.h)
		uid, gid := uint32(s.cfg.UID), uint32(s.cfg.GID)
		for i, v := range []uint32{uint32(g.Key), uid, gid, uid, gid, g.Mode} {
			le.PutUint32(b[4*i:], v)
		}
		for i, v := range []uint64{g.Size, uint64(g.Attached), uint64(g.Detached), uint64(g.Changed)} {
			le.PutUint64(b[48+8*i:], v)
		}
		le.PutUint32(b[80:], uint32(g.CPID))
		le.PutUint32(b[84:], uint32(g.LPID))
		le.PutUint64(b[88:], s.attached(g))
		return 0, c.put(c.a[2], b)
	}
	return 0, nil
}
