package session

import (
	"context"
	"slices"
	"sync"
	"sync/atomic"

	"symchef/internal/explore"
)

// pool passes jobs between the workers of a run, knows when all is explored, and
// brings all workers to a halt for a checkpoint.
type pool struct {
	mu      sync.Mutex
	wake    sync.Cond // something below has changed
	queue   []explore.Frontier
	running int  // workers that explore; the others wait for jobs
	waiting int  // workers in Take
	done    bool // all is explored, or the run ends
	hungry  atomic.Int32

	// pausing asks for a checkpoint: it is made once every running worker has parked.
	pausing atomic.Bool
	parked  int
	parts   []explore.Frontier // of the parked workers
	saved   int                // checkpoints made: a parked worker goes on when its own is, even if the next is asked for already
	save    func([]explore.Frontier)
}

// reserve is how many frontiers lie ready when no worker waits: the next one to wait need not do so until a solver query
// of another has ended.
const reserve = 1

// newPool returns a pool whose workers call Take first, but for one that explores already.
func newPool(save func([]explore.Frontier)) *pool {
	p := &pool{running: 1, save: save}
	p.wake.L = &p.mu
	return p
}

// Hungry implements explore.Exchange.
func (p *pool) Hungry() int { return int(p.hungry.Load()) }

// Give implements explore.Exchange.
func (p *pool) Give(f explore.Frontier) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.queue = append(p.queue, f)
	p.changed()
}

// Take implements explore.Exchange for a worker that is not running, or no longer.
func (p *pool) Take(c context.Context) (explore.Frontier, bool) {
	defer context.AfterFunc(c, p.end)()
	p.mu.Lock()
	defer p.mu.Unlock()
	p.running--
	p.waiting++
	defer func() { p.waiting--; p.changed() }()
	for p.changed(); ; p.wake.Wait() {
		switch {
		case p.done:
			return explore.Frontier{}, false
		case len(p.queue) > 0 && !p.pausing.Load():
			f := p.queue[0]
			p.queue = p.queue[1:]
			p.running++
			return f, true
		}
	}
}

// join counts a new worker, which calls Take next.
func (p *pool) join() {
	p.mu.Lock()
	p.running++
	p.mu.Unlock()
}

// leave uncounts a worker that could not start.
func (p *pool) leave() {
	p.mu.Lock()
	p.running--
	p.changed()
	p.mu.Unlock()
}

// end makes Take and park return.
func (p *pool) end() {
	p.mu.Lock()
	p.done = true
	p.pausing.Store(false)
	p.wake.Broadcast()
	p.mu.Unlock()
}

// changed tells the others. Require: mu is held.
func (p *pool) changed() {
	p.done = p.done || p.running == 0 && len(p.queue) == 0
	p.hungry.Store(int32(p.waiting + reserve - len(p.queue)))
	if p.pausing.Load() && p.parked == p.running {
		p.save(slices.Concat(p.parts, p.queue))
		p.parts, p.parked = nil, 0
		p.saved++
		p.pausing.Store(false)
	}
	p.wake.Broadcast()
}

// park halts a worker with frontier f until the checkpoint is made.
func (p *pool) park(f explore.Frontier) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.done {
		p.pausing.Store(false)
		return
	}
	p.parts = append(p.parts, f)
	p.parked++
	mine := p.saved
	for p.changed(); p.saved == mine && !p.done; {
		p.wake.Wait()
	}
}
