package kernel

import (
	"bytes"
	"encoding/binary"
	"encoding/gob"
	"errors"
	"fmt"
	"hash/crc32"
	"slices"

	"golang.org/x/sys/unix"

	"symchef/internal/cpu"
	"symchef/internal/expr"
	"symchef/internal/guest"
	"symchef/internal/ir"
	"symchef/internal/mem"
)

// A snapshot is a header, then the gob encoding of an image, then the memory of its spaces. Host files and
// virtual trees are named, not stored: whoever loads a snapshot checks first
// that they have not changed (Revalidate).

// snapMagic begins a snapshot; its last byte is the version of image.
const snapMagic = "SYMCHEFK\x05"

const snapHeader = len(snapMagic) + 4 + 8 // CRC-32C of what comes behind it, and the size of the encoding, little endian

var crcTable = crc32.MakeTable(crc32.Castagnoli)

// image is a System as stored. Objects refer to each other by index.
type image struct {
	GranuleBits         int
	Retired, Waits, RNG uint64
	Calls, Opened       uint64
	Skew                Time
	Cur, LastID, Device int
	Procs               []procImage
	Tasks               []taskImage
	Spaces              []spaceImage
	Objects             spaceImage
	LastObject          uint64
	Backs               []backImage
	Files               []fileImage
	Pipes               []pipeImage
	Socks               []sockImage
	Ports               uint32
	Nodes               []nodeImage
	TTYs                []ttyImage
	Segments            []segmentImage
	Out                 [3][]byte
}

type procImage struct {
	PID, Space int // Space -1: a zombie
	State      process
}

type taskImage struct {
	TID, PID int
	PC       uint64
	R        [ir.NumState]uint64
	State    task
}

// spaceImage holds the granules that differ from what their area shows initially.
type spaceImage struct {
	Areas []areaImage
	At    []uint64 // addresses

	// GranuleSize bytes for each, stored behind the image: where they are to be stored from, and what was loaded.
	made []*[mem.GranuleSize]byte
	data []byte
}

type areaImage struct {
	Start, End, Off  uint64
	Prot             guest.Prot
	Back             int // -1: anonymous
	Name             string
	Shared, ReadOnly bool
	Obj              uint64
}

// backImage is a Backing: of the lower file Name with Size bytes, or with its own Data.
type backImage struct {
	Name  string
	Lower bool
	Size  int
	Data  []byte
}

type fileImage struct {
	At, Back int
	State    file
}

type pipeImage struct {
	At    int
	State pipe
}

type segmentImage struct {
	At    int
	State segment
}

type ttyImage struct {
	At    int
	State tty
}

type sockImage struct {
	At    int
	State socket
}

type nodeImage struct {
	At, Base int
	State    inode
	Names    []string // of Ents, sorted
	Inodes   []int
	PageAt   []int
	PageData []byte
}

// Marshal returns the state as bytes. Require: nothing is symbolic and the first process lives.
func (s *System) Marshal() ([]byte, error) {
	if s.ended {
		return nil, errors.New("kernel: snapshot of a machine that has ended")
	}
	im := image{
		GranuleBits: mem.GranuleBits, Retired: s.Retired, Calls: s.calls, Opened: s.opened, Waits: s.waits, RNG: s.rng, Skew: s.skew,
		Cur: s.cur.TID, LastID: s.lastID, Device: s.device, Ports: s.ports,
	}
	backs := map[*mem.Backing]int{}
	back := func(b *mem.Backing) int {
		if b == nil {
			return -1
		}
		i, ok := backs[b]
		if !ok {
			i = len(im.Backs)
			backs[b] = i
			bi := backImage{Name: b.Name, Size: len(b.Data), Lower: s.host.cached(b.Name) == b}
			if !bi.Lower {
				bi.Data = b.Data
			}
			im.Backs = append(im.Backs, bi)
		}
		return i
	}
	spaces := map[*mem.Space]int{}
	for _, p := range s.procs {
		pi := procImage{PID: p.PID, Space: -1, State: p.process}
		if p.Mem != nil {
			i, ok := spaces[p.Mem]
			if !ok {
				i = len(im.Spaces)
				spaces[p.Mem] = i
				sp, err := spaceOf(p.Mem, back)
				if err != nil {
					return nil, err
				}
				im.Spaces = append(im.Spaces, sp)
			}
			pi.Space = i
		}
		im.Procs = append(im.Procs, pi)
	}
	var err error
	if im.Objects, err = spaceOf(s.objects, back); err != nil {
		return nil, err
	}
	im.LastObject = s.lastObject
	for _, t := range s.tasks {
		ti := taskImage{TID: t.TID, PID: t.proc.PID, PC: t.CPU.PC, State: t.task}
		if symbolicState(&t.CPU) {
			return nil, errors.New("kernel: snapshot with a symbolic register")
		}
		copy(ti.R[:], t.CPU.R[:ir.NumState])
		im.Tasks = append(im.Tasks, ti)
	}
	for i := range s.files.rows {
		if f := s.files.get(i); f != nil {
			fi := fileImage{At: i, Back: back(f.Back), State: *f}
			fi.State.Back = nil
			if !f.Text.IsConcrete() {
				return nil, errors.New("kernel: snapshot with a symbolic device reply")
			}
			im.Files = append(im.Files, fi)
		}
	}
	for i := range s.pipes.rows {
		if p := s.pipes.get(i); p != nil {
			if !p.Buf.IsConcrete() {
				return nil, errors.New("kernel: snapshot with symbolic bytes in a pipe")
			}
			state := *p
			state.Buf = mem.Concrete(p.Buf.Data)
			im.Pipes = append(im.Pipes, pipeImage{i, state})
		}
	}
	for i := range s.socks.rows {
		if k := s.socks.get(i); k != nil {
			for _, p := range k.In {
				if !p.Data.IsConcrete() {
					return nil, errors.New("kernel: snapshot with symbolic bytes in a socket")
				}
			}
			im.Socks = append(im.Socks, sockImage{i, *k})
		}
	}
	for i := range s.segments.rows {
		if g := s.segments.get(i); g != nil {
			im.Segments = append(im.Segments, segmentImage{i, *g})
		}
	}
	for i := range s.ttys.rows {
		if t := s.ttys.get(i); t != nil {
			im.TTYs = append(im.TTYs, ttyImage{i, *t})
		}
	}
	for i := 1; i < len(s.nodes.rows); i++ {
		n, err := nodeOf(i, s.nodes.get(i), back)
		if err != nil {
			return nil, err
		}
		im.Nodes = append(im.Nodes, n)
	}
	for i, c := range s.out {
		b := c.bytes()
		if !b.IsConcrete() {
			return nil, errors.New("kernel: snapshot with symbolic output")
		}
		im.Out[i] = b.Data
	}
	var buf bytes.Buffer
	if err := gob.NewEncoder(&buf).Encode(&im); err != nil {
		return nil, fmt.Errorf("kernel: snapshot: %w", err)
	}
	stored := append([]spaceImage{im.Objects}, im.Spaces...)
	size := snapHeader + buf.Len()
	for _, sp := range stored {
		size += len(sp.made) * mem.GranuleSize
	}
	out := append(make([]byte, 0, size), snapMagic...)
	out = append(out, make([]byte, 4)...)
	out = binary.LittleEndian.AppendUint64(out, uint64(buf.Len()))
	out = append(out, buf.Bytes()...)
	for _, sp := range stored {
		for _, g := range sp.made {
			out = append(out, g[:]...)
		}
	}
	binary.LittleEndian.PutUint32(out[len(snapMagic):], crc32.Checksum(out[len(snapMagic)+4:], crcTable))
	return out, nil
}

func symbolicState(c *cpu.CPU) bool {
	found := false
	c.Sym.Each(func(x ir.Slot) { found = found || x < ir.NumState })
	return found
}

// cached returns the Backing of a lower file that has been opened, or nil.
func (h *Host) cached(path string) *mem.Backing {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.files[path]
}

func spaceOf(m *mem.Space, back func(*mem.Backing) int) (spaceImage, error) {
	var sp spaceImage
	for _, a := range m.Areas() {
		sp.Areas = append(sp.Areas, areaImage{a.Start, a.End, a.Off, a.Prot, back(a.Back), a.Name, a.Shared, a.ReadOnly, a.Obj})
	}
	symbolic := false
	m.EachSym(func(uint64, expr.Ref, byte) { symbolic = true })
	if symbolic {
		return sp, errors.New("kernel: snapshot with symbolic memory")
	}
	m.EachGranule(func(addr uint64, data *[mem.GranuleSize]byte) {
		var first [mem.GranuleSize]byte
		if a := m.Find(addr); a != nil && a.Back != nil {
			if off := a.Off + (addr - a.Start); off < uint64(len(a.Back.Data)) {
				copy(first[:], a.Back.Data[off:])
			}
		}
		if *data != first {
			sp.At = append(sp.At, addr)
			sp.made = append(sp.made, data)
		}
	})
	return sp, nil
}

func nodeOf(i int, n *inode, back func(*mem.Backing) int) (nodeImage, error) {
	ni := nodeImage{At: i, Base: back(n.Base), State: *n}
	ni.State.Base, ni.State.Pages, ni.State.Ents = nil, nil, nil
	for name := range n.Ents {
		ni.Names = append(ni.Names, name)
	}
	slices.Sort(ni.Names)
	for _, name := range ni.Names {
		ni.Inodes = append(ni.Inodes, n.Ents[name])
	}
	for k, g := range n.Pages {
		if g == nil {
			continue
		}
		if g.Sym != nil && !(mem.Bytes{Sym: g.Sym[:]}).IsConcrete() {
			return ni, errors.New("kernel: snapshot with symbolic bytes in a file")
		}
		ni.PageAt = append(ni.PageAt, k)
		ni.PageData = append(ni.PageData, g.Data[:]...)
	}
	return ni, nil
}

// errCorrupt is what a damaged snapshot gives.
var errCorrupt = errors.New("kernel: damaged snapshot")

// Unmarshal makes a system from what Marshal returned. cfg must be what the
// marshalled system was booted with, and the files it names unchanged.
func Unmarshal(data []byte, cfg Config) (*System, error) {
	if len(data) < snapHeader || string(data[:len(snapMagic)]) != snapMagic {
		return nil, errors.New("kernel: not a snapshot of this version")
	}
	if binary.LittleEndian.Uint32(data[len(snapMagic):]) != crc32.Checksum(data[len(snapMagic)+4:], crcTable) {
		return nil, errCorrupt
	}
	n, rest := binary.LittleEndian.Uint64(data[len(snapMagic)+4:]), data[snapHeader:]
	var im image
	if n > uint64(len(rest)) || gob.NewDecoder(bytes.NewReader(rest[:n])).Decode(&im) != nil {
		return nil, errCorrupt
	}
	if im.GranuleBits != mem.GranuleBits {
		return nil, errors.New("kernel: snapshot with another granule size")
	}
	if cfg.Host == nil {
		cfg.Host = NewHost()
	}
	s := newSystem(&cfg)
	s.calls, s.opened = im.Calls, im.Opened
	s.Retired, s.waits, s.rng, s.skew, s.lastID, s.device, s.ports = im.Retired, im.Waits, im.RNG, im.Skew, im.LastID, im.Device, im.Ports
	backs, err := s.restoreBacks(im.Backs)
	if err != nil {
		return nil, err
	}
	back := func(i int) (*mem.Backing, bool) {
		if i == -1 {
			return nil, true
		}
		if i < 0 || i >= len(backs) {
			return nil, false
		}
		return backs[i], true
	}
	s.lastObject = im.LastObject
	memory, whole := im.Objects.take(rest[n:])
	for i := range im.Spaces {
		if whole {
			memory, whole = im.Spaces[i].take(memory)
		}
	}
	if !whole || len(memory) > 0 {
		return nil, errCorrupt
	}
	if s.objects, err = im.Objects.restore(back, nil); err != nil {
		return nil, err
	}
	var spaces []*mem.Space
	for _, sp := range im.Spaces {
		m, err := sp.restore(back, s.objects)
		if err != nil {
			return nil, err
		}
		spaces = append(spaces, m)
	}
	if !s.restoreObjects(&im, back) || !s.restoreProcs(&im, spaces) {
		return nil, errCorrupt
	}
	for i, b := range im.Out {
		s.out[i] = s.out[i].add(mem.Concrete(b))
	}
	s.sweep()
	return s, nil
}

func (s *System) restoreBacks(list []backImage) ([]*mem.Backing, error) {
	var out []*mem.Backing
	for _, bi := range list {
		b := &mem.Backing{Name: bi.Name, Data: bi.Data}
		if bi.Lower {
			var err error
			if b, err = s.lowerContent(nil, bi.Name); err != nil {
				return nil, fmt.Errorf("kernel: snapshot: %s: %w", bi.Name, err)
			}
		}
		if len(b.Data) != bi.Size {
			return nil, fmt.Errorf("kernel: snapshot: %s has changed", bi.Name)
		}
		out = append(out, b)
	}
	return out, nil
}

// restore makes a space; objects is nil for the space of objects itself.
// take gives the image its memory, the beginning of stored; false if that is too short.
func (sp *spaceImage) take(stored []byte) (rest []byte, ok bool) {
	n := len(sp.At) * mem.GranuleSize
	if n > len(stored) {
		return nil, false
	}
	sp.data = stored[:n]
	return stored[n:], true
}

func (sp *spaceImage) restore(back func(int) (*mem.Backing, bool), objects *mem.Space) (*mem.Space, error) {
	m := mem.NewSpace()
	m.Objects = objects
	for _, a := range sp.Areas {
		b, ok := back(a.Back)
		if !ok || a.Obj != 0 && (objects == nil || a.Obj%guest.PageSize != 0 || a.Obj >= guest.AddrLimit) || m.MapArea(mem.Area{Start: a.Start, End: a.End, Prot: a.Prot, Back: b, Off: a.Off, Name: a.Name, Shared: a.Shared, ReadOnly: a.ReadOnly, Obj: a.Obj}) != nil {
			return nil, errCorrupt
		}
	}
	for i, at := range sp.At {
		if m.Poke(at, sp.data[i*mem.GranuleSize:][:mem.GranuleSize]) != nil {
			return nil, errCorrupt
		}
	}
	return m, nil
}

// maxObjects bounds the numbers of files, pipes and inodes in a snapshot.
const maxObjects = 1 << 20

// place stores v as object i of a table.
func place[T any](t *table[T], owner uint64, i int, v *T) bool {
	if i < 0 || i > maxObjects {
		return false
	}
	for len(t.rows) <= i {
		t.rows = append(t.rows, nil)
	}
	t.rows[i] = &row[T]{owner, v}
	return true
}

func (s *System) restoreObjects(im *image, back func(int) (*mem.Backing, bool)) bool {
	for _, ni := range im.Nodes {
		n := ni.State
		var ok bool
		if n.Base, ok = back(ni.Base); !ok || ni.At < 1 || len(ni.Names) != len(ni.Inodes) || len(ni.PageData) != len(ni.PageAt)*pageSize {
			return false
		}
		base := int64(0)
		if n.Base != nil {
			base = int64(len(n.Base.Data))
		}
		if n.Size < 0 || n.Size > maxFile || n.BaseLen < 0 || n.BaseLen > base {
			return false
		}
		for i, name := range ni.Names {
			if n.Ents == nil {
				n.Ents = map[string]int{}
			}
			if ni.Inodes[i] < 0 || ni.Inodes[i] > len(im.Nodes) {
				return false
			}
			n.Ents[name] = ni.Inodes[i]
		}
		for i, k := range ni.PageAt {
			if k < 0 || k > maxFile/pageSize {
				return false
			}
			copy(n.page(s.owner, k).Data[:], ni.PageData[i*pageSize:])
		}
		if !place(&s.nodes, s.owner, ni.At, &n) {
			return false
		}
	}
	for i := range s.nodes.rows {
		if s.nodes.get(i) == nil {
			return false
		}
	}
	for _, pi := range im.Pipes {
		p := pi.State
		if !place(&s.pipes, s.owner, pi.At, &p) {
			return false
		}
	}
	for _, ki := range im.Socks {
		k := ki.State
		if !place(&s.socks, s.owner, ki.At, &k) {
			return false
		}
	}
	for _, si := range im.Segments {
		if g := si.State; g.Size == 0 || g.Size > maxData || g.Obj%guest.PageSize != 0 || !place(&s.segments, s.owner, si.At, &g) {
			return false
		}
	}
	for _, ti := range im.TTYs {
		t := ti.State
		if !place(&s.ttys, s.owner, ti.At, &t) {
			return false
		}
	}
	for _, fi := range im.Files {
		f := fi.State
		var ok bool
		if f.Back, ok = back(fi.Back); !ok || f.Off < 0 || f.Kind > fileMaster || f.Kind == fileLower && f.Back == nil {
			return false
		}
		if f.Node != 0 && s.nodes.get(f.Node) == nil || f.Kind == fileNode && f.Node == 0 {
			return false
		}
		if f.tty() && s.ttys.get(f.In) == nil {
			return false
		}
		if f.Kind == fileSocket && s.socks.get(f.Sock) == nil {
			return false
		}
		if f.Kind == filePipe {
			if f.In != -1 && s.pipes.get(f.In) == nil || f.Out != -1 && s.pipes.get(f.Out) == nil {
				return false
			}
		}
		if !place(&s.files, s.owner, fi.At, &f) {
			return false
		}
	}
	return s.socketsMatch()
}

// socketsMatch reports whether the numbers that sockets hold are those of sockets and files.
func (s *System) socketsMatch() bool {
	for i := range s.socks.rows {
		k := s.socks.get(i)
		if k == nil {
			continue
		}
		if k.Other < deadSocket || k.Other >= 0 && s.socks.get(k.Other) == nil || k.Domain != unix.AF_UNIX && k.Name.Family != 0 && !k.Name.IP.IsValid() {
			return false
		}
		for _, q := range k.Queue {
			if s.socks.get(q) == nil {
				return false
			}
		}
		for _, p := range k.In {
			for _, f := range p.Rights {
				if s.files.get(f) == nil {
					return false
				}
			}
		}
	}
	return true
}

func (s *System) restoreProcs(im *image, spaces []*mem.Space) bool {
	for _, pi := range im.Procs {
		p := &Process{PID: pi.PID, process: pi.State}
		if pi.Space < -1 || pi.Space >= len(spaces) || (pi.Space == -1) != p.Dead || !signalsMatch(p.Pending, p.Infos) {
			return false
		}
		if p.Actions == nil { // gob omits what is all zero
			p.Actions = &actions{}
		}
		if pi.Space >= 0 {
			p.Mem = spaces[pi.Space]
		}
		for _, f := range p.Fds {
			if f.File != -1 && s.files.get(f.File) == nil {
				return false
			}
		}
		s.procs = append(s.procs, p)
	}
	for _, ti := range im.Tasks {
		t := &Task{TID: ti.TID, task: ti.State}
		t.proc = s.process(ti.PID)
		if t.proc == nil || t.proc.Mem == nil || !signalsMatch(t.Pending, t.Infos) {
			return false
		}
		t.CPU.PC = ti.PC
		copy(t.CPU.R[:], ti.R[:])
		s.tasks = append(s.tasks, t)
		if t.TID == im.Cur {
			s.cur = t
		}
	}
	return s.cur != nil && s.process(s.cfg.World.firstPID()) != nil
}

// signalsMatch reports whether the set is that of the list.
func signalsMatch(set uint64, infos []siginfo) bool {
	have := uint64(0)
	for _, i := range infos {
		if i.Sig < 1 || i.Sig > numSignals {
			return false
		}
		have |= bit(i.Sig)
	}
	return have == set
}
