package model

import (
	"symchef/internal/cpu"
	"symchef/internal/exec"
	"symchef/internal/ir"
	"symchef/internal/mem"
)

// Strings with an identity: how a string is made.

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
)

// intern is the entry of f(state=rdi, bytes=rsi, length=rdx).
func (d *deferred) intern(m *exec.Machine, c *cpu.CPU, s *mem.Space) (bool, *exec.Stop) {
	if stop := fix(m, c, ir.RSI, ir.RDX); stop != nil {
		return false, stop
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
	w, sp := words{s: s}, c.R[ir.RSP]-frameSize
	w.write(table, sp+frameBucket, 8)
	w.write(table+8, 1<<32, 8)
	return false, push(c, &w, [2]uint64{0, d.trampoline}, [2]uint64{frameHash, hash}, [2]uint64{frameCounts, counts}, [2]uint64{frameTable, table}, [2]uint64{frameBucket, 0})
}

// bucketOf is the address of the bucket of deferred strings.
func bucketOf(hash, counts uint64) uint64 { return hash + 8*(deferredHash&(counts>>32-1)) }

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
	return push(c, &w, [2]uint64{0, d.trampoline + 8}, [2]uint64{frameFirst, first}, [2]uint64{frameLast, last}, [2]uint64{frameTable, table})
}

// searched runs when the stock function has returned the string for concrete bytes in rax. The table may have grown.
func (d *deferred) searched(m *exec.Machine, c *cpu.CPU, s *mem.Space) (bool, *exec.Stop) {
	sp := c.R[ir.RSP] - 8
	w := words{s: s}
	first, last, table := w.read(sp+frameFirst), w.read(sp+frameLast), w.read(sp+frameTable)
	bucket := bucketOf(w.read(table), w.read(table+8))
	w.write(last+d.n["chain"], w.read(bucket), 8)
	w.write(bucket, first, 8)
	return pop(c, &w, sp, c.R[ir.RAX])
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
	return pop(c, &w, sp, str)
}
