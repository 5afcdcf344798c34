// The tests compare Space with a model that is a map of pages, copied whole at a fork.
// What they check must not depend on the granule:
//
//	go test ./internal/mem
//	go test -tags granule256 ./internal/mem
//	go test -tags granule4k ./internal/mem
package mem_test

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"runtime"
	"slices"
	"testing"

	"symchef/internal/expr"
	"symchef/internal/guest"
	"symchef/internal/mem"
	"symchef/internal/seed"
)

const (
	page = guest.PageSize
	rw   = guest.ProtRead | guest.ProtWrite
	// lastPage is the last page of the 64-bit range.
	lastPage = 1<<64 - page
)

// cell is a byte of the model.
type cell struct {
	v byte
	r expr.Ref
}

// modelPage is a page of the model; it is replaced, never changed, once a fork may share it.
type modelPage struct {
	prot  guest.Prot
	cells [page]cell
}

// translation is what ReadPage or WritePage gave.
type translation struct {
	data *[mem.GranuleSize]byte
	refs *mem.Refs
}

// side is a Space with its model.
type side struct {
	s     *mem.Space
	pages map[uint64]*modelPage // by page number
	salt  uint64                // the assignment: what an expression's value is
	// cached holds direct translations, which were good at version.
	cached  map[uint64]translation
	writes  map[uint64]bool // those of cached that may be written
	version mem.Version
	reader  mem.Reader
}

// value is what expression r, opaque to package mem, is worth under an assignment.
func value(r expr.Ref, salt uint64) byte {
	return byte((uint64(r)*31 + salt) * 0x9e3779b97f4a7c15 >> 56)
}

func (d *side) fork() *side {
	f := &side{s: d.s.Fork(), pages: map[uint64]*modelPage{}, salt: d.salt}
	for n, p := range d.pages {
		q := *p
		f.pages[n] = &q
	}
	return f
}

// allows: what may be written may be read.
func allows(prot, need guest.Prot) bool {
	return prot&need == need || prot&guest.ProtWrite != 0 && (prot|guest.ProtRead)&need == need
}

// at returns the cell of addr, nil where the access faults.
func (d *side) at(addr uint64, need guest.Prot) *cell {
	p := d.pages[addr/page]
	if p == nil || !allows(p.prot, need) {
		return nil
	}
	return &p.cells[addr%page]
}

// mapped is Mapped, byte by byte.
func (d *side) mapped(addr, n uint64, need guest.Prot) bool {
	for i := range n {
		if addr+i < addr || d.at(addr+i, need) == nil {
			return false
		}
	}
	return true
}

func (d *side) hasSym(addr, n uint64) bool {
	for i := range n {
		if c := d.at(addr+i, 0); addr+i >= addr && c != nil && c.r != 0 {
			return true
		}
	}
	return false
}

func (d *side) write(addr uint64, b mem.Bytes, need guest.Prot) error {
	if !d.mapped(addr, uint64(len(b.Data)), need) {
		return mem.ErrFault
	}
	for i, v := range b.Data {
		c := d.at(addr+uint64(i), need)
		*c = cell{v: v}
		if b.Sym != nil {
			c.r = b.Sym[i]
		}
	}
	return nil
}

// regions are the pages the tests use: the lowest, some on both sides of where nodes
// of the tree meet at every granule size, and the highest.
var regions = []uint64{page, 1<<18 - 6*page, 1<<24 - 4*page, 1<<40 - 8*page, guest.AddrLimit - 10*page}

// addr returns a random address in or near a region, often next to a boundary.
func addr(r *rand.Rand) uint64 {
	a := regions[r.IntN(len(regions))] + r.Uint64N(12)*page
	switch r.IntN(3) {
	case 0:
		return a + r.Uint64N(page)
	case 1:
		return a + r.Uint64N(16)*256 + r.Uint64N(16) - 8
	}
	return a + r.Uint64N(16) - 8
}

// run returns a random page-aligned range that does not leave the address space.
func run(r *rand.Rand) (start, length uint64) {
	start = regions[r.IntN(len(regions))] + r.Uint64N(10)*page
	return start, min(1+r.Uint64N(5), (guest.AddrLimit-start)/page) * page
}

func randomBytes(r *rand.Rand, n int) []byte {
	b := make([]byte, n)
	for i := range b {
		b[i] = byte(r.Uint32())
	}
	return b
}

// symbolic returns n bytes, some with expressions.
func (d *side) symbolic(r *rand.Rand, n int) mem.Bytes {
	b := mem.Bytes{Data: randomBytes(r, n)}
	if r.IntN(4) == 0 {
		return b
	}
	b.Sym = make([]expr.Ref, n)
	for i := range b.Sym {
		if r.IntN(3) == 0 {
			b.Sym[i] = expr.Ref(1 + r.IntN(1000))
			b.Data[i] = value(b.Sym[i], d.salt)
		}
	}
	return b
}

// step does one random operation on both and returns its description; a difference is an error.
func (d *side) step(r *rand.Rand) (what string, err error) {
	a, n := addr(r), 1+r.IntN(20)
	if r.IntN(8) == 0 {
		n = 1 + r.IntN(6000)
	}
	start, length := run(r)
	prot := []guest.Prot{0, guest.ProtRead, guest.ProtWrite, rw, rw, rw, rw, rw | guest.ProtExec, guest.ProtRead | guest.ProtExec}[r.IntN(9)]
	same := func(got, want error) error {
		if (got == nil) != (want == nil) || want != nil && !errors.Is(got, want) {
			return fmt.Errorf("got error %v, want %v", got, want)
		}
		return nil
	}
	switch op := r.IntN(16); op {
	case 0, 1:
		var back *mem.Backing
		off := r.Uint64N(3) * page
		if op == 1 { // some of it beyond the end of the file
			back = &mem.Backing{Name: "file", Data: randomBytes(r, r.IntN(int(4*page)))}
		}
		for p := start; p < start+length; p += page {
			q := &modelPage{prot: prot}
			for i := range q.cells {
				if at := off + p - start + uint64(i); back != nil && at < uint64(len(back.Data)) {
					q.cells[i].v = back.Data[at]
				}
			}
			d.pages[p/page] = q
		}
		return fmt.Sprintf("map %#x+%#x %d file %v", start, length, prot, back != nil), d.s.Map(start, length, prot, back, off, "area")
	case 2:
		for p := start; p < start+length; p += page {
			delete(d.pages, p/page)
		}
		return fmt.Sprintf("unmap %#x+%#x", start, length), d.s.Unmap(start, length)
	case 3, 4:
		var want error
		if !d.mapped(start, length, 0) {
			want = mem.ErrFault
		} else {
			for p := start; p < start+length; p += page {
				d.pages[p/page].prot = prot
			}
		}
		return fmt.Sprintf("protect %#x+%#x %d", start, length, prot), same(d.s.Protect(start, length, prot), want)
	case 5, 6:
		b := d.symbolic(r, n)
		want := d.write(a, b, guest.ProtWrite)
		return fmt.Sprintf("writesym %#x+%#x", a, n), same(d.s.WriteSym(a, b), want)
	case 7:
		b := randomBytes(r, n)
		want := d.write(a, mem.Concrete(b), guest.ProtWrite)
		return fmt.Sprintf("write %#x+%#x", a, n), same(d.s.Write(a, b), want)
	case 8:
		n = 1 + r.IntN(8)
		v := r.Uint64()
		var b [8]byte
		for i := range b {
			b[i] = byte(v >> (8 * i))
		}
		want := d.write(a, mem.Concrete(b[:n]), guest.ProtWrite)
		return fmt.Sprintf("writeu %#x+%d", a, n), same(d.s.WriteU(a, v, n), want)
	case 9:
		b := randomBytes(r, n)
		want := d.write(a, mem.Concrete(b), 0)
		return fmt.Sprintf("poke %#x+%#x", a, n), same(d.s.Poke(a, b), want)
	case 10:
		d.salt = r.Uint64()
		for _, p := range d.pages {
			for i := range p.cells {
				if c := &p.cells[i]; c.r != 0 {
					c.v = value(c.r, d.salt)
				}
			}
		}
		d.s.Rebase(func(r expr.Ref) uint64 { return uint64(value(r, d.salt)) })
		return "rebase", nil
	case 11:
		if err := d.direct(r, a); err != nil || r.IntN(2) == 0 {
			return fmt.Sprintf("cached %#x", a), err
		}
		b := d.symbolic(r, n) // at once, behind the cache's back
		want := d.write(a, b, guest.ProtWrite)
		return fmt.Sprintf("cached, writesym %#x+%#x", a, n), same(d.s.WriteSym(a, b), want)
	case 12: // a granule is without symbolic bytes again, behind the cache's back
		a &^= mem.GranuleSize - 1
		if err := d.direct(r, a); err != nil {
			return fmt.Sprintf("cached %#x", a), err
		}
		b := randomBytes(r, mem.GranuleSize)
		want := d.write(a, mem.Concrete(b), guest.ProtWrite)
		return fmt.Sprintf("cached, write %#x", a), same(d.s.Write(a, b), want)
	default:
		return fmt.Sprintf("read %#x+%#x", a, n), d.compareAt(a, n)
	}
}

// forget drops the cached translations that are stale.
func (d *side) forget() {
	for _, c := range d.s.Stale(d.version, nil) {
		switch c {
		case mem.AllStale:
			clear(d.cached)
			clear(d.writes)
		case mem.WritesStale:
			clear(d.writes)
		default:
			delete(d.cached, uint64(c)/mem.GranuleSize)
			delete(d.writes, uint64(c)/mem.GranuleSize)
		}
	}
	d.version = d.s.Version()
}

// direct uses ReadPage and WritePage as a translation cache does: a pointer is
// good until it is stale, and WritePage replaces what ReadPage gave. A Reader sees what that writes.
func (d *side) direct(r *rand.Rand, a uint64) error {
	if err := d.readerAt(a, 1); err != nil {
		return err
	}
	if err := d.translate(r, a); err != nil {
		return err
	}
	return d.readerAt(a, 1)
}

func (d *side) translate(r *rand.Rand, a uint64) error {
	if d.cached == nil {
		d.cached, d.writes = map[uint64]translation{}, map[uint64]bool{}
	}
	d.forget()
	g := a / mem.GranuleSize
	p, need := d.cached[g], guest.ProtRead
	switch write := r.IntN(2) == 0; {
	case write && !d.writes[g]:
		need = guest.ProtWrite
		if p.data, p.refs = d.s.WritePage(a); p.data != nil && d.mapped(a, 1, guest.ProtRead) {
			d.cached[g], d.writes[g] = p, true
		}
	case !write && p.data == nil:
		if p.data, p.refs = d.s.ReadPage(a); p.data != nil {
			d.cached[g] = p
		}
	}
	off := a % mem.GranuleSize
	if p.data != nil && (need == guest.ProtWrite || d.writes[g]) && (p.refs == nil || p.refs[off] == 0) {
		c := d.at(a, guest.ProtWrite)
		if c == nil || d.pages[a/page].prot&guest.ProtExec != 0 {
			return fmt.Errorf("WritePage gives memory that may not be written directly")
		}
		c.v = byte(r.Uint32())
		p.data[off] = c.v
	}
	if p.data == nil {
		return nil
	}
	if !d.mapped(a, 1, need) || p.refs == nil && d.hasSym(a&^(mem.GranuleSize-1), mem.GranuleSize) {
		return fmt.Errorf("a direct translation of what faults or is symbolic")
	}
	return nil
}

// compareAt compares every way of reading [a, a+n).
func (d *side) compareAt(a uint64, n int) error {
	for _, p := range []guest.Prot{0, guest.ProtRead, guest.ProtWrite, guest.ProtExec, rw} {
		if got, want := d.s.Mapped(a, uint64(n), p), d.mapped(a, uint64(n), p); got != want {
			return fmt.Errorf("Mapped for %d: %v", p, got)
		}
	}
	if got, want := d.s.HasSym(a, uint64(n)), d.hasSym(a, uint64(n)); got != want {
		return fmt.Errorf("HasSym: %v", got)
	}
	if err := d.readerAt(a, n); err != nil {
		return err
	}
	code := make([]byte, n)
	fetched := 0
	for fetched < n && d.at(a+uint64(fetched), guest.ProtExec) != nil {
		fetched++
	}
	if got := d.s.Fetch(a, code); got != fetched {
		return fmt.Errorf("Fetch: %d bytes, want %d", got, fetched)
	}
	b, err := d.s.ReadSym(a, n)
	if readable := d.mapped(a, uint64(n), guest.ProtRead); readable != (err == nil) {
		return fmt.Errorf("ReadSym: error %v", err)
	} else if !readable {
		if _, err := d.s.ReadU(a, min(n, 8)); err == nil && !d.mapped(a, uint64(min(n, 8)), guest.ProtRead) {
			return fmt.Errorf("ReadU does not fault")
		}
		return nil
	}
	for i, v := range b.Data {
		c := d.at(a+uint64(i), 0)
		if v != c.v || i < fetched && code[i] != c.v {
			return fmt.Errorf("byte %#x: %#x, want %#x", a+uint64(i), v, c.v)
		}
		if r := c.r; (b.Sym == nil && r != 0) || (b.Sym != nil && b.Sym[i] != r) {
			return fmt.Errorf("byte %#x: wrong expression, want %d", a+uint64(i), r)
		}
	}
	if v, err := d.s.ReadU(a, min(n, 8)); err != nil || byte(v) != b.Data[0] || n >= 8 && byte(v>>56) != b.Data[7] {
		return fmt.Errorf("ReadU: %#x, %v", v, err)
	}
	return nil
}

// readerAt compares the Reader's ways of reading [a, a+n), with those of the space.
func (d *side) readerAt(a uint64, n int) error {
	d.reader.Of(d.s)
	got, want := make([]byte, n), make([]byte, n)
	err, wantErr := d.reader.Read(a, got), d.s.Read(a, want)
	if (err == nil) != (wantErr == nil) || err == nil && !bytes.Equal(got, want) {
		return fmt.Errorf("Reader.Read: %x, %v, want %x, %v", got, err, want, wantErr)
	}
	u, err := d.reader.ReadU(a, min(n, 8))
	if v, wantErr := d.s.ReadU(a, min(n, 8)); (err == nil) != (wantErr == nil) || err == nil && u != v {
		return fmt.Errorf("Reader.ReadU: %#x, %v, want %#x, %v", u, err, v, wantErr)
	}
	half, eight := n/2, min(n, 8) // whole, in two parts, and a number
	pieces := []mem.Piece{{At: a, Held: want}, {At: a, Held: want[:half]}, {At: a + uint64(half), Held: want[half:]}, {At: a, Held: want[:eight]}}
	if holds := d.reader.Holds(pieces); holds != (wantErr == nil) {
		return fmt.Errorf("Reader.Holds: %v of what is there", holds)
	}
	for i, p := range pieces {
		if len(p.Held) == 0 || wantErr != nil {
			continue
		}
		k := len(p.Held) * i / 4 // any byte of them
		p.Held = bytes.Clone(p.Held)
		p.Held[k]++
		if d.reader.Holds(slices.Concat(pieces[:i], []mem.Piece{p})) {
			return fmt.Errorf("Reader.Holds what is not there")
		}
	}
	return nil
}

// stale reports a cached translation that is not what it was, though nothing says so.
func (d *side) stale() error {
	d.forget()
	for g, p := range d.cached {
		if (p.refs != nil) != d.hasSym(g*mem.GranuleSize, mem.GranuleSize) {
			return fmt.Errorf("a cached translation of %#x does not say that it is symbolic, or does", g*mem.GranuleSize)
		}
		for i, v := range p.data {
			if c := d.at(g*mem.GranuleSize+uint64(i), 0); c == nil || c.v != v || c.r != 0 && p.refs == nil || p.refs != nil && c.r != p.refs[i] {
				return fmt.Errorf("a cached translation of %#x is stale", g*mem.GranuleSize)
			}
		}
	}
	return nil
}

// compare compares all of the space with the model.
func (d *side) compare() error {
	all := make([]byte, page)
	var symbolic []uint64
	for _, n := range slices.Sorted(maps.Keys(d.pages)) {
		p := d.pages[n]
		a := d.s.Find(n * page)
		if a == nil || a.Prot != p.prot || d.s.Find(n*page+page-1) != a {
			return fmt.Errorf("page %#x: area %+v, want protection %d", n*page, a, p.prot)
		}
		if allows(p.prot, guest.ProtRead) {
			if err := d.s.Read(n*page, all); err != nil {
				return fmt.Errorf("page %#x: %v", n*page, err)
			}
			for i, c := range p.cells {
				if all[i] != c.v {
					return fmt.Errorf("byte %#x: %#x, want %#x", n*page+uint64(i), all[i], c.v)
				}
			}
		}
		if fetched := d.s.Fetch(n*page, all); p.prot&guest.ProtExec != 0 {
			for i, c := range p.cells {
				if fetched < int(page) || all[i] != c.v {
					return fmt.Errorf("code byte %#x: %#x, want %#x", n*page+uint64(i), all[i], c.v)
				}
			}
		}
		for i, c := range p.cells {
			if c.r != 0 {
				symbolic = append(symbolic, n*page+uint64(i))
			}
		}
	}
	var err error
	d.s.EachSym(func(a uint64, r expr.Ref, v byte) {
		if c := d.at(a, 0); len(symbolic) == 0 || symbolic[0] != a || c == nil || c.r != r || c.v != v {
			err = fmt.Errorf("EachSym gives %#x: expression %d, value %#x", a, r, v)
		}
		symbolic = symbolic[min(1, len(symbolic)):]
	})
	if err == nil && len(symbolic) > 0 {
		err = fmt.Errorf("EachSym misses %#x", symbolic[0])
	}
	last, covered := uint64(0), uint64(0)
	d.s.EachGranule(func(a uint64, data *[mem.GranuleSize]byte) {
		if c := d.at(a, 0); a <= last && last != 0 || c == nil || data[0] != c.v {
			err = fmt.Errorf("EachGranule gives %#x after %#x", a, last)
		}
		last = a
	})
	end := uint64(0)
	for _, a := range d.s.Areas() {
		if a.Start < end || a.Start >= a.End || a.Start%page != 0 || a.End%page != 0 {
			return fmt.Errorf("area %+v after %#x", a, end)
		}
		end, covered = a.End, covered+(a.End-a.Start)/page
	}
	if covered != uint64(len(d.pages)) {
		return fmt.Errorf("%d pages are mapped, want %d", covered, len(d.pages))
	}
	return err
}

// code returns the executable bytes of the model.
func (d *side) code() string {
	var b bytes.Buffer
	for _, n := range slices.Sorted(maps.Keys(d.pages)) {
		if p := d.pages[n]; p.prot&guest.ProtExec != 0 {
			fmt.Fprintf(&b, "%x:", n)
			for _, c := range p.cells {
				b.WriteByte(c.v)
			}
		}
	}
	return b.String()
}

// TestRandomOperations runs random operations on a family of forks, each against its model.
func TestRandomOperations(t *testing.T) {
	r := seed.Rand(t)
	for range 12 {
		sides := []*side{{s: mem.NewSpace(), pages: map[uint64]*modelPage{}}}
		var trace []string
		for i := range 600 {
			k := r.IntN(len(sides))
			d := sides[k]
			what, err := "fork", error(nil)
			if r.IntN(25) == 0 {
				f := d.fork()
				if len(sides) < 4 {
					sides = append(sides, f)
				} else {
					sides[r.IntN(len(sides))] = f
				}
			} else {
				what, err = d.step(r)
			}
			trace = append(trace, fmt.Sprintf("%d: %s", k, what))
			if err == nil {
				err = d.stale()
			}
			if err == nil && i%8 == 0 {
				for j, d := range sides {
					if err = d.compare(); err != nil {
						err = fmt.Errorf("space %d: %w", j, err)
						break
					}
				}
			}
			if err != nil {
				t.Fatalf("%v\nafter %q", err, trace[max(0, len(trace)-25):])
			}
		}
		texts := map[uint64]string{}
		for _, d := range sides {
			code := d.code()
			if other, seen := texts[d.s.TextID]; seen && other != code {
				t.Fatalf("spaces with one TextID have different code, after %q", trace[max(0, len(trace)-25):])
			}
			texts[d.s.TextID] = code
		}
	}
}

// TestTextID: whatever changes executable bytes changes TextID, at once and on that side alone.
func TestTextID(t *testing.T) {
	s := mem.NewSpace()
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	must(s.Map(page, 4*page, rw|guest.ProtExec, nil, 0, ""))
	for _, c := range []struct {
		name    string
		change  func(s *mem.Space) error
		changes bool
	}{
		{"write", func(s *mem.Space) error { return s.Write(page, []byte{1}) }, true},
		{"poke", func(s *mem.Space) error { return s.Poke(page, []byte{2}) }, true},
		{"symbolic write", func(s *mem.Space) error { return s.WriteSym(page, mem.Bytes{Data: []byte{3}, Sym: []expr.Ref{7}}) }, true},
		{"unmap", func(s *mem.Space) error { return s.Unmap(4*page, page) }, true},
		{"map over", func(s *mem.Space) error { return s.Map(3*page, page, rw, nil, 0, "") }, true},
		{"map data", func(s *mem.Space) error { return s.Map(8*page, page, rw, nil, 0, "") }, false},
		{"protect", func(s *mem.Space) error { return s.Protect(2*page, page, rw) }, true},
		{"protect again", func(s *mem.Space) error { return s.Protect(2*page, page, guest.ProtRead) }, false},
		{"protect back", func(s *mem.Space) error { return s.Protect(2*page, page, guest.ProtExec) }, true},
		{"write data", func(s *mem.Space) error { return s.Write(8*page, []byte{1}) }, false},
	} {
		f := s.Fork()
		before := s.TextID
		if f.TextID != before {
			t.Fatalf("%s: a fork has another text", c.name)
		}
		must(c.change(s))
		if (s.TextID != before) != c.changes || f.TextID != before {
			t.Errorf("%s: TextID %d became %d, in the fork %d", c.name, before, s.TextID, f.TextID)
		}
	}
}

// TestEdges: accesses at the ends of the 64-bit range end, and fault.
func TestEdges(t *testing.T) {
	s := mem.NewSpace()
	if err := s.Map(guest.AddrLimit-page, page, rw, nil, 0, ""); err != nil {
		t.Fatal(err)
	}
	if err := s.WriteSym(guest.AddrLimit-1, mem.Bytes{Data: []byte{1}, Sym: []expr.Ref{5}}); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		addr, n     uint64
		mapped, sym bool
	}{
		{0, 0, true, false},
		{0, 1, false, false},
		{^uint64(0), 0, true, false},
		{^uint64(0), 1, false, false},
		{^uint64(0) - 15, 8, false, false},
		{^uint64(0) - 3, 8, false, false},
		{^uint64(0) - 4095, 4095, false, false},
		{guest.AddrLimit - 1, 1, true, true},
		{guest.AddrLimit - 2, 1, true, false},
		{guest.AddrLimit - 1, 2, false, true},
		{guest.AddrLimit - 1, ^uint64(0), false, false}, // wraps: no range at all
		{1<<63 | (guest.AddrLimit - 1), 1, false, false},
		{1<<52 | (guest.AddrLimit - 1), 1, false, false},
		{0, guest.AddrLimit, false, true},
		{0, guest.AddrLimit - 1, false, false},
		{page, 1 << 62, false, true},
	} {
		if got := s.Mapped(c.addr, c.n, guest.ProtRead); got != c.mapped {
			t.Errorf("Mapped(%#x, %#x) = %v", c.addr, c.n, got)
		}
		if got := s.HasSym(c.addr, c.n); got != c.sym {
			t.Errorf("HasSym(%#x, %#x) = %v", c.addr, c.n, got)
		}
		if c.mapped || c.n > page {
			continue
		}
		if err := s.Write(c.addr, make([]byte, c.n)); !errors.Is(err, mem.ErrFault) {
			t.Errorf("Write(%#x, %#x): %v", c.addr, c.n, err)
		}
		if _, err := s.ReadSym(c.addr, int(c.n)); !errors.Is(err, mem.ErrFault) {
			t.Errorf("ReadSym(%#x, %#x): %v", c.addr, c.n, err)
		}
	}
	for _, c := range [][2]uint64{{1, page}, {page, 1}, {page, 0}, {guest.AddrLimit, page}, {guest.AddrLimit - page, 2 * page}, {page, lastPage}, {lastPage, 2 * page}} {
		if s.Map(c[0], c[1], rw, nil, 0, "") == nil || s.Unmap(c[0], c[1]) == nil || s.Protect(c[0], c[1], 0) == nil {
			t.Errorf("the range %#x+%#x is accepted", c[0], c[1])
		}
	}
}

// TestFindGap compares with a search page by page.
func TestFindGap(t *testing.T) {
	r := seed.Rand(t)
	for range 300 {
		s := mem.NewSpace()
		base := uint64(64 * page)
		for range r.IntN(8) {
			if err := s.Map(base+r.Uint64N(30)*page, (1+r.Uint64N(3))*page, rw, nil, 0, ""); err != nil {
				t.Fatal(err)
			}
		}
		length, limit := (1+r.Uint64N(6))*page, base+r.Uint64N(40)*page+r.Uint64N(page)
		want := guest.PageDown(limit) - length
		for want < guest.AddrLimit {
			busy := false
			for p := want; p < want+length; p += page {
				busy = busy || s.Find(p) != nil
			}
			if !busy {
				break
			}
			want -= page
		}
		if got := s.FindGap(length, limit); got != want {
			t.Fatalf("FindGap(%#x, %#x) = %#x, want %#x; areas %v", length, limit, got, want, s.Areas())
		}
	}
	for _, length := range []uint64{guest.AddrLimit, 1 << 63, lastPage} {
		if got := mem.NewSpace().FindGap(length, guest.AddrLimit); got != 0 {
			t.Errorf("FindGap(%#x) = %#x", length, got)
		}
	}
}

// TestRebaseMemory moves a megabyte of symbolic bytes to other values, all of which change: what is owned already is written in place, so nothing
// grows with their number.
func TestRebaseMemory(t *testing.T) {
	const size = 1 << 20
	s := mem.NewSpace()
	if err := s.Map(page, size, rw, nil, 0, ""); err != nil {
		t.Fatal(err)
	}
	b := mem.Bytes{Data: make([]byte, size), Sym: make([]expr.Ref, size)}
	for i := range b.Sym {
		b.Sym[i] = 1
	}
	if err := s.WriteSym(page, b); err != nil {
		t.Fatal(err)
	}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	s.Rebase(func(expr.Ref) uint64 { return 7 })
	runtime.ReadMemStats(&after)
	if n := after.TotalAlloc - before.TotalAlloc; n > size/2 {
		t.Errorf("%d bytes were allocated to move %d symbolic bytes", n, size)
	}
	got := make([]byte, size)
	if err := s.Read(page, got); err != nil || bytes.Count(got, []byte{7}) != size {
		t.Errorf("%d of %d bytes have the new value, %v", bytes.Count(got, []byte{7}), size, err)
	}
}
