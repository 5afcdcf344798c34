package probe

import (
	"bytes"
	"errors"
	"fmt"
	"slices"

	"symchef/internal/model"
)

// tryLimit is how many instructions a function may take that is only tried.
const tryLimit = 5_000

// behaves lists the functions of the image that pass a test, each in a copy of the process.
func (d *identity) behaves(test func(q *Process, fn uint64) bool) (out []uint64) {
	for _, fn := range d.img.Functions {
		q := d.p.Fork()
		q.Limit = tryLimit
		if test(q, fn.Lo) {
			out = append(out, fn.Lo)
		}
	}
	return out
}

// functions finds what works on the objects that were found, each by what it does.
func (d *identity) functions() error {
	full, err := d.newTable(8, 8)
	if err != nil {
		return err
	}
	other, err := d.newTable(4, 3)
	if err != nil {
		return err
	}
	d.places["get-string"] = d.behaves(func(q *Process, fn uint64) bool {
		return d.gets(q, fn, full, other, func(_ *Process, key uint64) uint64 { return key })
	})
	d.places["get"] = d.behaves(func(q *Process, fn uint64) bool {
		return d.gets(q, fn, full, other, func(q *Process, key uint64) uint64 { return d.tagged(q, key) })
	})
	for _, step := range []func() error{d.interns, d.equals, func() error { return d.nexts(full) }, d.parser, d.hashes} {
		if err := step(); err != nil {
			return err
		}
	}
	k := model.Of("deferred-identity")
	for _, need := range k.Places {
		if len(d.places[need]) == 0 {
			return fmt.Errorf("no function behaves as its %s", need)
		}
	}
	return nil
}

// tagged is the address of a value that is a short string.
func (d *identity) tagged(q *Process, object uint64) uint64 {
	b := make([]byte, 64) // what lies behind it is no other value
	for i := range 8 {
		b[i] = byte(object >> (8 * i))
	}
	b[8] = byte(d.n["tag"])
	return q.Put(b)
}

// gets is whether fn(table, key) is the address of the value under a key, and of no value of the table where the key is not there.
func (d *identity) gets(q *Process, fn uint64, t, other table, argument func(q *Process, key uint64) uint64) bool {
	for i, key := range t.keys {
		r := q.Fork()
		if got, err := r.Call(fn, t.at, argument(r, key)); err != nil || got != d.node(t, i) {
			return false
		}
	}
	nodes := d.p.Read(t.at+d.n["nodes"], 8)
	for _, key := range other.keys {
		r := q.Fork()
		got, err := r.Call(fn, t.at, argument(r, key))
		if err != nil || got >= nodes && got < nodes+uint64(t.size)*d.n["node-bytes"] || q.Bytes(got, 16) == nil || q.Read(got+8, 1)&0xf != 0 {
			return false
		}
	}
	return true
}

// interns finds f(state, bytes, length): the object of a content, a new one in the table of strings where there is none. Of functions
// that call each other it is the innermost.
func (d *identity) interns() error {
	text := d.fresh(7)
	known, err := d.object(text)
	if err != nil {
		return err
	}
	all := d.behaves(func(q *Process, fn uint64) bool {
		if got, err := q.Call(fn, d.state, q.Put(append(text[:7:7], 'x')), 7); err != nil || got != known {
			return false
		}
		return d.makes(q, fn)
	})
	d.places["intern"] = slices.DeleteFunc(slices.Clone(all), func(fn uint64) bool {
		deeper := false
		q := d.p.Fork()
		_, err := q.Watch(func(pc uint64) { deeper = deeper || pc != fn && slices.Contains(all, pc) }, fn, d.state, q.Put(d.fresh(7)), 7)
		return err != nil || deeper
	})
	return nil
}

// makes is whether fn makes an object of a new content, and the same one again.
func (d *identity) makes(q *Process, fn uint64) bool {
	text := d.fresh(9)
	count := d.counted(q)
	got, err := q.Call(fn, d.state, q.Put(text), 8)
	if err != nil || !bytes.Equal(q.Bytes(got+d.n["bytes"], 9), append(text[:8:8], 0)) || q.Read(got+d.n["length"], int(d.n["length-bytes"])) != 8 {
		return false
	}
	again, err := q.Call(fn, d.state, q.Put(text), 8)
	return err == nil && again == got && d.counted(q) == count+1
}

// counted is how many strings the table of strings has.
func (d *identity) counted(q *Process) uint64 {
	return q.Read(q.Read(d.state+d.n["global"], 8)+d.n["strings"]+8, 4)
}

// equals finds f(state, a, b) and f(a, b): whether two values are equal.
func (d *identity) equals() error {
	var values [][]byte // by pairs: the two of one are equal, and no others
	for i := range 3 {
		object, err := d.object(d.fresh(6))
		if err != nil {
			return err
		}
		v := d.p.Bytes(d.tagged(d.p, object), 64)
		values = append(values, v, v)
		if _, err := d.call("push-number", d.state, uint64(40+i)); err != nil {
			return err
		}
		v = append(d.p.Bytes(d.last(), int(d.value)), make([]byte, 64-d.value)...)
		values = append(values, v, v)
	}
	compares := func(q *Process, fn uint64, first ...uint64) bool {
		for i, a := range values {
			for k, b := range values {
				if a[8] != b[8] {
					continue // there may be a test before
				}
				r := q.Fork()
				got, err := r.Call(fn, append(first[:len(first):len(first)], r.Put(a), r.Put(b))...)
				if err != nil || uint32(got) != uint32(b2u(i/2 == k/2)) {
					return false
				}
			}
		}
		return true
	}
	d.places["equal"] = d.behaves(func(q *Process, fn uint64) bool { return compares(q, fn, d.state) })
	d.places["raw-equal"] = d.behaves(func(q *Process, fn uint64) bool { return compares(q, fn) })
	return d.clear()
}

func b2u(b bool) uint64 {
	if b {
		return 1
	}
	return 0
}

// nexts finds f(state, table, key): puts the next key of a table in the place of one, and its value behind it.
func (d *identity) nexts(t table) error {
	nodes := d.p.Read(t.at+d.n["nodes"], 8)
	d.places["next"] = d.behaves(func(q *Process, fn uint64) bool {
		at := q.Put(make([]byte, 64)) // nil
		for i := range uint64(t.size) {
			node := nodes + i*d.n["node-bytes"]
			got, err := q.Call(fn, d.state, t.at, at)
			if err != nil || uint32(got) != 1 || q.Read(at, 8) != q.Read(node+d.n["key"], 8) || q.Read(at+d.value, 8) != q.Read(node, 8) {
				return false
			}
		}
		got, err := q.Call(fn, d.state, t.at, at)
		return err == nil && uint32(got) == 0
	})
	return nil
}

// parser finds f(parser, bytes, length), which the parser of the language calls for each name and each text of a program.
func (d *identity) parser() error {
	words := [][]byte{d.fresh(11), d.fresh(12), d.fresh(13)}
	program := slices.Concat([]byte("local "), words[0], []byte(" = "), words[1], []byte("['"), words[2], []byte("']"))
	seen := map[uint64]map[int]bool{}
	entries := map[uint64]bool{}
	for _, fn := range d.img.Functions {
		entries[fn.Lo] = true
	}
	q := d.p.Fork()
	visit := func(pc uint64) {
		if !entries[pc] {
			return
		}
		c := &q.sys.Current().CPU
		for i, w := range words {
			if c.R[arguments[2]] == uint64(len(w)) && bytes.Equal(q.Bytes(c.R[arguments[1]], len(w)), w) && c.R[arguments[0]] != d.state {
				if seen[pc] == nil {
					seen[pc] = map[int]bool{}
				}
				seen[pc][i] = true
			}
		}
	}
	load := d.img.Export(d.names["load"])
	if load == 0 {
		return fmt.Errorf("%s is not exported", d.names["load"])
	}
	got, err := q.Watch(visit, load, d.state, q.Put(program), uint64(len(program)), q.Put([]byte("=probe")), 0)
	if err != nil {
		return err
	}
	if uint32(got) != 0 {
		return errors.New("a program text does not compile")
	}
	for _, fn := range d.img.Functions {
		if len(seen[fn.Lo]) == len(words) {
			d.places["name"] = append(d.places["name"], fn.Lo)
		}
	}
	return nil
}

// hashes finds f(string): the hash of a string that is too long to be one object, kept in it; or f(bytes, length, seed).
func (d *identity) hashes() error {
	if d.n["most"] == 0 {
		return nil
	}
	var objects []uint64
	lengths := []uint64{d.n["most"] + 13, d.n["most"] + 200}
	for _, n := range lengths {
		at, err := d.object(d.fresh(int(n)))
		if err != nil {
			return err
		}
		objects = append(objects, at)
	}
	var marks []uint64 // what says that the hash is known
	d.places["hash-long"] = d.behaves(func(q *Process, fn uint64) bool {
		var mark uint64
		for _, at := range objects {
			before := q.Bytes(at, int(d.n["bytes"]))
			got, err := q.Call(fn, at)
			after := q.Bytes(at, int(d.n["bytes"]))
			if err != nil || uint32(got) != uint32(number(after[d.n["hash"]:d.n["hash"]+4])) || uint32(got) == uint32(number(before[d.n["hash"]:d.n["hash"]+4])) {
				return false
			}
			for i := range after {
				if k := uint64(i); after[i] != before[i] && (k < d.n["hash"] || k >= d.n["hash"]+4) {
					if before[i] != 0 || after[i] != 1 || mark != 0 && mark != k {
						return false
					}
					mark = k
				}
			}
			again, err := q.Call(fn, at)
			if err != nil || uint32(again) != uint32(got) || mark == 0 {
				return false
			}
		}
		marks = append(marks, mark)
		return true
	})
	if len(marks) == 0 {
		return d.hashesOfBytes(objects[0])
	}
	d.n["hashed"] = marks[0]
	for at := uint64(8); at < d.n["bytes"]; at += 8 {
		if d.p.Read(objects[0]+at, 8) == lengths[0] && d.p.Read(objects[1]+at, 8) == lengths[1] {
			d.n["long-length"] = at
		}
	}
	return nil
}

// hashesOfBytes finds f(bytes, length, seed), which gives short strings their hashes, where the function that makes strings does not call it:
// then it is for long ones, whose field of the hash has the seed at first.
func (d *identity) hashesOfBytes(long uint64) error {
	seed := d.p.Read(long+d.n["hash"], 4)
	var short []uint64
	for range 3 {
		at, err := d.object(d.fresh(12))
		if err != nil {
			return err
		}
		short = append(short, at)
	}
	all := d.behaves(func(q *Process, fn uint64) bool {
		for _, at := range short {
			got, err := q.Call(fn, at+d.n["bytes"], 12, seed)
			if err != nil || uint32(got) != uint32(d.p.Read(at+d.n["hash"], 4)) {
				return false
			}
		}
		return true
	})
	q := d.p.Fork()
	called := false
	_, err := q.Watch(func(pc uint64) { called = called || slices.Contains(all, pc) }, d.places["intern"][0], d.state, q.Put(d.fresh(7)), 7)
	if err == nil && !called {
		d.places["hash-bytes"] = all
	}
	return err
}
