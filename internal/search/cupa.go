package search

import (
	"fmt"
	"math"
	"math/rand/v2"
	"sort"
	"strings"
)

// Place is where a candidate was forked, in the terms of the program and of the
// machine. Zero fields are unknown. It is a function of the path.
type Place struct {
	PC  uint64 // of the instruction that forked
	Arm uint64 // of a decision between two: 1 + the value left to the candidate; else 0

	// Of the interpreted program, if its high level is known.
	Dynamic uint64 // node of the high-level execution tree
	Static  uint64 // high-level program counter
	Opcode  uint64
	Stack   uint64 // digest of the high-level call stack
	Line    uint64

	Chain uint64 // number of the run of forks of one path at one PC
}

// schemes are the classification schemes: each maps a candidate to its class.
var schemes = map[string]func(*Place) uint64{
	"llpc":         func(p *Place) uint64 { return p.PC },
	"hlpc-dynamic": func(p *Place) uint64 { return p.Dynamic },
	"hlpc-static":  func(p *Place) uint64 { return p.Static },
	"opcode":       func(p *Place) uint64 { return p.Opcode },
	"stack":        func(p *Place) uint64 { return p.Stack },
	"line":         func(p *Place) uint64 { return p.Line },
	// Weighted: by the Guide, and by forkWeight.
	"branch-distance": func(p *Place) uint64 { return p.Static },
	"fork-weight":     func(p *Place) uint64 { return p.Chain },
	// The classes of hlpc-dynamic, weighed by what the forks of their instruction have yielded: three levels, see NewCUPA.
	"hlpc-yield": func(p *Place) uint64 { return p.Static },
}

// SchemeNames lists the classification schemes.
func SchemeNames() []string {
	var out []string
	for n := range schemes {
		out = append(out, n)
	}
	sort.Strings(out)
	return out
}

// forkWeight is the factor by which each later fork of a chain de-emphasises the earlier
// ones (seed strategy of KLEE; CHEF, section 3.4).
const forkWeight = 0.75

// cupa is class-uniform path analysis (CHEF, section 3.2): candidates are sorted into a
// tree of classes, one level per scheme; a pick descends from the root, choosing
// among the children of each class with equal probability, or by weight.
//
// A pick costs a step per level, and a logarithm per weighted one. When something was learned, by the Guide or from the
// candidates picked before, classes are weighed anew, but not before guideEvery picks more. The Guide's are no more than the
// program has instructions; of those that yield, the ones below the instructions something was learned about: others weigh what
// they did when they came.
type cupa struct {
	levels []string
	key    []func(*Place) uint64
	root   *class
	rng    *rand.Rand
	at     map[uint64]*class // the leaf of each candidate
	guide  Guide
	guided int // edges of the guide when classes were last weighed
	picks  int // since then

	yields map[fork]*yield
	known  []fork          // that have a yield, in the order in which they were met
	all    yield           // of all of them
	stale  map[uint64]bool // the instructions that something was learned about since then
}

// fork is a branch of the interpreter's code while it executes a high-level instruction, and what it leaves.
type fork struct{ static, at uint64 }

// whole is an instruction's fork that stands for all of them, every, of no instruction, for all of all.
const (
	whole = ^uint64(0)
	every = whole - 1
)

// branch is the key of p's fork: addresses have 47 bits.
func branch(p *Place) uint64 { return p.PC<<2 | p.Arm }

// yield is a Yield's. The past counts less and less, since what has yielded is exhausted some time.
type yield struct{ picked, fresh, cost float64 }

const (
	guideEvery = 16
	pickCost   = 50_000        // in instructions: what a path costs besides its own
	prior      = 2             // how many picks make what they tell of a fork count as much as what is known of its instruction
	discount   = 1 - 1.0/500.0 // what a pick counts, once another was learned of
)

// class is a set of candidates.
type class struct {
	up    *class
	key   uint64
	slot  int // in up.kids
	kids  []*class
	index map[uint64]*class
	sum   fenwick  // of the children's weights; nil if all are equal
	cand  []uint64 // of a leaf, oldest first
	yield *yield   // of an instruction or a fork, where these are levels
}

// NewCUPA returns a class-uniform searcher with the schemes named, from the root on.
func NewCUPA(names []string, seed uint64) (Searcher, error) {
	s := &cupa{root: &class{}, rng: source(seed), at: map[uint64]*class{}, yields: map[fork]*yield{}, stale: map[uint64]bool{}}
	for i, n := range names {
		f, ok := schemes[n]
		if !ok {
			return nil, fmt.Errorf("unknown class %q: choose among %s", n, strings.Join(SchemeNames(), ", "))
		}
		if n == "fork-weight" && i != len(names)-1 {
			return nil, fmt.Errorf("fork-weight weighs states, not classes: it can only be the last")
		}
		s.levels, s.key = append(s.levels, n), append(s.key, f)
		if n == "hlpc-yield" {
			s.levels, s.key = append(s.levels, "fork-yield", "hlpc-dynamic"), append(s.key, branch, schemes["hlpc-dynamic"])
		}
	}
	if len(names) == 0 {
		return nil, fmt.Errorf("name at least one class: %s", strings.Join(SchemeNames(), ", "))
	}
	return s, nil
}

func (s *cupa) Len() int { return len(s.at) }

// forks, distances and yielding tell what the children of a class at level are weighed by.
func (s *cupa) forks(level int) bool { return s.levels[level] == "fork-weight" }
func (s *cupa) distances(level int) bool {
	return s.levels[level] == "branch-distance" && s.guide != nil
}
func (s *cupa) yielding(level int) bool {
	return s.levels[level] == "hlpc-yield" || s.levels[level] == "fork-yield"
}

// learns tells that the children of a class at level are weighed by what is learned.
func (s *cupa) learns(level int) bool { return s.distances(level) || s.yielding(level) }

// weight is that of a child of a class at level, which learns.
func (s *cupa) weight(level int, kid *class) float64 {
	if s.distances(level) {
		return s.guide.Weight(kid.key)
	}
	if s.levels[level] == "hlpc-yield" {
		return kid.sum.total()
	}
	r := s.rate(kid)
	return r * r * math.Sqrt(float64(len(kid.kids))) // measured, see docs/rationale/search.md
}

// rate is how much that is new an instruction spent on a candidate of fork f is expected to lead to. What is not yet known of f is as with
// its high-level instruction, and what is not known of that as with all.
func (s *cupa) rate(f *class) float64 {
	of, static := f.yield, f.up.yield
	fresh := (static.fresh + 1) / (static.picked + 2) // Laplace's rule of succession
	cost := (static.cost + (s.all.cost+pickCost)/(s.all.picked+1)) / (static.picked + 1)
	return (of.fresh + prior*fresh) / (of.cost + prior*cost + (of.picked+prior)*pickCost)
}

func (s *cupa) yieldOf(f fork) *yield {
	y := s.yields[f]
	if y == nil {
		y = &yield{}
		s.yields[f] = y
		s.known = append(s.known, f)
	}
	return y
}

// Learn implements Learner.
func (s *cupa) Learn(at Place, fresh bool, cost uint64) {
	for _, y := range []*yield{&s.all, s.yieldOf(fork{at.Static, whole}), s.yieldOf(fork{at.Static, branch(&at)})} {
		y.picked, y.fresh, y.cost = y.picked*discount+1, y.fresh*discount, y.cost*discount+float64(cost)
		if fresh {
			y.fresh++
		}
	}
	s.stale[at.Static] = true
}

// Learned implements Learner.
func (s *cupa) Learned() []Yield {
	l := []Yield{{0, every, s.all.picked, s.all.fresh, s.all.cost}}
	for _, f := range s.known {
		if y := s.yields[f]; y.picked > 0 {
			l = append(l, Yield{f.static, f.at, y.picked, y.fresh, y.cost})
		}
	}
	return l
}

// Recall implements Learner. What was picked more often is known better: the number never falls.
func (s *cupa) Recall(learned []Yield) {
	for _, l := range learned {
		y := &s.all
		if l.At != every {
			y = s.yieldOf(fork{l.Static, l.At})
		}
		if l.Picked > y.picked {
			*y = yield{l.Picked, l.Fresh, l.Cost}
			s.stale[l.Static] = true
		}
	}
}

// Guide implements Guided. It comes before the first candidate.
func (s *cupa) Guide(g Guide) { s.guide = g }

func (s *cupa) Add(c Candidate) {
	n := s.root
	for i, key := range s.key {
		k := key(&c.Place)
		kid := n.index[k]
		if kid == nil {
			kid = &class{up: n, key: k, slot: len(n.kids)}
			if n.index == nil {
				n.index = map[uint64]*class{}
			}
			n.index[k] = kid
			n.kids = append(n.kids, kid)
			switch s.levels[i] {
			case "hlpc-yield":
				kid.yield = s.yieldOf(fork{k, whole})
			case "fork-yield":
				kid.yield = s.yieldOf(fork{n.key, k})
			}
			switch {
			case s.forks(i):
				n.sum = n.sum.append(0)
			case s.learns(i):
				n.sum = n.sum.append(s.weight(i, kid))
			}
			s.upwards(n, i-1)
		}
		n = kid
	}
	n.cand = append(n.cand, c.ID)
	s.at[c.ID] = n
	s.weigh(n)
}

// upwards weighs n, which is at level, and the classes above it that yield.
func (s *cupa) upwards(n *class, level int) {
	for ; level >= 0 && s.yielding(level); level-- {
		n.up.sum.set(n.slot, s.weight(level, n))
		n = n.up
	}
}

// chainWeight is the weight of a chain of n forks: 1 for the last, forkWeight for the one before, and so on.
func chainWeight(n int) float64 {
	return (1 - math.Pow(forkWeight, float64(n))) / (1 - forkWeight)
}

// weigh brings the weight of leaf n up to date.
func (s *cupa) weigh(n *class) {
	if s.forks(len(s.key) - 1) {
		n.up.sum.set(n.slot, chainWeight(len(n.cand)))
	}
}

func (s *cupa) Next() (uint64, bool) {
	if len(s.at) == 0 {
		return 0, false
	}
	moved := s.guide != nil && s.guided != s.guide.Edges()
	if s.picks++; s.picks >= guideEvery && (moved || len(s.stale) > 0) {
		s.picks = 0
		s.reweigh(s.root, 0)
		if clear(s.stale); moved {
			s.guided = s.guide.Edges()
		}
	}
	n := s.root
	for range s.key {
		if n.sum != nil {
			n = n.kids[n.sum.find(s.rng.Float64()*n.sum.total())]
		} else {
			n = n.kids[s.rng.IntN(len(n.kids))]
		}
	}
	i := len(n.cand) - 1
	if s.forks(len(s.key) - 1) {
		for i > 0 && s.rng.Float64()*chainWeight(i+1) > 1 { // the last has weight 1 of chainWeight
			i--
		}
	} else {
		i = s.rng.IntN(len(n.cand))
	}
	id := n.cand[i]
	s.drop(n, i)
	return id, true
}

// reweigh weighs the classes below n, which is at level.
func (s *cupa) reweigh(n *class, level int) {
	below := false // something is learned, here or below
	for l := level; l < len(s.levels); l++ {
		below = below || s.learns(l)
	}
	if !below {
		return
	}
	for _, k := range n.kids {
		if s.levels[level] != "hlpc-yield" || s.stale[k.key] {
			s.reweigh(k, level+1)
		}
	}
	if s.learns(level) {
		n.sum = n.sum[:0]
		for _, k := range n.kids {
			n.sum = n.sum.append(s.weight(level, k))
		}
	}
}

// drop removes candidate i of leaf n and the classes that are empty now.
func (s *cupa) drop(n *class, i int) {
	delete(s.at, n.cand[i])
	n.cand = append(n.cand[:i], n.cand[i+1:]...)
	if len(n.cand) > 0 {
		s.weigh(n)
		return
	}
	level := len(s.key) - 1 // of n's up
	for ; n.up != nil && len(n.kids) == 0; level-- {
		up := n.up
		last := len(up.kids) - 1
		moved := up.kids[last]
		up.kids[n.slot], moved.slot = moved, n.slot
		up.kids = up.kids[:last]
		delete(up.index, n.key)
		if up.sum != nil {
			up.sum.set(n.slot, up.sum.get(last))
			up.sum = up.sum.cut()
		}
		n = up
	}
	s.upwards(n, level)
}

func (s *cupa) Remove(ids map[uint64]bool) {
	// In the order of the leaves' candidates, so that the tree's shape does not depend on the map's.
	order := make([]uint64, 0, len(ids))
	for id := range ids {
		order = append(order, id)
	}
	sort.Slice(order, func(i, j int) bool { return order[i] < order[j] })
	for _, id := range order {
		n := s.at[id]
		for i, c := range n.cand {
			if c == id {
				s.drop(n, i)
				break
			}
		}
	}
}

// fenwick holds numbers with their prefix sums: element i and sums in O(log n).
type fenwick []float64

func (f fenwick) total() float64 {
	t := 0.0
	for i := len(f); i > 0; i &= i - 1 {
		t += f[i-1]
	}
	return t
}

func (f fenwick) get(i int) float64 {
	t, low := f[i], i&(i+1)
	for j := i; j > low; j &= j - 1 {
		t -= f[j-1]
	}
	return t
}

func (f fenwick) set(i int, v float64) {
	d := v - f.get(i)
	for i++; i <= len(f); i += i & -i {
		f[i-1] += d
	}
}

func (f fenwick) append(v float64) fenwick {
	i := len(f) + 1
	for j := i - 1; j > i&(i-1); j &= j - 1 {
		v += f[j-1]
	}
	return append(f, v)
}

// cut removes the last element. The sums before it do not contain it.
func (f fenwick) cut() fenwick { return f[:len(f)-1] }

// find is the first index whose prefix sum exceeds v; the last if none does.
func (f fenwick) find(v float64) int {
	at, step := 0, 1
	for step*2 <= len(f) {
		step *= 2
	}
	for ; step > 0; step /= 2 {
		if at+step <= len(f) && f[at+step-1] <= v {
			at += step
			v -= f[at-1]
		}
	}
	return min(at, len(f)-1)
}
