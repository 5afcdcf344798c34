package explore

import "symchef/internal/state"

// anchors are states on the way to virtual candidates: a candidate is brought back from the
// nearest one, not from the beginning of all paths. They are copies of what following a log
// passes anyway, so they change time and memory, never what is explored.
//
// Invariant: the anchor at a log is the state after its decisions, whatever its model.
type anchors struct {
	at    map[uint64]anchor // by state.Entry.Hash
	queue []uint64          // its keys, oldest first
	max   int               // 0: maxAnchors
}

type anchor struct {
	log *state.Entry
	st  *state.State
}

const (
	maxAnchors  = 128 // some 50 KiB each
	minAnchors  = 4
	anchorEvery = 8 // decisions followed from one to the next
)

// below returns the anchor with the longest log that log begins with.
func (a *anchors) below(log *state.Entry) (anchor, bool) {
	for e := log; e != nil; e = e.Parent {
		if n, ok := a.at[e.Hash]; ok && n.log.Equal(e) {
			return n, true
		}
	}
	return anchor{}, false
}

// drop makes s, after the decisions of its log, an anchor, unless there is one.
func (a *anchors) drop(s *state.State) {
	if s.Log == nil {
		return
	}
	if _, known := a.at[s.Log.Hash]; known {
		return
	}
	if a.at == nil {
		a.at = map[uint64]anchor{}
	}
	st := s.Fork()
	st.Excl = nil
	a.at[s.Log.Hash] = anchor{s.Log, st}
	a.queue = append(a.queue, s.Log.Hash)
	a.trim()
}

// trim removes the oldest beyond max.
func (a *anchors) trim() {
	if a.max == 0 {
		a.max = maxAnchors
	}
	for len(a.queue) > a.max {
		delete(a.at, a.queue[0])
		a.queue = a.queue[1:]
	}
}

// halve makes room: from now on half as many are kept. It returns false when they are as few as can be.
func (a *anchors) halve() bool {
	a.trim()
	if a.max == minAnchors {
		return false
	}
	a.max = max(a.max/2, minAnchors)
	a.trim()
	return true
}
