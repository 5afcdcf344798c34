// Package search orders the states that wait to be explored. It sees
// candidates, opaque but for the tree path, and imports no engine package.
//
//	s, err := search.New("random-path", seed)
//	s.Add(search.Candidate{ID: 7, Node: n})
//	id, ok := s.Next()
package search

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"sort"
	"strings"
)

// Candidate is a pending state.
type Candidate struct {
	ID    uint64
	Depth int
	Node  *Node // where the state was forked; nil: at the root
	Place Place
}

// Node is a node of the execution tree as random-path sees it. Its weight is
// the number of pending candidates at or below it; a node without any is not linked
// from its parent.
type Node struct {
	Parent *Node
	kids   []*Node // in order of linking
	linked bool
	weight int
	cand   []uint64 // pending at this node
}

// Searcher chooses the next state. Its choices depend on its seed and on the
// candidates in the order they were added.
type Searcher interface {
	Add(Candidate)
	// Next removes and returns a candidate; false if there is none.
	Next() (uint64, bool)
	// Remove drops candidates.
	Remove(ids map[uint64]bool)
	Len() int
}

// Names lists the strategies.
func Names() []string {
	var out []string
	for n := range makers {
		out = append(out, n)
	}
	sort.Strings(out)
	return out
}

var makers = map[string]func(seed uint64) Searcher{
	"dfs": func(uint64) Searcher { return &list{pick: func(n int, _ *rand.Rand) int { return n - 1 }} },
	"bfs": func(uint64) Searcher { return &queue{} },
	"random": func(seed uint64) Searcher {
		return &list{rng: source(seed), pick: func(n int, r *rand.Rand) int { return r.IntN(n) }}
	},
	"cupa-path": cupaPath,
	"cupa-cov":  cupaCov,
	"portfolio": func(seed uint64) Searcher {
		return &portfolio{members: []Searcher{cupaPath(seed), cupaCov(seed), newRandomPath(seed)}}
	},
	"random-path": newRandomPath,
}

// Guide knows the control flow of the interpreted program.
type Guide interface {
	// Edges is a number that grows when Weight may have changed.
	Edges() int
	// Weight is how much the instruction static is worth exploring from: 1/d, d the distance to a
	// potential branching point (CHEF, section 3.4).
	Weight(static uint64) float64
}

// Guided is a Searcher that can use a Guide; without one all instructions weigh the same.
type Guided interface{ Guide(Guide) }

// Learner is a Searcher that is told what became of the candidates it has chosen.
type Learner interface {
	// Learn is called when the path of a candidate that was forked at a place has ended, or there was none; fresh: it went
	// through the interpreted program where none had been; cost: the instructions it took.
	Learn(at Place, fresh bool, cost uint64)
	// Learned is all that it knows, for another Learner to Recall, which takes of that what it does not know better.
	Learned() []Yield
	Recall([]Yield)
}

// Yield is what a Learner knows of the candidates of a fork: how many were picked, those of them that led to something new, and the
// instructions that took. The past counts less and less.
type Yield struct {
	Static, At          uint64 // the Learner's names for the fork
	Picked, Fresh, Cost float64
}

// Guide gives g to the members that can use it.
func (p *portfolio) Guide(g Guide) {
	for _, m := range p.members {
		if m, ok := m.(Guided); ok {
			m.Guide(g)
		}
	}
}

// Learn passes on what became of a candidate to the members that learn.
func (p *portfolio) Learn(at Place, fresh bool, cost uint64) {
	for _, m := range p.members {
		if m, ok := m.(Learner); ok {
			m.Learn(at, fresh, cost)
		}
	}
}

// Learned is what the first member that learns knows: all learn the same.
func (p *portfolio) Learned() []Yield {
	for _, m := range p.members {
		if m, ok := m.(Learner); ok {
			return m.Learned()
		}
	}
	return nil
}

// Recall passes on what was learned.
func (p *portfolio) Recall(l []Yield) {
	for _, m := range p.members {
		if m, ok := m.(Learner); ok {
			m.Recall(l)
		}
	}
}

// portfolio takes turns among strategies that see the same candidates.
type portfolio struct {
	members []Searcher
	turn    int
}

func (p *portfolio) Len() int { return p.members[0].Len() }

func (p *portfolio) Add(c Candidate) {
	for _, m := range p.members {
		m.Add(c)
	}
}

func (p *portfolio) Next() (uint64, bool) {
	p.turn = (p.turn + 1) % len(p.members)
	id, ok := p.members[p.turn].Next()
	for i, m := range p.members {
		if ok && i != p.turn {
			m.Remove(map[uint64]bool{id: true})
		}
	}
	return id, ok
}

func (p *portfolio) Remove(ids map[uint64]bool) {
	for _, m := range p.members {
		m.Remove(ids)
	}
}

func newRandomPath(seed uint64) Searcher {
	return &randomPath{root: &Node{}, rng: source(seed), at: map[uint64]*Node{}}
}

// cupaPath is CHEF's path-optimised instance (section 3.3), but for classes that are weighed by what the same forks of the same
// instruction have yielded; cupaCov its coverage-optimised one (section 3.4).
func cupaPath(seed uint64) Searcher { return mustCUPA([]string{"hlpc-yield"}, seed) }
func cupaCov(seed uint64) Searcher  { return mustCUPA([]string{"branch-distance", "fork-weight"}, seed) }
func mustCUPA(names []string, seed uint64) Searcher {
	s, err := NewCUPA(names, seed)
	if err != nil {
		panic(err)
	}
	return s
}

func source(seed uint64) *rand.Rand { return rand.New(rand.NewPCG(seed, 0x53796d43686566)) }

// New returns the searcher called name: one of Names, or "cupa:" and classes with commas between.
func New(name string, seed uint64) (Searcher, error) {
	if classes, ok := strings.CutPrefix(name, "cupa:"); ok {
		return NewCUPA(strings.Split(classes, ","), seed)
	}
	mk, ok := makers[name]
	if !ok {
		return nil, fmt.Errorf("unknown strategy %q: choose one of %s", name, strings.Join(Names(), ", "))
	}
	return mk(seed), nil
}

// list serves dfs and random: the chosen element is replaced by the last.
type list struct {
	c    []uint64
	rng  *rand.Rand
	pick func(n int, r *rand.Rand) int
}

func (l *list) Add(c Candidate) { l.c = append(l.c, c.ID) }
func (l *list) Len() int        { return len(l.c) }

func (l *list) Remove(ids map[uint64]bool) { l.c = without(l.c, ids) }

func without(c []uint64, ids map[uint64]bool) []uint64 {
	return slices.DeleteFunc(c, func(id uint64) bool { return ids[id] })
}

func (l *list) Next() (uint64, bool) {
	n := len(l.c)
	if n == 0 {
		return 0, false
	}
	i := l.pick(n, l.rng)
	id := l.c[i]
	l.c[i] = l.c[n-1]
	l.c = l.c[:n-1]
	return id, true
}

// queue serves bfs.
type queue struct {
	c    []uint64
	head int
}

func (q *queue) Add(c Candidate) { q.c = append(q.c, c.ID) }
func (q *queue) Len() int        { return len(q.c) - q.head }

func (q *queue) Remove(ids map[uint64]bool) {
	q.c, q.head = without(q.c[q.head:], ids), 0
}

func (q *queue) Next() (uint64, bool) {
	if q.Len() == 0 {
		return 0, false
	}
	id := q.c[q.head]
	q.head++
	if q.head > 1024 && q.head*2 > len(q.c) {
		q.c = slices.Clone(q.c[q.head:])
		q.head = 0
	}
	return id, true
}

// randomPath walks from the root, at each node choosing with equal
// probability among the subtrees that hold candidates (KLEE's random path selection).
type randomPath struct {
	root *Node
	rng  *rand.Rand
	at   map[uint64]*Node // of each candidate
}

func (s *randomPath) Len() int { return len(s.at) }

func (s *randomPath) Add(c Candidate) {
	n := c.Node
	if n == nil {
		n = s.root
	}
	n.cand = append(n.cand, c.ID)
	s.at[c.ID] = n
	for {
		n.weight++
		if n == s.root {
			return
		}
		up := n.Parent
		if up == nil {
			up = s.root
		}
		if !n.linked {
			n.linked = true
			up.kids = append(up.kids, n)
		}
		n = up
	}
}

func (s *randomPath) Next() (uint64, bool) {
	if len(s.at) == 0 {
		return 0, false
	}
	n := s.root
	for {
		n.kids = slices.DeleteFunc(n.kids, func(k *Node) bool {
			k.linked = k.weight > 0
			return !k.linked
		})
		choices := len(n.kids)
		if len(n.cand) > 0 {
			choices++
		}
		i := s.rng.IntN(choices)
		if i == len(n.kids) {
			break
		}
		n = n.kids[i]
	}
	id := n.cand[len(n.cand)-1]
	s.drop(id)
	return id, true
}

func (s *randomPath) drop(id uint64) {
	n := s.at[id]
	delete(s.at, id)
	n.cand = slices.DeleteFunc(n.cand, func(c uint64) bool { return c == id })
	for ; n != s.root; n = n.Parent {
		n.weight--
		if n.Parent == nil {
			break
		}
	}
	s.root.weight--
}

func (s *randomPath) Remove(ids map[uint64]bool) {
	for id := range ids {
		s.drop(id)
	}
}

// Child returns a new node below n (nil: below the root).
func Child(n *Node) *Node { return &Node{Parent: n} }
