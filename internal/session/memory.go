package session

import (
	"runtime/debug"
	"runtime/metrics"
	"time"
)

// heapSize is the memory of this process: what the last collection found alive, and what is in use.
type heapSize struct{ live, inUse uint64 }

func heap() heapSize {
	s := []metrics.Sample{{Name: "/gc/heap/live:bytes"}, {Name: "/memory/classes/heap/objects:bytes"}}
	metrics.Read(s)
	return heapSize{s[0].Value.Uint64(), s[1].Value.Uint64()}
}

// limitMemory tells the collector the limit, so that garbage does not look like need.
func limitMemory(limit uint64) {
	if limit > 0 {
		debug.SetMemoryLimit(int64(limit))
	}
}

// memoryEvery is the time between two looks at the memory.
const memoryEvery = 100 * time.Millisecond

// patience is how many collections in a row may find more alive than the limit, although
// all was given up that can be.
const patience = 8

// memory keeps the run within its memory, of which at most half may be alive between collections: first pending states
// become virtual, then the engine is replaced and its expressions go. Neither changes what
// is explored. It returns why the exploration must end if that is not enough.
// Require: r.mu is held.
func (w *worker) memory() (why string) {
	r := w.r
	h := heap()
	r.sum.MemoryPeakBytes = max(r.sum.MemoryPeakBytes, h.inUse)
	limit := r.o.MaxMemory
	if limit == 0 || h.live < limit/2 || h.live == r.lastLive {
		return ""
	}
	r.lastLive = h.live // wait for the next collection to see the effect
	switch {
	case w.x.Kept() > 0:
		w.x.Evict(w.x.Kept() / 2)
	case w.ctx.Bytes() > limit/8:
		w.renew = true
	}
	if h.live <= limit {
		r.over = 0
	} else if r.over++; r.over > patience {
		return "limit: --max-memory"
	}
	return ""
}
