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
	"sort"
	"strings"
)

// Candidate is a pending state.
type Candidate struct {
	ID uint64
	// Trail is the branch taken at each decision from the root: equal prefixes mean shared ancestors.
	Depth int
	Node  *Node
}

// Node is a node of the execution tree as random-path sees it. Its weight is
// the number of pending candidates at or below it.
type Node struct {
	Parent *Node
	kids   []*Node // in order of creation
	weight int
	cand   []Candidate // pending at this node
}

// Searcher chooses the next state. Its choices depend on its seed and on the
// candidates in the order they were added.
type Searcher interface {
	Add(Candidate)
	// Next removes and returns a candidate; false if there is none.
	Next() (uint64, bool)
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
	"random-path": func(seed uint64) Searcher { return &randomPath{root: &Node{}, rng: source(seed)} },
}

func source(seed uint64) *rand.Rand { return rand.New(rand.NewPCG(seed, 0x53796d43686566)) }

// New returns the searcher called name.
func New(name string, seed uint64) (Searcher, error) {
	mk, ok := makers[name]
	if !ok {
		return nil, fmt.Errorf("unknown strategy %q: choose one of %s", name, strings.Join(Names(), ", "))
	}
	return mk(seed), nil
}

// list serves dfs and random: the chosen element is replaced by the last.
type list struct {
	c    []Candidate
	rng  *rand.Rand
	pick func(n int, r *rand.Rand) int
}

func (l *list) Add(c Candidate) { l.c = append(l.c, c) }
func (l *list) Len() int        { return len(l.c) }

func (l *list) Next() (uint64, bool) {
	n := len(l.c)
	if n == 0 {
		return 0, false
	}
	i := l.pick(n, l.rng)
	id := l.c[i].ID
	l.c[i] = l.c[n-1]
	l.c = l.c[:n-1]
	return id, true
}

// queue serves bfs.
type queue struct {
	c    []Candidate
	head int
}

func (q *queue) Add(c Candidate) { q.c = append(q.c, c) }
func (q *queue) Len() int        { return len(q.c) - q.head }

func (q *queue) Next() (uint64, bool) {
	if q.Len() == 0 {
		return 0, false
	}
	id := q.c[q.head].ID
	q.head++
	if q.head > 1024 && q.head*2 > len(q.c) {
		q.c = append([]Candidate(nil), q.c[q.head:]...)
		q.head = 0
	}
	return id, true
}

// randomPath walks from the root, at each node choosing with equal
// probability among the subtrees that hold candidates (KLEE's random path selection).
type randomPath struct {
	root *Node
	rng  *rand.Rand
	n    int
}

func (s *randomPath) Len() int { return s.n }

func (s *randomPath) Add(c Candidate) {
	n := c.Node
	if n == nil {
		n = s.root
	}
	n.cand = append(n.cand, c)
	s.n++
	for ; n != nil; n = n.Parent {
		n.weight++
		if n.Parent == nil && n != s.root {
			// A tree seen for the first time hangs below the root.
			n.Parent = s.root
			s.root.kids = append(s.root.kids, n)
			s.root.weight++
			break
		}
	}
}

func (s *randomPath) Next() (uint64, bool) {
	if s.n == 0 {
		return 0, false
	}
	n := s.root
	for {
		var live []*Node
		kept := n.kids[:0]
		for _, k := range n.kids {
			if k.weight > 0 {
				live = append(live, k)
			}
			kept = append(kept, k)
		}
		n.kids = kept
		choices := len(live)
		if len(n.cand) > 0 {
			choices++
		}
		i := s.rng.IntN(choices)
		if i == len(live) {
			break
		}
		n = live[i]
	}
	s.n--
	last := len(n.cand) - 1
	c := n.cand[last]
	n.cand = n.cand[:last]
	for ; n != nil; n = n.Parent {
		n.weight--
	}
	return c.ID, true
}

// Child returns a new node below n (nil: below the root).
func Child(n *Node) *Node {
	c := &Node{Parent: n}
	if n != nil {
		n.kids = append(n.kids, c)
	}
	return c
}
