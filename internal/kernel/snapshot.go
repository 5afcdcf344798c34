package kernel

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"encoding/gob"
	"encoding/hex"
	"errors"
	"fmt"
	"hash/crc32"
	"math"
	"slices"

	"golang.org/x/sys/unix"

	"symchef/internal/cpu"
	"symchef/internal/expr"
	"symchef/internal/guest"
	"symchef/internal/ir"
	"symchef/internal/mem"
)

// A snapshot is a header, then the gob encoding of an image, then from the next page on the memory of its spaces, which whoever loads it uses where it
// stands. Memory that another snapshot has, the base, need not be stored again. Host files and
// virtual trees are named, not stored: whoever loads a snapshot checks first
// that they have not changed (Revalidate).

// snapMagic begins a snapshot; its last byte is the version of image.
const snapMagic = "SYMCHEFK\x08"

const snapHeader = len(snapMagic) + 4 + 8 // CRC-32C of what comes behind it, and the size of the encoding, little endian

var crcTable = crc32.MakeTable(crc32.Castagnoli)

// Stored is a snapshot that is whole.
type Stored struct {
	id     string
	image  []byte
	memory *mem.Backing
}

// Memory is what systems of st show of data, and of the file that is there.
func (st *Stored) Memory() *mem.Backing { return st.memory }

// ID names the snapshot and all that is in it.
func (st *Stored) ID() string {
	if st == nil {
		return ""
	}
	return st.id
}

// image is a System as stored. Objects refer to each other by index.
type image struct {
	Base                string // its ID; "": there is none
	Retired, Waits, RNG uint64
	Calls, Opened, Cost uint64
	Looked              uint64
	Skew                Time
	Cur, LastID, Device int
	Procs               []procImage
	Tasks               []taskImage
	Spaces              []spaceImage
	Objects             spaceImage
	LastObject          uint64
	Backs               []backImage
	Files               []fileImage
	Pipes               []objectImage[pipe]
	Socks               []objectImage[socket]
	Ports               uint32
	Nodes               []nodeImage
	TTYs                []objectImage[tty]
	Segments            []objectImage[segment]
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

// spaceImage holds the pages that differ from what their area shows initially.
type spaceImage struct {
	Areas []areaImage
	Pages []pageRun

	made []*[mem.GranuleSize]byte // what is to be stored for Pages, in their order
}

// pageRun is N pages from address At on, which stand in the memory of the snapshot, or of its base, from page First on.
type pageRun struct {
	At, N, First uint64
	Base         bool
}

// perPage is how many granules a page has.
const perPage = guest.PageSize / mem.GranuleSize

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

// objectImage is object At of a table.
type objectImage[T any] struct {
	At    int
	State T
}

type nodeImage struct {
	At, Base int
	State    inode
	Names    []string // of Ents, sorted
	Inodes   []int
	PageAt   []int
	PageData []byte
}

// imageWriter makes the image of a system.
type imageWriter struct {
	image
	s      *System
	base   *Stored
	stored uint64 // pages
	backs  map[*mem.Backing]int
	spaces map[*mem.Space]int
}

// Marshal returns the state as bytes. Require: nothing is symbolic and the first process lives.
func (s *System) Marshal() ([]byte, error) { return s.MarshalOn(nil) }

// MarshalOn is Marshal without the memory that s has of base, which it is then loaded with.
func (s *System) MarshalOn(base *Stored) ([]byte, error) {
	if s.ended {
		return nil, errors.New("kernel: snapshot of a machine that has ended")
	}
	w := imageWriter{s: s, base: base, backs: map[*mem.Backing]int{}, spaces: map[*mem.Space]int{}, image: image{
		Base: base.ID(), Retired: s.Retired, Calls: s.calls, Opened: s.opened, Cost: s.cost, Looked: s.looked, Waits: s.waits, RNG: s.rng, Skew: s.skew,
		Cur: s.cur.TID, LastID: s.lastID, Device: s.device, Ports: s.ports, LastObject: s.lastObject,
	}}
	for _, part := range []func() error{w.addProcs, w.addMemory, w.addTasks, w.addFiles, w.addChannels, w.addNodes, w.addOutput} {
		if err := part(); err != nil {
			return nil, fmt.Errorf("kernel: snapshot: %w", err)
		}
	}
	return w.bytes()
}

// back is the number of a backing, which is added if it is new.
func (w *imageWriter) back(b *mem.Backing) int {
	if b == nil {
		return -1
	}
	i, ok := w.backs[b]
	if !ok {
		i = len(w.Backs)
		w.backs[b] = i
		bi := backImage{Name: b.Name, Size: len(b.Data), Lower: w.s.host.cached(b.Name) == b}
		if !bi.Lower {
			bi.Data = b.Data
		}
		w.Backs = append(w.Backs, bi)
	}
	return i
}

func (w *imageWriter) addProcs() error {
	for _, p := range w.s.procs {
		i, known := w.spaces[p.Mem]
		switch {
		case p.Mem == nil:
			i = -1
		case !known:
			i = len(w.Spaces)
			w.spaces[p.Mem] = i
			sp, err := w.space(p.Mem)
			if err != nil {
				return err
			}
			w.Spaces = append(w.Spaces, sp)
		}
		w.Procs = append(w.Procs, procImage{PID: p.PID, Space: i, State: p.process})
	}
	return nil
}

func (w *imageWriter) addMemory() (err error) {
	w.Objects, err = w.space(w.s.objects)
	return err
}

func (w *imageWriter) addTasks() error {
	for _, t := range w.s.tasks {
		if symbolicState(&t.CPU) {
			return errors.New("a symbolic register")
		}
		ti := taskImage{TID: t.TID, PID: t.proc.PID, PC: t.CPU.PC, State: t.task}
		copy(ti.R[:], t.CPU.R[:ir.NumState])
		w.Tasks = append(w.Tasks, ti)
	}
	return nil
}

func (w *imageWriter) addFiles() error {
	for _, o := range imagesOf(&w.s.files) {
		if !o.State.Text.IsConcrete() {
			return errors.New("a symbolic device reply")
		}
		fi := fileImage{At: o.At, Back: w.back(o.State.Back), State: o.State}
		fi.State.Back = nil
		w.Files = append(w.Files, fi)
	}
	return nil
}

// addChannels adds the pipes, sockets, shared memory segments and terminals.
func (w *imageWriter) addChannels() error {
	w.Pipes, w.Socks, w.Segments, w.TTYs = imagesOf(&w.s.pipes), imagesOf(&w.s.socks), imagesOf(&w.s.segments), imagesOf(&w.s.ttys)
	for i := range w.Pipes {
		p := &w.Pipes[i].State
		if !p.Buf.IsConcrete() {
			return errors.New("symbolic bytes in a pipe")
		}
		p.Buf = mem.Concrete(p.Buf.Data)
	}
	for _, k := range w.Socks {
		if slices.ContainsFunc(k.State.In, func(p packet) bool { return !p.Data.IsConcrete() }) {
			return errors.New("symbolic bytes in a socket")
		}
	}
	return nil
}

func (w *imageWriter) addNodes() error {
	for i := 1; i < len(w.s.nodes.rows); i++ {
		n, err := nodeOf(i, w.s.nodes.get(i), w.back)
		if err != nil {
			return err
		}
		w.Nodes = append(w.Nodes, n)
	}
	return nil
}

func (w *imageWriter) addOutput() error {
	for i, c := range w.s.out {
		b := c.bytes()
		if !b.IsConcrete() {
			return errors.New("symbolic output")
		}
		w.Out[i] = b.Data
	}
	return nil
}

// bytes is the image as stored.
func (w *imageWriter) bytes() ([]byte, error) {
	var buf bytes.Buffer
	if err := gob.NewEncoder(&buf).Encode(&w.image); err != nil {
		return nil, fmt.Errorf("kernel: snapshot: %w", err)
	}
	stored := append(slices.Clone(w.Spaces), w.Objects) // as they were added
	at := guest.PageUp(uint64(snapHeader + buf.Len()))
	out := append(make([]byte, 0, at+w.stored*guest.PageSize), snapMagic...)
	out = append(out, make([]byte, 4)...)
	out = binary.LittleEndian.AppendUint64(out, uint64(buf.Len()))
	out = append(out, buf.Bytes()...)
	out = append(out, make([]byte, int(at)-len(out))...)
	for _, sp := range stored {
		for _, g := range sp.made {
			out = append(out, g[:]...)
		}
	}
	binary.LittleEndian.PutUint32(out[len(snapMagic):], crc32.Checksum(out[len(snapMagic)+4:], crcTable))
	return out, nil
}

// imagesOf are the objects of a table, ascending.
func imagesOf[T any](t *table[T]) (out []objectImage[T]) {
	for i := range t.rows {
		if v := t.get(i); v != nil {
			out = append(out, objectImage[T]{i, *v})
		}
	}
	return out
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

func (w *imageWriter) space(m *mem.Space) (sp spaceImage, err error) {
	for _, a := range m.Areas() {
		sp.Areas = append(sp.Areas, areaImage{a.Start, a.End, a.Off, a.Prot, w.back(a.Back), a.Name, a.Shared, a.ReadOnly, a.Obj})
	}
	symbolic := false
	m.EachSym(func(uint64, expr.Ref, byte) { symbolic = true })
	if symbolic {
		return sp, errors.New("symbolic memory")
	}
	var page uint64 // what made has a part of
	var made [perPage]*[mem.GranuleSize]byte
	end := func() {
		if made != [perPage]*[mem.GranuleSize]byte{} {
			w.page(m, &sp, page, made)
		}
		clear(made[:])
	}
	m.EachGranule(func(addr uint64, data *[mem.GranuleSize]byte) {
		if at := guest.PageDown(addr); at != page {
			end()
			page = at
		}
		made[addr%guest.PageSize/mem.GranuleSize] = data
	})
	end()
	return sp, nil
}

// page adds the page at address at, of which the granules made have been made.
func (w *imageWriter) page(m *mem.Space, sp *spaceImage, at uint64, made [perPage]*[mem.GranuleSize]byte) {
	next := pageRun{At: at, N: 1, First: w.stored}
	if first, ok := w.inBase(m, at); ok {
		next.First, next.Base = first, true
	} else {
		differs := false
		for i, g := range made {
			first := m.Initial(at + uint64(i)*mem.GranuleSize)
			if g == nil {
				made[i] = first
			} else {
				differs = differs || *g != *first
			}
		}
		if !differs {
			return
		}
		sp.made = append(sp.made, made[:]...)
		w.stored++
	}
	if n := len(sp.Pages); n > 0 {
		last := &sp.Pages[n-1]
		if last.Base == next.Base && last.At+last.N*guest.PageSize == at && last.First+last.N == next.First {
			last.N++
			return
		}
	}
	sp.Pages = append(sp.Pages, next)
}

// inBase returns which page of the memory of the base stands at address at of m; false if none does.
func (w *imageWriter) inBase(m *mem.Space, at uint64) (first uint64, ok bool) {
	if w.base == nil {
		return 0, false
	}
	off, ok := m.Shown(at, w.base.memory)
	for i := uint64(1); i < perPage && ok; i++ {
		var next uint64
		next, ok = m.Shown(at+i*mem.GranuleSize, w.base.memory)
		ok = ok && next == off+i*mem.GranuleSize
	}
	return off / guest.PageSize, ok && off%guest.PageSize == 0
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
			return ni, errors.New("symbolic bytes in a file")
		}
		ni.PageAt = append(ni.PageAt, k)
		ni.PageData = append(ni.PageData, g.Data[:]...)
	}
	return ni, nil
}

// errCorrupt is what a damaged snapshot gives.
var errCorrupt = errors.New("kernel: damaged snapshot")

// Unmarshal makes a system from what Marshal returned. cfg must be what the
// marshalled system was booted with, and the files it names unchanged. data must not change afterwards.
func Unmarshal(data []byte, cfg Config) (*System, error) {
	st, err := Open(data)
	if err != nil {
		return nil, err
	}
	return st.System(nil, cfg)
}

// Open looks whether data is a whole snapshot. It must not change afterwards, and be there for as long as Memory is in use.
func Open(data []byte) (*Stored, error) {
	if len(data) < snapHeader || string(data[:len(snapMagic)]) != snapMagic {
		return nil, errors.New("kernel: not a snapshot of this version")
	}
	if binary.LittleEndian.Uint32(data[len(snapMagic):]) != crc32.Checksum(data[len(snapMagic)+4:], crcTable) {
		return nil, errCorrupt
	}
	n, most := binary.LittleEndian.Uint64(data[len(snapMagic)+4:]), uint64(len(data)-snapHeader)
	if n > most || guest.PageUp(uint64(snapHeader)+n) > uint64(len(data)) {
		return nil, errCorrupt
	}
	image, memory := data[snapHeader:][:n], data[guest.PageUp(uint64(snapHeader)+n):]
	sum := sha256.Sum256(data[:uint64(snapHeader)+n]) // with the checksum of all
	return &Stored{hex.EncodeToString(sum[:]), image, &mem.Backing{Name: "snapshot", Data: memory}}, nil
}

// System makes the system of st as Unmarshal does; base is what it was marshalled on.
func (st *Stored) System(base *Stored, cfg Config) (*System, error) {
	var im image
	if gob.NewDecoder(bytes.NewReader(st.image)).Decode(&im) != nil {
		return nil, errCorrupt
	}
	if im.Base != base.ID() {
		return nil, errors.New("kernel: snapshot on another one")
	}
	if cfg.Host == nil {
		cfg.Host = NewHost()
	}
	s := newSystem(&cfg)
	s.calls, s.opened, s.looked = im.Calls, im.Opened, im.Looked
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
	if s.objects, err = im.Objects.restore(back, nil, st, base); err != nil {
		return nil, err
	}
	var spaces []*mem.Space
	for _, sp := range im.Spaces {
		m, err := sp.restore(back, s.objects, st, base)
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
	s.cost = im.Cost // of the path, not of what has been done here
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
func (sp *spaceImage) restore(back backOf, objects *mem.Space, own, base *Stored) (*mem.Space, error) {
	m := mem.NewSpace()
	m.Objects = objects
	for _, a := range sp.Areas {
		b, ok := back(a.Back)
		if !ok || a.Obj != 0 && (objects == nil || a.Obj%guest.PageSize != 0 || a.Obj >= guest.AddrLimit) || m.MapArea(mem.Area{Start: a.Start, End: a.End, Prot: a.Prot, Back: b, Off: a.Off, Name: a.Name, Shared: a.Shared, ReadOnly: a.ReadOnly, Obj: a.Obj}) != nil {
			return nil, errCorrupt
		}
	}
	for _, p := range sp.Pages {
		of := own
		if p.Base {
			of = base
		}
		const most = math.MaxUint64 / guest.PageSize
		if of == nil || p.N > most || p.First > most || m.Show(p.At, p.N*guest.PageSize, of.memory, p.First*guest.PageSize) != nil {
			return nil, errCorrupt
		}
	}
	return m, nil
}

// maxObjects bounds the numbers of files, pipes and inodes in a snapshot.
const maxObjects = 1 << 20

// restoreTable fills a table; sound, if not nil, is what an object has to be.
func restoreTable[T any](t *table[T], owner uint64, images []objectImage[T], sound func(*T) bool) bool {
	for _, o := range images {
		if o.At < 0 || o.At > maxObjects || sound != nil && !sound(&o.State) {
			return false
		}
		for len(t.rows) <= o.At {
			t.rows = append(t.rows, nil)
		}
		t.rows[o.At] = &row[T]{owner, &o.State}
	}
	return true
}

// backOf returns backing i of a snapshot, nil for -1; false if there is none.
type backOf func(i int) (*mem.Backing, bool)

func (s *System) restoreObjects(im *image, back backOf) bool {
	segment := func(g *segment) bool { return g.Size != 0 && g.Size <= maxData && g.Obj%guest.PageSize == 0 }
	return s.restoreNodes(im.Nodes, back) &&
		restoreTable(&s.pipes, s.owner, im.Pipes, nil) &&
		restoreTable(&s.socks, s.owner, im.Socks, nil) &&
		restoreTable(&s.segments, s.owner, im.Segments, segment) &&
		restoreTable(&s.ttys, s.owner, im.TTYs, nil) &&
		s.restoreFiles(im.Files, back) && s.socketsMatch()
}

func (s *System) restoreNodes(images []nodeImage, back backOf) bool {
	var nodes []objectImage[inode]
	for _, ni := range images {
		n, ok := ni.restore(s.owner, len(images), back)
		if !ok || ni.At < 1 {
			return false
		}
		nodes = append(nodes, objectImage[inode]{ni.At, n})
	}
	if !restoreTable(&s.nodes, s.owner, nodes, nil) {
		return false
	}
	return !slices.Contains(s.nodes.rows, nil)
}

// restore makes an inode, of at most inodes; false if the image is damaged.
func (ni *nodeImage) restore(owner uint64, inodes int, back backOf) (n inode, ok bool) {
	n = ni.State
	if n.Base, ok = back(ni.Base); !ok || len(ni.Names) != len(ni.Inodes) || len(ni.PageData) != len(ni.PageAt)*pageSize {
		return n, false
	}
	base := int64(0)
	if n.Base != nil {
		base = int64(len(n.Base.Data))
	}
	if n.Size < 0 || n.Size > maxFile || n.BaseLen < 0 || n.BaseLen > base {
		return n, false
	}
	for i, name := range ni.Names {
		if n.Ents == nil {
			n.Ents = map[string]int{}
		}
		if ni.Inodes[i] < 0 || ni.Inodes[i] > inodes {
			return n, false
		}
		n.Ents[name] = ni.Inodes[i]
	}
	for i, k := range ni.PageAt {
		if k < 0 || k > maxFile/pageSize {
			return n, false
		}
		copy(n.page(owner, k).Data[:], ni.PageData[i*pageSize:])
	}
	return n, true
}

func (s *System) restoreFiles(images []fileImage, back backOf) bool {
	var files []objectImage[file]
	for _, fi := range images {
		f, ok := fi.State, false
		if f.Back, ok = back(fi.Back); !ok {
			return false
		}
		files = append(files, objectImage[file]{fi.At, f})
	}
	return restoreTable(&s.files, s.owner, files, func(f *file) bool {
		return f.Off >= 0 && int(f.Kind) < len(kinds) && (f.Node == 0 || s.nodes.get(f.Node) != nil) && f.kind().sound(s, f)
	})
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
