package kernel

import (
	"fmt"
	"io"

	"symchef/internal/expr"
	"symchef/internal/mem"
)

// chunk is a list of written pieces, newest first. Chunks are immutable, so forks share them.
type chunk struct {
	prev  *chunk
	b     mem.Bytes
	total int  // bytes up to and including this one
	sym   bool // some piece up to and including this one is symbolic
}

func (c *chunk) add(b mem.Bytes) *chunk {
	if len(b.Data) == 0 {
		return c
	}
	n := &chunk{prev: c, b: b, total: len(b.Data), sym: !b.IsConcrete()}
	if c != nil {
		n.total += c.total
		n.sym = n.sym || c.sym
	}
	return n
}

// bytes returns all pieces joined.
func (c *chunk) bytes() mem.Bytes {
	if c == nil {
		return mem.Bytes{}
	}
	r := mem.Bytes{Data: make([]byte, c.total)}
	if c.sym {
		r.Sym = make([]expr.Ref, c.total)
	}
	for ; c != nil; c = c.prev {
		at := c.total - len(c.b.Data)
		copy(r.Data[at:], c.b.Data)
		if r.Sym != nil && c.b.Sym != nil {
			copy(r.Sym[at:], c.b.Sym)
		}
	}
	return r
}

func (c *chunk) rebase(eval func(expr.Ref) uint64) *chunk {
	if c == nil || !c.sym {
		return c
	}
	return (*chunk)(nil).add(rebased(c.bytes(), eval))
}

// rebased returns b with the values that eval gives its expressions.
func rebased(b mem.Bytes, eval func(expr.Ref) uint64) mem.Bytes {
	if b.IsConcrete() {
		return b
	}
	d := append([]byte(nil), b.Data...)
	for i, r := range b.Sym {
		if r != 0 {
			d[i] = byte(eval(r))
		}
	}
	return mem.Bytes{Data: d, Sym: b.Sym}
}

// maxOutput bounds what is kept of standard output, and of standard error, in bytes.
const maxOutput = 64 << 20

// output takes what was written to standard output (1) or error (2).
func (s *System) output(fd int, b mem.Bytes) error {
	w := [...]io.Writer{1: s.cfg.Stdout, 2: s.cfg.Stderr}[fd]
	if w != nil {
		w.Write(b.Data) // where it goes is no business of the guest
		return nil
	}
	n := s.out[fd].add(b)
	if n != nil && n.total > maxOutput {
		return unsupported(fmt.Sprintf("more than %d MiB of output", maxOutput>>20))
	}
	s.out[fd] = n
	return nil
}

// join appends b to a without touching either.
func join(a, b mem.Bytes) mem.Bytes {
	return (*chunk)(nil).add(a).add(b).bytes()
}
