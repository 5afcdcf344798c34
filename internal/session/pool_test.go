package session

import (
	"sync"
	"testing"
	"time"

	"symchef/internal/explore"
)

// Checkpoints asked for one right after the other halt no worker for ever: one that
// is slow to wake from the first is not taken for one that has parked for the second.
func TestPoolPauses(t *testing.T) {
	const workers, rounds = 4, 2000
	saves := 0
	p := newPool(func(parts []explore.Frontier) {
		if saves++; len(parts) == 0 {
			t.Error("a checkpoint without the frontier of any worker")
		}
	})
	var all sync.WaitGroup
	for range workers - 1 {
		p.join()
	}
	for range workers {
		all.Go(func() {
			defer p.leave()
			for range rounds {
				p.pausing.Store(true)
				p.park(explore.Frontier{})
			}
		})
	}
	ended := make(chan struct{})
	go func() { all.Wait(); close(ended) }()
	select {
	case <-ended:
	case <-time.After(5 * time.Minute):
		p.mu.Lock()
		defer p.mu.Unlock()
		t.Fatalf("workers wait for ever: %d run, %d parked, %d checkpoints", p.running, p.parked, saves)
	}
	if saves < rounds/workers {
		t.Errorf("%d checkpoints", saves)
	}
}
