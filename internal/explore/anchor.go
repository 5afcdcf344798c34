package explore

import "symchef/internal/state"

// anchors are states on the way to virtual candidates: a candidate is brought back from the
// nearest one, not from the beginning of all paths. They are copies of what following a log
// passes anyway, so they change time and memory, never what is explored.
//
// Invariant: the anchor at a log is the state after its decisions, whatever its model.
type anchors struct {
	at   map[uint64]anchor // by state.Entry.Hash
	ring [maxAnchors]uint64
	next int // in ring: the oldest
}

type anchor struct {
	log *state.Entry
	st  *state.State
}

const (
	maxAnchors  = 128 // some 50 KiB each
	anchorEvery = 8   // decisions followed from one to the next
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
	delete(a.at, a.ring[a.next])
	a.ring[a.next] = s.Log.Hash
	a.next = (a.next + 1) % maxAnchors
	a.at[s.Log.Hash] = anchor{s.Log, st}
}
