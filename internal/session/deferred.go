package session

import (
	"bytes"

	"symchef/internal/cpu"
	"symchef/internal/exec"
	"symchef/internal/expr"
	"symchef/internal/interp"
	"symchef/internal/ir"
	"symchef/internal/mem"
)

// deferredHash is the hash of every string whose identity is deferred.
const deferredHash = 0x5eed1de5

// deferred models an interpreter that keeps one object per content of a (short) string and compares them by
// address. To find that object for symbolic bytes the path would fork once per string of the same
// length. Here it does not: the bytes become an object of their own, marked by its hash, and where the
// interpreter compares addresses, contents are compared:
//
//   - intern: the stock function runs on an empty table of one bucket, so it finds nothing and makes the
//     object; on its return (at trampoline) that joins the real table under deferredHash.
//   - equal: two strings, one of them deferred, are equal if their bytes are: the result is an expression.
//   - get: a table has the key if one of its keys has the content. A deferred key is compared with every key of
//     its length; another one with the deferred keys, which share a chain. So no two keys of a table are equal.
//   - name: the interpreter's own parser compares addresses wherever it likes; its names are made concrete.
//   - hash-long, or hash-bytes: the hash of long strings, which have no such object, does not depend on their bytes.
//
// A string is deferred if it has the hash; that a string with other bytes had it too would only cost a comparison.
type deferred struct {
	n          map[string]uint64 // the description's numbers
	trampoline uint64
}

// concrete are the places of deferred-identity whose hooks do something where nothing is symbolic.
var concrete = []string{"hash-long", "hash-bytes"}

// newDeferred returns the hooks of the model, by address.
func newDeferred(md interp.Model, trampoline uint64) map[uint64]exec.Hook {
	d := &deferred{md.Numbers, trampoline}
	hooks := map[uint64]exec.Hook{md.Slot: d.intern, trampoline: d.interned, trampoline + 8: d.searched}
	for name, hook := range map[string]exec.Hook{
		"equal": func(m *exec.Machine, c *cpu.CPU, s *mem.Space) (bool, *exec.Stop) {
			return d.equal(m, c, s, ir.RSI, ir.RDX)
		},
		"raw-equal": func(m *exec.Machine, c *cpu.CPU, s *mem.Space) (bool, *exec.Stop) {
			return d.equal(m, c, s, ir.RDI, ir.RSI)
		},
		"get":          d.get,
		"get-string":   d.getString,
		"get-internal": d.getString,
		"next":         d.next,
		"name":         d.name,
		"hash-long":    d.hashLong,
		"hash-bytes":   hashLength,
	} {
		if at, ok := md.Places[name]; ok {
			hooks[at] = hook
		}
	}
	return hooks
}

// frame is what intern leaves on the stack for interned, by offset from the stack pointer: the return address, the
// saved fields of the table of strings, its address, and the one bucket in its place; and hide for searched: the first and last of
// the strings taken out.
const (
	frameFirst  = 8
	frameLast   = 16
	frameHash   = 8
	frameCounts = 16
	frameTable  = 24
	frameBucket = 32
	frameSize   = 64 // keeps the alignment of the stack
)

// intern is the entry of f(state=rdi, bytes=rsi, length=rdx).
func (d *deferred) intern(m *exec.Machine, c *cpu.CPU, s *mem.Space) (bool, *exec.Stop) {
	for _, r := range []ir.Slot{ir.RSI, ir.RDX} {
		if stop := m.Fix(c, r); stop != nil {
			return false, stop
		}
	}
	most := d.n["most"]
	n := c.R[ir.RDX]
	if n == 0 || n > 1<<30 || most > 0 && n > most {
		return false, nil
	}
	global, err := s.ReadU(c.R[ir.RDI]+d.n["global"], 8)
	if err != nil {
		return false, nil
	}
	table := global + d.n["strings"]
	hash, err1 := s.ReadU(table, 8)
	counts, err2 := s.ReadU(table+8, 8) // how many strings, how many buckets: 32 bits each
	if err1 != nil || err2 != nil {
		return false, nil
	}
	if !s.HasSym(c.R[ir.RSI], n) {
		return false, d.hide(c, s, table, bucketOf(hash, counts))
	}
	sp := c.R[ir.RSP] - frameSize
	return false, d.call(c, s, [][2]uint64{
		{sp, d.trampoline}, {sp + frameHash, hash}, {sp + frameCounts, counts}, {sp + frameTable, table}, {sp + frameBucket, 0},
		{table, sp + frameBucket}, {table + 8, 1 << 32},
	})
}

// words reads and writes memory; the first error stays.
type words struct {
	s   *mem.Space
	err error
}

func (w *words) read(addr uint64) uint64 {
	v, err := w.s.ReadU(addr, 8)
	if w.err == nil {
		w.err = err
	}
	return v
}

func (w *words) write(addr, v uint64, n int) {
	if err := w.s.WriteU(addr, v, n); w.err == nil {
		w.err = err
	}
}

func (w *words) stop(c *cpu.CPU) *exec.Stop {
	return &exec.Stop{Kind: exec.Unsupported, PC: c.PC, What: "the interpreter's strings: " + w.err.Error()}
}

// bucketOf is the address of the bucket of deferred strings.
func bucketOf(hash, counts uint64) uint64 { return hash + 8*(deferredHash&(counts>>32-1)) }

// call writes words by address, a frame below the stack among them, and makes the function return to the frame's first.
func (d *deferred) call(c *cpu.CPU, s *mem.Space, list [][2]uint64) *exec.Stop {
	w := words{s: s}
	for _, x := range list {
		w.write(x[0], x[1], 8)
	}
	if w.err != nil {
		return w.stop(c)
	}
	c.Set(ir.RSP, c.R[ir.RSP]-frameSize)
	return nil
}

// maxHidden bounds the strings of a bucket among which hide looks.
const maxHidden = 64

// hide takes the deferred strings out of their bucket while concrete bytes are looked for: the search would compare
// them byte by byte if it came to that bucket, and split the path.
func (d *deferred) hide(c *cpu.CPU, s *mem.Space, table, bucket uint64) *exec.Stop {
	w := words{s: s}
	first, last, link := uint64(0), uint64(0), bucket // link: the word that points to the string looked at
	for at, n := w.read(link), 0; at != 0 && w.err == nil && n < maxHidden; n++ {
		next := w.read(at + d.n["chain"])
		if t, ok := d.text(s, at); ok && t.deferred {
			w.write(link, next, 8)
			if last == 0 {
				first = at
			} else {
				w.write(last+d.n["chain"], at, 8)
			}
			last = at
		} else {
			link = at + d.n["chain"]
		}
		at = next
	}
	if w.err != nil {
		return w.stop(c)
	}
	if last == 0 {
		return nil
	}
	sp := c.R[ir.RSP] - frameSize
	return d.call(c, s, [][2]uint64{{sp, d.trampoline + 8}, {sp + frameFirst, first}, {sp + frameLast, last}, {sp + frameTable, table}})
}

// searched runs when the stock function has returned the string for concrete bytes in rax. The table may have grown.
func (d *deferred) searched(m *exec.Machine, c *cpu.CPU, s *mem.Space) (bool, *exec.Stop) {
	sp := c.R[ir.RSP] - 8
	w := words{s: s}
	first, last, table := w.read(sp+frameFirst), w.read(sp+frameLast), w.read(sp+frameTable)
	bucket := bucketOf(w.read(table), w.read(table+8))
	w.write(last+d.n["chain"], w.read(bucket), 8)
	w.write(bucket, first, 8)
	if w.err != nil {
		return false, w.stop(c)
	}
	c.Set(ir.RSP, sp+frameSize)
	return ret(c, s, c.R[ir.RAX]), nil
}

// interned runs when the stock function has returned the new string in rax.
func (d *deferred) interned(m *exec.Machine, c *cpu.CPU, s *mem.Space) (bool, *exec.Stop) {
	sp, str := c.R[ir.RSP]-8, c.R[ir.RAX]
	w := words{s: s}
	hash, counts, table := w.read(sp+frameHash), w.read(sp+frameCounts), w.read(sp+frameTable)
	bucket := bucketOf(hash, counts)
	w.write(table, hash, 8)
	w.write(table+8, counts+1, 8)
	w.write(str+d.n["hash"], deferredHash, 4)
	w.write(str+d.n["chain"], w.read(bucket), 8)
	w.write(bucket, str, 8)
	if w.err != nil {
		return false, w.stop(c)
	}
	c.Set(ir.RSP, sp+frameSize)
	return ret(c, s, str), nil
}

// text is a string object: its length, and whether it is deferred.
type text struct {
	at, n    uint64
	deferred bool
}

func (d *deferred) text(s *mem.Space, at uint64) (t text, ok bool) {
	n, err1 := s.ReadU(at+d.n["length"], int(d.n["length-bytes"]))
	hash, err2 := s.ReadU(at+d.n["hash"], 4)
	return text{at, n, hash == deferredHash}, err1 == nil && err2 == nil
}

// key is the string in the tagged value at addr; not ok if that is something else.
func (d *deferred) key(m *exec.Machine, c *cpu.CPU, s *mem.Space, addr uint64) (t text, ok bool, stop *exec.Stop) {
	if stop = m.FixMemory(c, s, addr+8, 1); stop != nil {
		return t, false, stop
	}
	tag, err := s.ReadU(addr+8, 1)
	if err != nil || tag != d.n["tag"] {
		return t, false, nil
	}
	if stop = m.FixMemory(c, s, addr, 8); stop != nil {
		return t, false, stop
	}
	at, err := s.ReadU(addr, 8)
	if err != nil {
		return t, false, nil
	}
	t, ok = d.text(s, at)
	return t, ok, nil
}

// same is whether two strings of one length have the same bytes: now, and as a condition.
func (d *deferred) same(m *exec.Machine, s *mem.Space, a, b text) (now bool, cond expr.Ref, ok bool) {
	x, err1 := s.ReadSym(a.at+d.n["bytes"], int(a.n))
	y, err2 := s.ReadSym(b.at+d.n["bytes"], int(a.n))
	if err1 != nil || err2 != nil {
		return false, 0, false
	}
	cond = m.Ctx.Const(1, 1)
	for i := 0; i < len(x.Data); i += 8 {
		j := min(i+8, len(x.Data))
		cond = m.Ctx.And(cond, m.Ctx.Eq(m.Word(x.Slice(i, j)), m.Word(y.Slice(i, j))))
	}
	return bytes.Equal(x.Data, y.Data), cond, true
}

// equal is f(..., a, b): whether two values are equal.
func (d *deferred) equal(m *exec.Machine, c *cpu.CPU, s *mem.Space, ra, rb ir.Slot) (bool, *exec.Stop) {
	for _, r := range []ir.Slot{ra, rb} {
		if stop := m.Fix(c, r); stop != nil {
			return false, stop
		}
	}
	a, ok, stop := d.key(m, c, s, c.R[ra])
	if !ok || stop != nil {
		return false, stop
	}
	b, ok, stop := d.key(m, c, s, c.R[rb])
	if !ok || stop != nil || a.at == b.at || a.n != b.n || !a.deferred && !b.deferred {
		return false, stop
	}
	now, cond, ok := d.same(m, s, a, b)
	if !ok {
		return false, nil
	}
	v := uint64(0)
	if now {
		v = 1
	}
	if _, isConst := m.Ctx.IsConst(cond); isConst {
		return ret(c, s, v), nil
	}
	done := ret(c, s, v)
	c.SetSym(ir.RAX, v, m.Ctx.ZExt(cond, 64))
	return done, nil
}

// get is f(table=rdi, key=rsi), key a tagged value: the address of the value under it.
func (d *deferred) get(m *exec.Machine, c *cpu.CPU, s *mem.Space) (bool, *exec.Stop) {
	if stop := m.Fix(c, ir.RSI); stop != nil {
		return false, stop
	}
	k, ok, stop := d.key(m, c, s, c.R[ir.RSI])
	if !ok || stop != nil {
		return false, stop
	}
	return d.found(m, c, s, k)
}

// getString is get where key is the string itself.
func (d *deferred) getString(m *exec.Machine, c *cpu.CPU, s *mem.Space) (bool, *exec.Stop) {
	if stop := m.Fix(c, ir.RSI); stop != nil {
		return false, stop
	}
	kind, err := s.ReadU(c.R[ir.RSI]+8, 1)
	k, ok := d.text(s, c.R[ir.RSI])
	if err != nil || kind != d.n["kind"] || !ok {
		return false, nil
	}
	return d.found(m, c, s, k)
}

func (d *deferred) found(m *exec.Machine, c *cpu.CPU, s *mem.Space, k text) (bool, *exec.Stop) {
	if stop := m.Fix(c, ir.RDI); stop != nil {
		return false, stop
	}
	node, stop := d.lookup(m, s, c, c.R[ir.RDI], k)
	if node == 0 || stop != nil {
		return false, stop
	}
	return ret(c, s, node), nil // a node begins with the value
}

// next is f(state, table=rsi, key=rdx), which looks for the key's address: it gets that of the table's own key.
func (d *deferred) next(m *exec.Machine, c *cpu.CPU, s *mem.Space) (bool, *exec.Stop) {
	for _, r := range []ir.Slot{ir.RSI, ir.RDX} {
		if stop := m.Fix(c, r); stop != nil {
			return false, stop
		}
	}
	k, ok, stop := d.key(m, c, s, c.R[ir.RDX])
	if !ok || stop != nil {
		return false, stop
	}
	node, stop := d.lookup(m, s, c, c.R[ir.RSI], k)
	if node == 0 || stop != nil {
		return false, stop
	}
	if own, err := s.ReadU(node+d.n["key"], 8); err == nil {
		_ = s.WriteU(c.R[ir.RDX], own, 8) // fails as the function itself will
	}
	return false, nil
}

// name is f(lexer, bytes=rsi, length=rdx).
func (d *deferred) name(m *exec.Machine, c *cpu.CPU, s *mem.Space) (bool, *exec.Stop) {
	for _, r := range []ir.Slot{ir.RSI, ir.RDX} {
		if stop := m.Fix(c, r); stop != nil {
			return false, stop
		}
	}
	return false, m.FixMemory(c, s, c.R[ir.RSI], c.R[ir.RDX])
}

// lookup is the node of the table's key that has the content of k and is another object; 0: there is none.
func (d *deferred) lookup(m *exec.Machine, s *mem.Space, c *cpu.CPU, table uint64, k text) (uint64, *exec.Stop) {
	nodes, err1 := s.ReadU(table+d.n["nodes"], 8)
	log, err2 := s.ReadU(table+d.n["log"], 1)
	if err1 != nil || err2 != nil || log > 30 {
		return 0, nil
	}
	var like []uint64 // nodes whose keys may have the content
	see := func(node uint64) (own bool) {
		if tag, err := s.ReadU(node+d.n["key-tag"], 1); err != nil || tag != d.n["tag"] {
			return false
		}
		at, err := s.ReadU(node+d.n["key"], 8)
		if err != nil || at == k.at {
			return err == nil
		}
		if t, ok := d.text(s, at); ok && t.n == k.n && (t.deferred || k.deferred) {
			like = append(like, node)
		}
		return false
	}
	size := d.n["node-bytes"]
	if k.deferred {
		for i := range uint64(1) << log {
			if see(nodes + i*size) {
				return 0, nil
			}
		}
	} else {
		for node := nodes + deferredHash&(1<<log-1)*size; node != 0; node = d.after(s, node) {
			if see(node) {
				return 0, nil
			}
		}
	}
	for _, node := range like {
		at, _ := s.ReadU(node+d.n["key"], 8)
		_, cond, ok := d.same(m, s, k, text{at: at})
		if !ok {
			continue
		}
		yes, stop := m.Holds(c, cond)
		if stop != nil {
			return 0, stop
		}
		if yes {
			return node, nil
		}
	}
	return 0, nil
}

// after is the node behind another in its chain; 0: it is the last.
func (d *deferred) after(s *mem.Space, node uint64) uint64 {
	if off, ok := d.n["next-address"]; ok {
		v, _ := s.ReadU(node+off, 8)
		return v
	}
	v, err := s.ReadU(node+d.n["next"], 4)
	if err != nil || v == 0 {
		return 0
	}
	return node + uint64(int64(int32(v)))*d.n["node-bytes"]
}

// hashLong is f(string=rdi), the hash of a string too long to be interned, which is compared by content: a function of its
// length, kept in the object. Equal strings have equal lengths.
func (d *deferred) hashLong(m *exec.Machine, c *cpu.CPU, s *mem.Space) (bool, *exec.Stop) {
	if stop := m.Fix(c, ir.RDI); stop != nil {
		return false, stop
	}
	str := c.R[ir.RDI]
	n, err := s.ReadU(str+d.n["long-length"], 8)
	if err != nil {
		return false, nil
	}
	hash := n * 0x9e3779b1 & 0xffffffff
	if s.WriteU(str+d.n["hash"], hash, 4) != nil || s.WriteU(str+d.n["hashed"], 1, 1) != nil {
		return false, nil
	}
	return ret(c, s, hash), nil
}
