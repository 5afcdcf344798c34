package kernel

import (
	"golang.org/x/sys/unix"

	"symchef/internal/mem"
)

// The memory devices, mem(4) and random(4).
type (
	nullFile   struct{ sinkKind }
	zeroFile   struct{ sinkKind }
	fullFile   struct{ zeroFile }
	randomFile struct{ plainKind }
)

// sinkKind takes all that is written, and does not look at it.
type sinkKind struct{ plainKind }

func (sinkKind) traits() trait { return seeks | bulk | still }

func (sinkKind) write(_ *call, _ int, _ *file, _ int64, b mem.Bytes) (uint64, error) {
	return uint64(len(b.Data)), nil
}

func (nullFile) read(*call, int, *file, int64, int) (mem.Bytes, error) { return mem.Bytes{}, nil }

func (zeroFile) read(_ *call, _ int, _ *file, _ int64, n int) (mem.Bytes, error) {
	return mem.Concrete(make([]byte, n)), nil
}

func (fullFile) write(*call, int, *file, int64, mem.Bytes) (uint64, error) { return 0, unix.ENOSPC }

func (randomFile) traits() trait { return bulk | still }

func (randomFile) read(c *call, _ int, _ *file, _ int64, n int) (mem.Bytes, error) {
	return mem.Concrete(c.s.randomBytes(n)), nil
}

func (randomFile) write(_ *call, _ int, _ *file, _ int64, b mem.Bytes) (uint64, error) {
	return uint64(len(b.Data)), nil
}
