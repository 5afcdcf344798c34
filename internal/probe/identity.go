package probe

import (
	"bytes"
	"errors"
	"fmt"
	"slices"

	"symchef/internal/model"
)

// identity is a search for strings of which there is one object per content, and for tables that compare those by address. The interpreter has
// states; a state has a stack of values, and functions take from its top, and leave there.
type identity struct {
	api
	state  uint64
	height uint64 // offset, in a state, of the address behind the topmost value
	value  uint64 // bytes of a value
	n      map[string]uint64
	places map[string][]uint64
	serial int
}

// findIdentity finds places and numbers of a deferred-identity: of the interpreter in img, whose process p stands at its entry point.
func findIdentity(p *Process, img *Image, b *model.Binding) error {
	d := &identity{api: api{p, img, b.Functions}, n: map[string]uint64{}, places: map[string][]uint64{}}
	for _, step := range []func() error{d.newState, d.strings, d.longest, d.tableOfStrings, d.tables, d.functions} {
		if err := step(); err != nil {
			return err
		}
	}
	b.Numbers, b.Places = d.n, d.places
	return nil
}

// stateSize is how much of a state, or of another structure that is no array, is looked at.
const stateSize = 0x400

// newState makes a state and finds the top of its stack: what grows by the same with each value.
func (d *identity) newState() error {
	var err error
	if d.state, err = d.call("new-state"); err != nil {
		return err
	}
	if d.state == 0 {
		return errors.New("there is no state")
	}
	var tops [3][]byte
	for i := range tops {
		if i > 0 {
			if _, err := d.call("push-number", d.state, 7); err != nil {
				return err
			}
		}
		tops[i] = d.p.Bytes(d.state, 0x100)
	}
	for at := uint64(0); tops[0] != nil && at+8 <= uint64(len(tops[0])); at += 8 {
		a, b, c := number(tops[0][at:at+8]), number(tops[1][at:at+8]), number(tops[2][at:at+8])
		if b-a == c-b && (b-a == 8 || b-a == 16) && d.p.Bytes(a, 16) != nil {
			d.height, d.value = at, b-a
			if err := d.stopCollecting(); err != nil {
				return err
			}
			return d.clear()
		}
	}
	return errors.New("no stack of values was found")
}

// What the function collect is asked for.
const (
	gcStop  = 0 // that nothing is collected
	gcCount = 3 // how many KiB there are
)

// stopCollecting sees to it that nothing is collected. That the function is the one for that is seen by what it says of a long string.
func (d *identity) stopCollecting() error {
	const kib = 64
	var counts [2]uint64
	for i := range counts {
		if i > 0 {
			if _, err := d.push(d.fresh(kib << 10)); err != nil {
				return err
			}
		}
		var err error
		if _, err = d.call("collect", d.state, gcStop, 0); err != nil {
			return err
		}
		if counts[i], err = d.call("collect", d.state, gcCount, 0); err != nil {
			return err
		}
	}
	if more := int32(counts[1] - counts[0]); more < kib || more > 2*kib {
		return fmt.Errorf("%s does not tell how much memory a string of %s takes", d.names["collect"], d.names["push-string"])
	}
	return nil
}

// last is the address of the topmost value.
func (d *identity) last() uint64 { return d.p.Read(d.state+d.height, 8) - d.value }

// fresh is a text of n bytes, at least 3, that was not there before. It is no name that a language keeps for itself.
func (d *identity) fresh(n int) []byte {
	d.serial++
	text := []byte(fmt.Sprintf("q%02x", d.serial))
	for len(text) < n {
		text = append(text, byte('a'+(len(text)*7+d.serial)%26))
	}
	return text
}

// push pushes a string and returns its object. More bytes follow it where it is taken from.
func (d *identity) push(text []byte) (uint64, error) {
	longer := append(slices.Clone(text), "?!"...)
	from := d.p.Put(longer)
	if _, err := d.call("push-string", d.state, from, uint64(len(text))); err != nil {
		return 0, err
	}
	at := d.p.Read(d.last(), 8)
	if at != from && bytes.Contains(d.p.Bytes(at, headerSize+len(longer)), longer) {
		return 0, fmt.Errorf("%s: it does not take only as many bytes as it is told", d.names["push-string"])
	}
	return at, nil
}

// clear drops all values. Nothing is collected.
func (d *identity) clear() error {
	_, err := d.call("set-height", d.state, 0)
	return err
}

// object makes a string that is not on the stack.
func (d *identity) object(text []byte) (uint64, error) {
	at, err := d.push(text)
	return at, errors.Join(err, d.clear())
}

// only is the one member of a list.
func only[T any](what string, list []T) (T, error) {
	if len(list) != 1 {
		var none T
		return none, fmt.Errorf("%s: %d places fit: %+v", what, len(list), list)
	}
	return list[0], nil
}

// headerSize is more than an object has before its bytes.
const headerSize = 64

// strings finds the fields of short strings: tag, kind, bytes, length.
func (d *identity) strings() error {
	lengths := []int{3, 4, 5, 9, 17, 33}
	var headers [][]byte
	for i, n := range lengths {
		text := d.fresh(n)
		at, err := d.push(text)
		if err != nil {
			return err
		}
		header := d.p.Bytes(at, headerSize+n)
		off := bytes.Index(header, text)
		tag := d.p.Read(d.last()+8, 1)
		if off < 16 {
			return errors.New("a string's bytes are not in its object")
		}
		if i > 0 && (uint64(off) != d.n["bytes"] || tag != d.n["tag"] || uint64(header[8]) != d.n["kind"]) {
			return errors.New("short strings are not alike")
		}
		d.n["bytes"], d.n["tag"], d.n["kind"] = uint64(off), tag, uint64(header[8])
		headers = append(headers, header[:off])
		if err := d.clear(); err != nil {
			return err
		}
	}
	for _, width := range []uint64{8, 4, 1} {
		var found []uint64
		for at := uint64(8); at+width <= d.n["bytes"]; at += width {
			if !slices.ContainsFunc(headers, func(h []byte) bool {
				return number(h[at:at+width]) != uint64(lengths[slices.IndexFunc(headers, func(x []byte) bool { return &x[0] == &h[0] })])
			}) {
				found = append(found, at)
			}
		}
		if len(found) == 1 {
			d.n["length"], d.n["length-bytes"] = found[0], width
			return nil
		}
	}
	return errors.New("no field of strings is their length")
}

// number is little-endian.
func number(b []byte) (v uint64) {
	for i := range b {
		v |= uint64(b[i]) << (8 * i)
	}
	return v
}

// longest finds how long strings may be of which there is one object.
func (d *identity) longest() error {
	one := func(n int) (bool, error) {
		text := d.fresh(n)
		a, err1 := d.object(text)
		b, err2 := d.object(text)
		return a == b, errors.Join(err1, err2)
	}
	if short, err := one(4); err != nil || !short {
		return errors.Join(err, errors.New("equal strings are not one object"))
	}
	if all, err := one(1000); err != nil || all {
		return err
	}
	lo, hi := 4, 1000
	for hi-lo > 1 {
		mid := (lo + hi) / 2
		if yes, err := one(mid); err != nil {
			return err
		} else if yes {
			lo = mid
		} else {
			hi = mid
		}
	}
	d.n["most"] = uint64(lo)
	return nil
}

// tableOfStrings finds the table in which strings are looked for by content: from the state by a pointer, there buckets, and how many
// strings and buckets there are. A string is in the bucket of its hash, in a chain.
func (d *identity) tableOfStrings() error {
	var objects []uint64
	for range 100 {
		at, err := d.object(d.fresh(6))
		if err != nil {
			return err
		}
		objects = append(objects, at)
	}
	type fit struct{ global, strings, hash, chain uint64 }
	thread, err := d.call("new-thread", d.state)
	if err != nil {
		return err
	}
	var fits []fit
	for g := uint64(0); g < 0x100; g += 8 {
		global := d.p.Read(d.state+g, 8)
		if global != d.p.Read(thread+g, 8) {
			continue
		}
		for o := uint64(0); global != 0 && o < stateSize; o += 8 {
			buckets, count, size := d.p.Read(global+o, 8), d.p.Read(global+o+8, 4), d.p.Read(global+o+12, 4)
			if size < 16 || size&(size-1) != 0 || count == 0 || count > size || d.p.Bytes(buckets, int(size)*8) == nil {
				continue
			}
			for hash := uint64(8); hash < d.n["bytes"]; hash += 4 {
				for chain := uint64(0); chain < d.n["bytes"]; chain += 8 {
					if !slices.ContainsFunc(objects, func(at uint64) bool { return !d.chained(at, buckets, size, hash, chain) }) {
						fits = append(fits, fit{g, o, hash, chain})
					}
				}
			}
		}
	}
	f, err := only("the table of strings", fits)
	if err == nil {
		d.n["global"], d.n["strings"], d.n["hash"], d.n["chain"] = f.global, f.strings, f.hash, f.chain
	}
	return err
}

// chained is whether an object is in the chain of its bucket.
func (d *identity) chained(object, buckets, size, hash, chain uint64) bool {
	at := d.p.Read(buckets+8*(d.p.Read(object+hash, 4)&(size-1)), 8)
	for range 64 {
		if at == 0 || at == object {
			break
		}
		at = d.p.Read(at+chain, 8)
	}
	return at == object
}

// table is a table of the interpreter with the values 1000, 1001, ... under its keys.
type table struct {
	at    uint64
	size  int      // nodes
	keys  []uint64 // objects
	under []uint64 // what is under them, as a number of 8 bytes
}

// newTable makes a table with room for so many keys, and so many short strings for keys.
func (d *identity) newTable(size, keys int) (t table, err error) {
	t.size = size
	if _, err = d.call("new-table", d.state, 0, uint64(size)); err != nil {
		return t, err
	}
	t.at = d.p.Read(d.last(), 8)
	for i := range keys {
		key, err := d.push(d.fresh(5))
		if err == nil {
			_, err = d.call("push-number", d.state, uint64(1000+i))
		}
		t.under = append(t.under, d.p.Read(d.last(), 8))
		if err == nil {
			_, err = d.call("set", d.state, minus(3))
		}
		if err != nil {
			return t, err
		}
		t.keys = append(t.keys, key)
	}
	return t, d.clear()
}

func minus(n int) uint64 { return uint64(-int64(n)) }

// tableSize bounds the structure of a table that is looked at.
const tableSize = 0x60

// tables finds the nodes of tables: pairs of a key and a value, which begin with the value, as many as a power of two, linked to chains.
func (d *identity) tables() error {
	var all []table
	for log := range 6 {
		t, err := d.newTable(1<<log, 1<<log)
		if err != nil {
			return err
		}
		all = append(all, t)
	}
	var parts []table
	for _, keys := range []int{1, 3, 9} {
		t, err := d.newTable(16, keys)
		if err != nil {
			return err
		}
		parts = append(parts, t)
	}
	if err := d.nodes(all[4], parts); err != nil {
		return err
	}
	var logs, tags []uint64
	for at := uint64(8); at < tableSize; at++ {
		fits := true
		for log, t := range all {
			fits = fits && d.p.Read(t.at+at, 1) == uint64(log)
		}
		if fits {
			logs = append(logs, at)
		}
	}
	for at := uint64(9); at < d.n["node-bytes"]; at++ {
		fits := true
		for _, t := range all {
			for i := range t.keys {
				fits = fits && d.p.Read(d.node(t, i)+at, 1) == d.n["tag"]
			}
		}
		if fits {
			tags = append(tags, at)
		}
	}
	var err1, err2 error
	d.n["log"], err1 = only("the number of nodes", logs)
	d.n["key-tag"], err2 = only("the tag of a key", tags)
	if err := errors.Join(err1, err2); err != nil {
		return err
	}
	return d.links(all)
}

// nodes finds where a table keeps its nodes, in a full one and in some of the same size that are not.
func (d *identity) nodes(full table, parts []table) error {
	type fit struct{ nodes, key, size uint64 }
	var fits []fit
	for at := uint64(8); at < tableSize; at += 8 {
		all := d.offsets(full, at)
		if len(all) != full.size {
			continue
		}
		f, good := fit{at, all[0], all[1] - all[0]}, true
		for _, t := range append(parts, full) {
			where, nodes := d.offsets(t, at), d.p.Read(t.at+at, 8)
			good = good && len(where) == len(t.keys) && !slices.ContainsFunc(where, func(off uint64) bool {
				key := slices.Index(t.keys, d.p.Read(nodes+off, 8))
				return off < f.key || (off-f.key)%f.size != 0 || off/f.size >= uint64(t.size) || d.p.Read(nodes+off-f.key, 8) != t.under[key]
			})
		}
		if good {
			fits = append(fits, f)
		}
	}
	f, err := only("the nodes of a table", fits)
	if err == nil {
		d.n["nodes"], d.n["key"], d.n["node-bytes"] = f.nodes, f.key, f.size
	}
	return err
}

// offsets is where the keys of a table are behind the address at a place of the table, sorted.
func (d *identity) offsets(t table, at uint64) (where []uint64) {
	nodes := d.p.Read(t.at+at, 8)
	for off := uint64(0); nodes != 0 && len(where) < len(t.keys) && off < uint64(t.size*headerSize); off += 8 {
		if slices.Contains(t.keys, d.p.Read(nodes+off, 8)) {
			where = append(where, off)
		}
	}
	return where
}

// node is the address of the node of a table's i-th key.
func (d *identity) node(t table, i int) uint64 {
	nodes := d.p.Read(t.at+d.n["nodes"], 8)
	for k := range uint64(t.size) {
		if at := nodes + k*d.n["node-bytes"]; d.p.Read(at+d.n["key"], 8) == t.keys[i] {
			return at
		}
	}
	return 0
}

// links finds how nodes are chained: by an address, or by a distance in nodes.
func (d *identity) links(all []table) error {
	type fit struct {
		name string
		off  uint64
	}
	var fits []fit
	size := d.n["node-bytes"]
	for off := uint64(8); off < size; off += 4 {
		for _, name := range []string{"next", "next-address"} {
			if name == "next-address" && (off%8 != 0 || off+8 > size) {
				continue
			}
			after := func(node uint64) uint64 {
				if name == "next-address" {
					return d.p.Read(node+off, 8)
				}
				by := int64(int32(d.p.Read(node+off, 4)))
				if by == 0 {
					return 0
				}
				return node + uint64(by)*size
			}
			if d.reaches(all, after) {
				fits = append(fits, fit{name, off})
			}
		}
	}
	f, err := only("the chain of a table's nodes", fits)
	if err == nil {
		d.n[f.name] = f.off
	}
	return err
}

// reaches is whether every key is reached from the node of its hash.
func (d *identity) reaches(all []table, after func(uint64) uint64) bool {
	for _, t := range all {
		n := uint64(t.size)
		nodes := d.p.Read(t.at+d.n["nodes"], 8)
		for _, key := range t.keys {
			at := nodes + d.p.Read(key+d.n["hash"], 4)&(n-1)*d.n["node-bytes"]
			for range n {
				if at == 0 || d.p.Read(at+d.n["key"], 8) == key {
					break
				}
				at = after(at)
			}
			if at == 0 || d.p.Read(at+d.n["key"], 8) != key {
				return false
			}
		}
	}
	return true
}
