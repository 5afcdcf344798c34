package kernel

import (
	"golang.org/x/sys/unix"

	"symchef/internal/guest"
	"symchef/internal/mem"
)

// What a MAP_SHARED mapping shows is an object: a range of System.objects, a space that belongs
// to no process and to which areas of processes refer (mem.Area.Obj). The content of an overlay file that was mapped
// so once stands there from then on (inode.Obj): read(2), write(2) and all mappings see the same bytes. An object is
// mapped up to the end of the file's last page; behind that a mapping gives SIGBUS.

// objectRoom is the unit in which objects get addresses, in bytes.
const objectRoom = mem.NoObject

const readWrite = guest.ProtRead | guest.ProtWrite

// newObject returns the address of an object that may have up to size bytes.
func (s *System) newObject(size uint64) (uint64, error) {
	at := s.lastObject + objectRoom
	room := (size + objectRoom - 1) / objectRoom * objectRoom
	if room > guest.AddrLimit || at > guest.AddrLimit-room {
		return 0, unix.ENOMEM
	}
	s.lastObject = at + room - objectRoom
	return at, nil
}

// anonymous returns the address of a new object of size zero bytes.
func (s *System) anonymous(size uint64) (uint64, error) {
	at, err := s.newObject(size)
	if err != nil {
		return 0, err
	}
	if s.objects.MapArea(mem.Area{Start: at, End: at + size, Prot: readWrite}) != nil {
		return 0, unix.ENOMEM
	}
	return at, nil
}

// share moves inode i's content to an object and returns its address.
func (s *System) share(i int) (uint64, error) {
	if n := s.nodes.get(i); n.Obj != 0 {
		return n.Obj, nil
	}
	at, err := s.newObject(maxFile)
	if err != nil {
		return 0, err
	}
	n := s.inode(i)
	if n.Size > 0 {
		a := mem.Area{Start: at, End: at + guest.PageUp(uint64(n.Size)), Prot: readWrite}
		if n.Base != nil {
			a.Back = &mem.Backing{Name: n.Base.Name, Data: n.Base.Data[:n.BaseLen]}
		}
		if s.objects.MapArea(a) != nil {
			return 0, unix.ENOMEM
		}
	}
	for k, g := range n.Pages {
		if g == nil {
			continue
		}
		b := mem.Bytes{Data: g.Data[:]}
		if g.Sym != nil {
			b.Sym = g.Sym[:]
		}
		_ = s.objects.WriteSym(at+uint64(k)*pageSize, b)
	}
	n.Obj, n.Pages, n.Base, n.BaseLen = at, nil, nil, 0
	return at, nil
}

// readNode returns up to count bytes at off of inode i.
func (s *System) readNode(i int, off int64, count int) mem.Bytes {
	s.moves(int(max(0, min(int64(count), s.nodes.get(i).Size-off))))
	return s.peekNode(i, off, count)
}

// peekNode is readNode for who is no task: nothing is counted.
func (s *System) peekNode(i int, off int64, count int) mem.Bytes {
	n := s.nodes.get(i)
	if n.Obj == 0 {
		return n.read(off, count)
	}
	if off >= n.Size {
		return mem.Bytes{}
	}
	b, _ := s.objects.ReadSym(n.Obj+uint64(off), int(min(int64(count), n.Size-off)))
	return b
}

// writeNode stores b at off of inode i, growing the file. Require: it ends below maxFile.
func (s *System) writeNode(i int, off int64, b mem.Bytes) {
	s.moves(len(b.Data))
	n := s.inode(i)
	if n.Obj == 0 {
		n.write(s.owner, off, b)
		return
	}
	if end := off + int64(len(b.Data)); end > n.Size {
		s.truncateNode(i, end)
	}
	_ = s.objects.WriteSym(n.Obj+uint64(off), b)
}

// truncateNode sets inode i's size; what is behind it is zero if the file grows again.
func (s *System) truncateNode(i int, size int64) {
	n := s.inode(i)
	if n.Obj == 0 {
		n.truncate(s.owner, size)
		return
	}
	old, end := n.Obj+guest.PageUp(uint64(n.Size)), n.Obj+guest.PageUp(uint64(size))
	switch {
	case end > old:
		_ = s.objects.MapArea(mem.Area{Start: old, End: end, Prot: readWrite})
	case end < old:
		_ = s.objects.Unmap(end, old-end)
	}
	if size < n.Size {
		at := n.Obj + uint64(size)
		_ = s.objects.Write(at, make([]byte, end-at))
	}
	n.Size = size
}

// memPlace says where memory is: the space that holds it and its address there, which is the
// same for all mappings of an object.
type memPlace struct {
	space *mem.Space
	addr  uint64
}

func (s *System) placeOf(m *mem.Space, addr uint64) memPlace {
	if a := m.Find(addr); a != nil && a.Obj != 0 {
		return memPlace{s.objects, addr - a.Start + a.Obj}
	}
	return memPlace{m, addr}
}
