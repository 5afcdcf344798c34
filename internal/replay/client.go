package replay

import (
	"context"
	"encoding/json"
	"errors"
	"runtime"
	"sync"
	"time"

	"symchef/internal/testcase"
)

// A worker runs test cases, one after the other, by a server if there can be one. It lives on one thread, with which its server dies.
type worker struct {
	target testcase.Target
	opt    Options
	shared *servers
	server *client // nil: none
	served int     // cases that server has run
}

// servers is what the workers know of servers of their target.
type servers struct {
	mu sync.Mutex
	// wasted counts the servers in a row that served one case at most.
	wasted int
	why    string // the last one's end
}

// maxWasted is how many servers in a row may be wasted: each costs more than starting the program for its one case.
const maxWasted = 3

func (s *servers) ended(served int, why string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.why = why
	if s.wasted++; served > 1 {
		s.wasted = 0
	}
}

func (s *servers) useful() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.wasted < maxWasted
}

// never keeps all workers from starting another server.
func (s *servers) never(why string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.wasted, s.why = maxWasted, why
}

func newWorker(g testcase.Target, opt Options, shared *servers) *worker {
	runtime.LockOSThread()
	return &worker{target: g, opt: opt, shared: shared}
}

func (w *worker) close() {
	w.end("")
	runtime.UnlockOSThread()
}

// end ends the server.
func (w *worker) end(why string) {
	if w.server == nil {
		return
	}
	w.server.close()
	w.server = nil
	if why != "" {
		w.shared.ended(w.served, why)
	}
}

// fork runs t in a clone of the server, within l.Time and l.Busy. Where that is not possible ok is false, and nothing is known of the case.
func (w *worker) fork(ctx context.Context, t testcase.Test, start bool, l Limits) (n Native, ok bool) {
	if w.target.Kind == testcase.Program || w.opt.Mode == Unconfined || w.opt.Fresh || !w.shared.useful() || len(moved(t.Files)) > 0 { // those are made ready before the start
		return n, false
	}
	if w.server == nil {
		if !start {
			return n, false
		}
		c, err := startClient(ctx, w.target, w.opt)
		if err != nil {
			if ctx.Err() == nil {
				w.shared.never(err.Error())
			}
			return n, false
		}
		w.server, w.served = c, 0
	}
	r, err := w.server.run(t, l)
	w.served++
	switch {
	case err != nil:
		w.end(err.Error())
		return n, false
	case r.Last != "":
		w.end(r.Last)
	}
	return r.Ending.native(w.target, nil, r.Stdout, r.Stderr), true
}

// client is a server as seen by the process that started it.
type client struct {
	*confined
	cancel context.CancelFunc
	dec    *json.Decoder
	limit  time.Duration // of a case
}

// patience is how much longer than its limits say the confine child may take before it is taken for dead.
const patience = 10 * time.Second

// startClient starts g up to where its inputs are read.
func startClient(ctx context.Context, g testcase.Target, opt Options) (*client, error) {
	sp := specOf(g, opt)
	sp.Serve = true
	ctx, cancel := context.WithCancel(ctx)
	inner, err := spawn(ctx, sp, nil, nil, nil)
	if err != nil {
		cancel()
		return nil, err
	}
	c := &client{inner, cancel, json.NewDecoder(inner.replies), opt.Limits.Time + patience}
	var ready serverReady
	if err = c.receive(&ready, patient*opt.Limits.Time+patience); err == nil && ready.Unfit != "" {
		err = errors.New(ready.Unfit)
	}
	if err != nil {
		c.close()
		return nil, err
	}
	return c, nil
}

// receive waits for a reply, but no longer than limit.
func (c *client) receive(v any, limit time.Duration) error {
	defer time.AfterFunc(limit, c.cancel).Stop()
	return c.dec.Decode(v)
}

// run runs t within l.Time and l.Busy.
func (c *client) run(t testcase.Test, l Limits) (r caseReply, err error) {
	inputs, err := json.Marshal(replayFile{Version: 1, Inputs: replayInputs(t.Inputs)})
	if err != nil {
		return r, err
	}
	if err := json.NewEncoder(c.requests).Encode(caseRequest{inputs, l.Time, l.Busy}); err != nil {
		return r, err
	}
	if err := c.receive(&r, c.limit); err != nil {
		return r, err
	}
	if r.Failed != "" {
		err = errors.New(r.Failed)
	}
	return r, err
}

// close ends the server and all that is in its sandbox.
func (c *client) close() {
	c.requests.Close()
	defer time.AfterFunc(patience, c.cancel).Stop()
	_ = c.cmd.Wait()
	c.cancel()
	c.confined.close()
}
