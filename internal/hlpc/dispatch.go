package hlpc

import (
	"cmp"
	"encoding/binary"
	"fmt"
	"maps"
	"slices"

	"symchef/internal/guest"
	"symchef/internal/interp"
)

// Level says how well a Dispatch explains the branch.
type Level int

// The levels.
const (
	Unexplained Level = iota // no opcode was found
	Opcodes                  // the target is a function of the opcode
	Table                    // the target is what a table in memory holds for the opcode
	Direct                   // the target stands in the code itself
)

// Dispatch says how a branch's target comes from the code that the program counter points to.
type Dispatch struct {
	Level Level `json:"-"`
	// Delta is where the opcode stands, from the place's value.
	Delta int64 `json:"delta"`
	// Bits is the opcode's width: the low bits of a little-endian word. 64: Direct.
	Bits int `json:"bits"`
	// Base is the table's address less the module's bias where Relocated, else an absolute address.
	Base uint64 `json:"table,omitempty"`
	// Relocated: the table lies in the module of the branch.
	Relocated bool `json:"in_module,omitempty"`
	// Entry is the size of a table entry: 8 is an address, 4 a distance from Base.
	Entry int `json:"entry,omitempty"`
	// Share of the events that this explains.
	Share float64 `json:"share"`
}

// reach is how far around a place's value the opcode is looked for, in bytes.
const reach = 64

// Opcode prints the opcode as an expression over pc, the place's value plus shift.
func (d Dispatch) Opcode(shift int64) string {
	at := "pc"
	if off := d.Delta - shift; off != 0 {
		at += signed(off)
	}
	switch {
	case d.Level == Unexplained:
		return "unknown"
	case d.Level == Direct:
		return "handler address in u64[" + at + "]"
	case d.Bits == 8:
		return "u8[" + at + "]"
	case d.Bits == 16:
		return "u16[" + at + "]"
	case d.Bits < 8:
		return fmt.Sprintf("u8[%s] & %#x", at, 1<<d.Bits-1)
	}
	return fmt.Sprintf("u32[%s] & %#x", at, uint64(1)<<d.Bits-1)
}

// size is that of the word, in bytes.
func (d Dispatch) size() int {
	n := 1
	for 8*n < d.Bits {
		n *= 2
	}
	return n
}

// mask selects the opcode from a word.
func (d Dispatch) mask() uint64 { return ^uint64(0) >> (64 - d.Bits) }

// sample is an event with the memory around the place's value.
type sample struct {
	near   [2 * reach]byte // from value-reach on
	target uint64
}

func (s *sample) word(delta int64) uint64 { return binary.LittleEndian.Uint64(s.near[reach+delta:]) }

func samples(b *Branch, i int) []sample {
	var out []sample
	for _, name := range slices.Sorted(maps.Keys(b.Windows)) {
		w := b.Windows[name]
		for k := range w.Events {
			s := sample{target: w.Events[k].Target}
			if w.Before.Read(w.Events[k].Vals[i]-reach, s.near[:]) == nil {
				out = append(out, s)
			}
		}
	}
	return out
}

// explain finds how the targets of b depend on what place i points to: the opcode's place and width
// are those for which a table in memory holds all the targets.
func explain(b *Branch, i int) Dispatch {
	all := samples(b, i)
	targets := map[uint64]bool{}
	for k := range all {
		targets[all[k].target] = true
	}
	if len(all) == 0 || len(targets) < 4 {
		return Dispatch{}
	}
	if d := direct(all); d.Share > 0.7 {
		return d
	}
	var best Dispatch
	var t *tables
	for _, delta := range deltas() {
		for _, bits := range []int{16, 8, 7, 6, 5} {
			d, pairs := function(all, delta, bits)
			if d.Share < 0.75 || len(pairs) < 4 {
				continue
			}
			if t == nil {
				t = newTables(b, targets)
			}
			d = t.find(d, pairs, b.Bias, all)
			if d.Level == Opcodes && len(pairs) > 2*len(targets) {
				continue // as many opcodes as values: explains nothing
			}
			if d.Level > best.Level || d.Level == best.Level && d.Share > best.Share+0.005 {
				best = d
			}
		}
	}
	return best
}

// deltas are the places of the opcode, the nearest first.
func deltas() []int64 {
	out := []int64{0}
	for d := int64(1); d <= reach-24; d++ {
		out = append(out, -d, d)
	}
	return out
}

// direct looks for the target itself.
func direct(all []sample) (best Dispatch) {
	for _, delta := range deltas() {
		hits := 0
		for k := range all {
			if all[k].word(delta) == all[k].target {
				hits++
			}
		}
		if share := float64(hits) / float64(len(all)); share > best.Share+0.005 {
			best = Dispatch{Level: Direct, Delta: delta, Bits: 64, Share: share}
		}
	}
	return best
}

// function tries an opcode: its share is that of events whose target is the opcode's most frequent one.
func function(all []sample, delta int64, bits int) (Dispatch, map[uint64]uint64) {
	d := Dispatch{Level: Opcodes, Delta: delta, Bits: bits}
	count := map[[2]uint64]int{}
	for k := range all {
		count[[2]uint64{all[k].word(delta) & d.mask(), all[k].target}]++
	}
	most, pairs, hits := map[uint64]int{}, map[uint64]uint64{}, 0
	for p, n := range count {
		if n > most[p[0]] || n == most[p[0]] && p[1] < pairs[p[0]] {
			most[p[0]], pairs[p[0]] = n, p[1]
		}
	}
	for _, n := range most {
		hits += n
	}
	d.Share = float64(hits) / float64(len(all))
	return d, pairs
}

// tables is the memory in which a dispatch table may stand: the data of the branch's module, then
// what is writable.
type tables struct {
	sources []tableSource
	at      map[uint64][]uint64 // where targets stand as addresses
	near    []distance          // words of the module that may lead from a table to a target, by sum
}

// distance is a word that may be an entry of a table of 32-bit distances from the table's base: sum is the word and
// the address at which it stands, which is the target and four times the opcode.
type distance struct {
	sum, at uint64
	source  int
}

type tableSource struct {
	base, size uint64
	memory     Memory // where it is
	module     bool
}

// maxTables bounds how much memory is searched for a table, in bytes; so many are looked at together.
const (
	maxTables = 64 << 20
	tablePart = 256 << 10
)

func newTables(b *Branch, targets map[uint64]bool) *tables {
	t := &tables{at: map[uint64][]uint64{}}
	w := b.Windows[interp.WindowLong]
	sorted := slices.Sorted(maps.Keys(targets))
	lo, hi := sorted[0], sorted[len(sorted)-1]+4<<16 // opcodes have 16 bits at most
	buf := make([]byte, tablePart)
	for _, module := range []bool{true, false} {
		total := uint64(0)
		for _, a := range w.Before.Areas() {
			n := a.End - a.Start
			if (a.Name == b.Function.Module) != module || !module && (a.Prot&guest.ProtWrite == 0 || a.Prot&guest.ProtExec != 0) || total+n > maxTables {
				continue
			}
			if _, err := w.Before.ReadU(a.End-8, 8); err != nil {
				continue
			}
			total += n
			t.sources = append(t.sources, tableSource{a.Start, n, w.Before, module})
			for from := a.Start; from < a.End; from += tablePart {
				part := buf[:min(tablePart, a.End-from)]
				if w.Before.Read(from, part) == nil {
					t.scan(from, part, targets, module, lo, hi)
				}
			}
		}
	}
	slices.SortStableFunc(t.near, func(x, y distance) int { return cmp.Compare(x.sum, y.sum) })
	return t
}

// scan looks for targets in the data at from, part of the last source.
func (t *tables) scan(from uint64, data []byte, targets map[uint64]bool, module bool, lo, hi uint64) {
	for off := 0; off+8 <= len(data); off += 8 {
		if v := binary.LittleEndian.Uint64(data[off:]); targets[v] {
			t.at[v] = append(t.at[v], from+uint64(off))
		}
	}
	for off := 0; module && off+4 <= len(data); off += 4 {
		at := from + uint64(off)
		if sum := at + uint64(int64(int32(binary.LittleEndian.Uint32(data[off:])))); sum-lo <= hi-lo {
			t.near = append(t.near, distance{sum, at, len(t.sources) - 1})
		}
	}
}

// find looks for a table that holds the target of nearly every opcode in pairs; it sets the share of
// all that the table explains.
func (t *tables) find(d Dispatch, pairs map[uint64]uint64, bias uint64, all []sample) Dispatch {
	ops := slices.Sorted(maps.Keys(pairs))
	// Begin with the opcode whose target is shared least, so that few places match.
	shared := map[uint64]int{}
	for _, target := range pairs {
		shared[target]++
	}
	first := slices.MinFunc(ops, func(x, y uint64) int { return shared[pairs[x]] - shared[pairs[y]] })
	best, most := d, 0
	try := func(s *tableSource, base uint64, entry int) {
		hits := 0
		for _, op := range ops {
			if v, ok := s.entry(base, op, entry); ok && v == pairs[op] {
				hits++
			}
		}
		if hits <= most || hits*10 < len(ops)*8 {
			return
		}
		most = hits
		best = Dispatch{Level: Table, Delta: d.Delta, Bits: d.Bits, Base: base, Entry: entry, Relocated: s.module}
		explained := 0
		for k := range all {
			if v, ok := s.entry(base, all[k].word(d.Delta)&d.mask(), entry); ok && v == all[k].target {
				explained++
			}
		}
		best.Share = float64(explained) / float64(len(all))
		if s.module {
			best.Base -= bias
		}
	}
	for _, at := range t.at[pairs[first]] {
		for i := range t.sources {
			if s := &t.sources[i]; at-s.base < s.size {
				try(s, at-8*first, 8)
			}
		}
	}
	if most < len(ops) {
		sum := pairs[first] + 4*first
		i, _ := slices.BinarySearchFunc(t.near, sum, func(d distance, sum uint64) int { return cmp.Compare(d.sum, sum) })
		for ; i < len(t.near) && t.near[i].sum == sum; i++ {
			try(&t.sources[t.near[i].source], t.near[i].at-4*first, 4)
		}
	}
	return best
}

// entry is what the table at base holds for op.
func (s *tableSource) entry(base, op uint64, size int) (uint64, bool) {
	off := base + op*uint64(size) - s.base
	if off >= s.size || off+uint64(size) > s.size {
		return 0, false
	}
	v, err := s.memory.ReadU(s.base+off, size)
	switch {
	case err != nil:
		return 0, false
	case size == 8:
		return v, true
	}
	return base + uint64(int64(int32(v))), true
}
