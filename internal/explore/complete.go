package explore

import (
	"slices"

	"symchef/internal/high"
	"symchef/internal/search"
)

// complete is the searcher of the complete model of high-level states (Bucur's thesis, section 4.4.2).
// The strategy chooses among high-level states: the places of the high-level tree where low-level states wait. The path
// to a place is not complete while low-level states wait before it; so what runs is one that is least advanced on the path to
// the chosen place, until none waits there.
//
// A low-level state gives way at the first decision at another place, and where it ends: so whatever waits at a place
// has been forked before anything beyond goes on. A path that has ended counts when all that waits at
// its last place, or before, has ended: then no low-level path is left that could be of the same high-level path.
//
//	pending at A ──► runs, forks at A ──► ... ──► none waits at A
//	     └─ comes to B ──► waits at B                  └──► B may run
type complete struct {
	x      *Explorer
	sr     search.Searcher // over the groups but that of goal
	tree   *high.Tree
	groups map[high.ID]*group
	byID   map[uint64]*group
	nextID uint64
	goal   high.ID // the high-level state that the strategy has chosen
	chosen bool    // it has
	n      int     // candidates
}

// group is a high-level state: the candidates at one place.
type group struct {
	id      uint64
	key     high.ID
	at      high.Place
	members []uint64
	ended   int              // of them
	waits   search.Candidate // as which it waits for the strategy
}

func newComplete(x *Explorer, sr search.Searcher) *complete {
	return &complete{x: x, sr: sr, tree: &x.cfg.High.Tree, groups: map[high.ID]*group{}, byID: map[uint64]*group{}}
}

func (s *complete) Len() int { return s.n }

// Add implements search.Searcher.
func (s *complete) Add(c search.Candidate) {
	p := s.x.pending[c.ID]
	g := s.groups[p.at]
	if g == nil {
		s.nextID++
		g = &group{id: s.nextID, key: p.at, at: p.high, waits: search.Candidate{ID: s.nextID, Depth: c.Depth, Node: c.Node, Place: c.Place}}
		s.groups[g.key], s.byID[g.id] = g, g
		s.tree.Wait(g.at, g.id)
		if !s.chosen || g.key != s.goal {
			s.sr.Add(g.waits)
		}
	}
	if p.turn.turns > 0 { // it has had its turn
		g.members = slices.Insert(g.members, 0, c.ID)
	} else {
		g.members = append(g.members, c.ID)
	}
	if p.ended != nil {
		g.ended++
	}
	s.n++
}

// take removes member i of g.
func (s *complete) take(g *group, i int) uint64 {
	id := g.members[i]
	g.members = slices.Delete(g.members, i, i+1)
	if s.x.pending[id].ended != nil {
		g.ended--
	}
	s.n--
	if len(g.members) == 0 {
		delete(s.groups, g.key)
		delete(s.byID, g.id)
		s.tree.Leave(g.at, g.id)
		if !s.chosen || g.key != s.goal {
			s.sr.Remove(map[uint64]bool{g.id: true})
		}
	}
	return id
}

// Next implements search.Searcher.
func (s *complete) Next() (uint64, bool) {
	if s.n == 0 {
		return 0, false
	}
	if !s.chosen || s.groups[s.goal] == nil {
		id, ok := s.sr.Next()
		if !ok {
			panic("explore: a high-level state is lost")
		}
		s.goal, s.chosen = s.byID[id].key, true
	}
	g := s.least(s.groups[s.goal])
	for i, id := range slices.Backward(g.members) {
		if g.ended == len(g.members) || s.x.pending[id].ended == nil {
			return s.take(g, i), true
		}
	}
	panic("explore: a high-level state without low-level states")
}

// release gives up the goal: the strategy chooses again. What has been chosen is not lost.
func (s *complete) release() {
	if g := s.groups[s.goal]; s.chosen && g != nil {
		s.sr.Add(g.waits)
	}
	s.chosen = false
}

// least is the least advanced group on the path to g.
func (s *complete) least(g *group) *group {
	id, ok := s.tree.Least(g.at)
	if !ok {
		panic("explore: a high-level state is not in the tree")
	}
	return s.byID[id]
}

// Remove implements search.Searcher.
func (s *complete) Remove(ids map[uint64]bool) {
	for _, g := range s.sorted() {
		for i := len(g.members) - 1; i >= 0; i-- {
			if ids[g.members[i]] {
				s.take(g, i)
			}
		}
	}
}

// Learn implements search.Learner.
func (s *complete) Learn(at search.Place, fresh bool, cost uint64) {
	if l, ok := s.sr.(search.Learner); ok {
		l.Learn(at, fresh, cost)
	}
}

// Learned implements search.Learner.
func (s *complete) Learned() []search.Yield {
	if l, ok := s.sr.(search.Learner); ok {
		return l.Learned()
	}
	return nil
}

// Recall implements search.Learner.
func (s *complete) Recall(learned []search.Yield) {
	if l, ok := s.sr.(search.Learner); ok {
		l.Recall(learned)
	}
}

// sorted lists the groups, oldest first.
func (s *complete) sorted() []*group {
	var l []*group
	for _, g := range s.groups {
		l = append(l, g)
	}
	slices.SortFunc(l, func(a, b *group) int { return int(a.id) - int(b.id) })
	return l
}

// families divides the candidates into sets that know nothing of each other: those at a place before which nothing waits,
// with all that waits beyond it. A high-level path is of one family. Require: no state runs.
func (s *complete) families() [][]uint64 {
	var l [][]uint64
	of := map[*group]int{}
	for _, g := range s.sorted() {
		root := s.least(g)
		i, known := of[root]
		if !known {
			i = len(l)
			of[root] = i
			l = append(l, nil)
		}
		l[i] = append(l[i], g.members...)
	}
	return l
}
