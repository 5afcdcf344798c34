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

// sawMemory keeps the greatest values.
func (r *run) sawMemory() heapSize {
	h := heap()
	r.sum.MemoryPeakBytes = max(r.sum.MemoryPeakBytes, h.inUse)
	r.sum.MemoryLiveBytes = max(r.sum.MemoryLiveBytes, h.live)
	return h
}

// ownMemory is what the Go runtime takes beside the heap, in bytes; a limit of it would keep the collector busy.
const ownMemory = 16 << 20

// limitMemory tells the collector the limit, so that garbage does not look like need.
func limitMemory(limit uint64) {
	if limit > 0 {
		debug.SetMemoryLimit(int64(limit) + ownMemory)
	}
}

// memoryEvery is the time between two looks at the memory.
const memoryEvery = 2 * time.Millisecond

// How many collections in a row may find more alive than the limit: patience, although all was given up that
// can be; endurance, while following pending states makes anchors anew that are given up again.
const (
	patience  = 16
	endurance = 20 * patience
)

// How many states are kept at least: as long as there is memory, as long as it is short, and beyond the limit. With none, each state would be
// brought back from the beginning.
const (
	manyKept = 1024
	fewKept  = 64
	lastKept = 4
)

// keeping is what a worker does about its states.
type keeping struct {
	thin    int  // how many are left; 0: all
	thicken bool // more are kept from now on
	renew   bool // the engine is replaced, since its expressions are many
	over    bool // memory is beyond the limit
}

// keep decides on it from the bytes alive, their limit and those of the expressions, and from how many states are kept and have run. Some two states
// for each that has run are kept: with so many a twelfth of the instructions are executed again, if any state may be picked next, and with more the
// collector looks at them in vain. Above half of the limit fewer are kept, and with few left the engine is replaced. Beyond the whole
// limit nearly all goes at once.
func keep(live, limit, exprs uint64, kept, ran int) (k keeping) {
	if live < limit/2 {
		worth := max(2*ran, manyKept)
		if kept > 2*worth {
			k.thin = worth
		}
		k.thicken = kept < worth/2
		return k
	}
	k.over = live > limit
	k.thin = max(kept/2, fewKept)
	if k.over {
		k.thin = max(kept/16, lastKept)
	}
	k.renew = exprs > limit/8 && (k.over || kept <= fewKept)
	return k
}

// memory does a worker's part to keep the run within its memory. Nothing of it changes what is explored. It returns why the exploration must
// end if that is not enough.
// Require: r.mu is held.
func (w *worker) memory() (why string) {
	r := w.r
	h := r.sawMemory()
	limit := r.o.MaxMemory
	if limit == 0 || h.live == w.lastLive {
		return ""
	}
	w.lastLive = h.live // wait for the next collection to see the effect
	kept := w.x.Kept()
	k := keep(h.live, limit, w.ctx.Bytes(), kept, w.x.Counts.Paths)
	w.renew = w.renew || k.renew
	if k.thicken {
		w.x.Thicken()
	}
	if k.thin > 0 {
		w.x.Thin(k.thin)
	}
	if !k.over {
		w.over = 0
		return ""
	}
	if w.over++; w.over <= patience || w.x.Kept() < kept && w.over <= endurance {
		return ""
	}
	return "limit: --max-memory"
}
