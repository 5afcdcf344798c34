package exec

import (
	"sync"

	"symchef/internal/ir"
	"symchef/internal/lift"
)

// library holds translations for all machines of the process: the same interpreter is booted for
// calibration, for a test, by each worker and again when an engine is replaced. A translation is a function of
// its address, the code's bytes, whether they may be written without a change of protection and the processor, and immutable.
type library struct {
	mu     sync.RWMutex
	blocks map[uint64][]translation
	n      int
}

type translation struct {
	code string
	how  lift.How
	blk  *ir.Block
}

// variants bounds the translations of one address: code that is generated changes.
const variants = 4

var shared library

// find returns the translation of the code at pc that same says is there.
func (l *library) find(pc uint64, how lift.How, same func(code string) bool) (translation, bool) {
	l.mu.RLock()
	defer l.mu.RUnlock()
	for _, t := range l.blocks[pc] {
		if t.how == how && same(t.code) {
			return t, true
		}
	}
	return translation{}, false
}

func (l *library) add(pc uint64, t translation) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.n++; l.blocks == nil || l.n > maxBlocks {
		l.blocks, l.n = map[uint64][]translation{}, 1
	}
	ts := append([]translation{t}, l.blocks[pc]...)
	l.blocks[pc] = ts[:min(len(ts), variants)]
}
