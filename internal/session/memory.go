package session

import (
	"fmt"
	"os"
	"runtime/debug"
	"runtime/metrics"
	"strconv"
	"strings"
	"sync/atomic"
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

// resident is how much memory the host has given to this process, in bytes: what others see of it.
func resident() uint64 {
	b, err := os.ReadFile("/proc/self/statm") // proc(5): pages; the second is the resident ones
	f := strings.Fields(string(b))
	if err != nil || len(f) < 2 {
		return 0
	}
	n, _ := strconv.ParseUint(f[1], 10, 64)
	return n * uint64(os.Getpagesize())
}

// peak is the most that resident has been.
func peak() uint64 {
	b, _ := os.ReadFile("/proc/self/status") // proc(5)
	_, rest, _ := strings.Cut(string(b), "\nVmHWM:")
	var kb uint64
	fmt.Sscan(rest, &kb)
	return kb << 10
}

// tooSmall says that the start alone took more than the limit and the tenth that a run may take beyond it; "" if it did not.
func (c *ceiling) tooSmall() string {
	if c == nil || c.limit == 0 {
		return ""
	}
	most := peak()
	if most <= c.limit/10*11 {
		return ""
	}
	return fmt.Sprintf("--max-memory %dM is too little: up to where the test begins it took %dM", c.limit>>20, (most+1<<20-1)>>20)
}

// LeastMemory is the least MaxMemory of a run.
const LeastMemory = 64 << 20

// ceiling keeps the whole process within its limit. The collector is told what is left for it when what it does not know of is taken off: the
// program itself, machine code, files that are mapped.
//
//	limit   |--- beside: not the collector's ---|--- own: its tables, stacks ---|--- heap ---|
type ceiling struct {
	limit uint64        // of the process, bytes; 0: none
	taken atomic.Uint64 // beside and own
	done  chan struct{}
}

const (
	// ceilingEvery is the time between two looks at what is beside the heap.
	ceilingEvery = 20 * time.Millisecond
	// headroom is what part of the limit is left free: the collector is late now and then.
	headroom = 10
)

// newCeiling watches the process until end is called.
func newCeiling(limit uint64) *ceiling {
	c := &ceiling{limit: limit, done: make(chan struct{})}
	if limit == 0 {
		return c
	}
	c.look()
	go func() {
		t := time.NewTicker(ceilingEvery)
		defer t.Stop()
		for {
			select {
			case <-t.C:
				c.look()
			case <-c.done:
				return
			}
		}
	}()
	return c
}

// end ends the watch.
func (c *ceiling) end() { close(c.done) }

// look brings c up to date.
func (c *ceiling) look() {
	s := []metrics.Sample{{Name: "/memory/classes/total:bytes"}, {Name: "/memory/classes/heap/released:bytes"}, {Name: "/memory/classes/heap/objects:bytes"},
		{Name: "/memory/classes/heap/unused:bytes"}, {Name: "/memory/classes/heap/free:bytes"}}
	metrics.Read(s)
	total, heap := s[0].Value.Uint64()-s[1].Value.Uint64(), s[2].Value.Uint64()+s[3].Value.Uint64()+s[4].Value.Uint64()
	rss := resident()
	beside := rss - min(rss, total) + c.limit/headroom
	own := total - min(total, heap)
	c.taken.Store(beside + own)
	debug.SetMemoryLimit(int64(max(c.limit, beside+own+leastHeap) - beside))
}

// heap is what the exploration may have alive; 0: there is no limit. The rest is for garbage, and for what the end of a run takes: the frontier in the
// form to keep, and the test cases.
func (c *ceiling) heap() uint64 {
	if c == nil || c.limit == 0 {
		return 0
	}
	taken := c.taken.Load()
	return (max(c.limit, taken+leastHeap) - taken) / 8 * 5
}

// leastHeap is what the heap gets in any case: with less the collector would never rest.
const leastHeap = 16 << 20

// gateShare is how many bytes of --max-memory come to one gate of a query: with its clauses it takes some 150, and a quarter of the memory is for queries.
const gateShare = 640

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

// limitOfMemory says why an exploration has ended that needs more.
const limitOfMemory = "limit: --max-memory"

// memory does a worker's part to keep the run within its memory. Nothing of it changes what is explored. It returns why the exploration must
// end if that is not enough.
// Require: r.mu is held.
func (w *worker) memory() (why string) {
	r := w.r
	h := r.sawMemory()
	limit := r.ceiling.heap()
	if limit == 0 || h.live == w.lastLive {
		return ""
	}
	w.lastLive = h.live // wait for the next collection to see the effect
	w.x.Haste = h.live > limit/2
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
	if w.over++; w.over > 2 {
		w.x.Thin(0) // a single one may be large
	}
	if w.over <= patience || w.x.Kept() < kept && w.over <= endurance {
		return ""
	}
	return limitOfMemory
}
