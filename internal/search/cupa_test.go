package search

import (
	"maps"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"symchef/internal/seed"
)

// Sums, updates and look-ups agree with a plain slice.
func TestFenwick(t *testing.T) {
	r := seed.Rand(t)
	var f fenwick
	var plain []float64
	for range 5000 {
		switch k := r.IntN(4); {
		case k == 0 || len(plain) == 0:
			v := float64(r.IntN(8))
			f, plain = f.append(v), append(plain, v)
		case k == 1:
			i, v := r.IntN(len(plain)), float64(r.IntN(8))
			f.set(i, v)
			plain[i] = v
		case k == 2:
			f, plain = f.cut(), plain[:len(plain)-1]
		default:
			v, sum, want := r.Float64()*float64(8*len(plain)), 0.0, len(plain)-1
			for i, x := range plain {
				if sum += x; sum > v {
					want = i
					break
				}
			}
			if got := f.find(v); got != want {
				t.Fatalf("find(%v) in %v is %d, not %d", v, plain, got, want)
			}
		}
		sum := 0.0
		for i, x := range plain {
			if math.Abs(f.get(i)-x) > 1e-9 {
				t.Fatalf("element %d is %v, not %v", i, f.get(i), x)
			}
			sum += x
		}
		if math.Abs(f.total()-sum) > 1e-6 {
			t.Fatalf("total %v, not %v", f.total(), sum)
		}
	}
}

// first counts, over many seeds, which class the first pick comes from.
func first(t *testing.T, names []string, fill func(Searcher), of func(id uint64) int, classes int) []int {
	t.Helper()
	got := make([]int, classes)
	for seed := range uint64(3000) {
		s, err := NewCUPA(names, seed)
		if err != nil {
			t.Fatal(err)
		}
		fill(s)
		id, _ := s.Next()
		got[of(id)]++
	}
	return got
}

// close reports whether n of total is within five standard deviations of probability p.
func near(n, total int, p float64) bool {
	return math.Abs(float64(n)-p*float64(total)) < 5*math.Sqrt(float64(total)*p*(1-p))
}

// A class with a thousand candidates is picked as often as one with one, at every level.
func TestClassUniform(t *testing.T) {
	got := first(t, []string{"hlpc-dynamic", "llpc"}, func(s Searcher) {
		for i := range uint64(1000) { // class 0: many forks at one instruction
			s.Add(Candidate{ID: i, Place: Place{Dynamic: 1, PC: 7}})
		}
		s.Add(Candidate{ID: 1000, Place: Place{Dynamic: 1, PC: 8}})
		s.Add(Candidate{ID: 1001, Place: Place{Dynamic: 2, PC: 7}})
	}, func(id uint64) int { return max(0, int(id)-999) }, 3)
	for i, p := range []float64{0.25, 0.25, 0.5} {
		if !near(got[i], 3000, p) {
			t.Errorf("class %d came first %d of 3000 times, expected %.0f: %v", i, got[i], p*3000, got)
		}
	}
}

// Of a chain of forks the last has weight 1, the one before 0.75, and so on.
func TestForkWeight(t *testing.T) {
	got := first(t, []string{"hlpc-static", "fork-weight"}, func(s Searcher) {
		for i := range uint64(4) {
			s.Add(Candidate{ID: i, Place: Place{Static: 1, Chain: 1}})
		}
		s.Add(Candidate{ID: 4, Place: Place{Static: 1, Chain: 2}})
	}, func(id uint64) int { return int(id) }, 5)
	w := []float64{0.75 * 0.75 * 0.75, 0.75 * 0.75, 0.75, 1, 1}
	sum := 0.0
	for _, x := range w {
		sum += x
	}
	for i, x := range w {
		if !near(got[i], 3000, x/sum) {
			t.Errorf("fork %d came first %d of 3000 times, expected %.0f: %v", i, got[i], x/sum*3000, got)
		}
	}
}

// weights is a guide that knows everything.
type weights struct {
	of    map[uint64]float64
	edges int
}

func (w *weights) Edges() int               { return w.edges }
func (w *weights) Weight(at uint64) float64 { return w.of[at] }

// Classes of branch-distance are picked by the weights of the guide, also when it has learned more.
func TestBranchDistance(t *testing.T) {
	for name, later := range map[string]bool{"at once": false, "learned": true} {
		t.Run(name, func(t *testing.T) {
			right := map[uint64]float64{1: 1, 2: 0.5, 3: 0.125}
			var g *weights
			got := [3]int{}
			for seed := range uint64(3000) {
				s, err := NewCUPA([]string{"opcode", "branch-distance", "llpc"}, seed)
				if err != nil {
					t.Fatal(err)
				}
				g = &weights{of: right}
				if later {
					g = &weights{of: map[uint64]float64{1: 0.001, 2: 0.001, 3: 1}}
				}
				s.(Guided).Guide(g)
				for i := range uint64(300) {
					s.Add(Candidate{ID: i, Place: Place{Static: 1 + i%3, PC: i}})
				}
				if later {
					for range guideEvery { // what is picked comes back elsewhere
						s.Next()
					}
					g.of, g.edges = right, 1
				}
				id, _ := s.Next()
				got[id%3]++
			}
			for i, w := range []float64{1, 0.5, 0.125} {
				if !near(got[i], 3000, w/1.625) {
					t.Errorf("class %d came first %d of 3000 times, expected %.0f", i, got[i], w/1.625*3000)
				}
			}
		})
	}
}

// Places are picked by what the forks of their instruction have yielded, whatever has come and gone.
func TestYield(t *testing.T) {
	got := [6]int{}
	places := []Place{
		{Dynamic: 1, Static: 1, PC: 1}, {Dynamic: 2, Static: 1, PC: 1}, // a fork that yields
		{Dynamic: 1, Static: 1, PC: 2},         // one of the same instruction that nothing is known of
		{Dynamic: 1, Static: 1, PC: 1, Arm: 2}, // the other arm, which does not yield
		{Dynamic: 3, Static: 2, PC: 1},         // an instruction that costs more
		{Dynamic: 4, Static: 3, PC: 1},         // one that nothing is known of
	}
	for seed := range uint64(3000) {
		s, err := NewCUPA([]string{"hlpc-yield"}, seed)
		if err != nil {
			t.Fatal(err)
		}
		learn := func(p Place, picked, fresh int, cost uint64) {
			for i := range picked {
				s.(Learner).Learn(p, i < fresh, cost)
			}
		}
		learn(places[0], 8, 7, 250_000)
		gone := map[uint64]bool{}
		for i := range uint64(300) {
			s.Add(Candidate{ID: i, Place: places[i%6]})
			s.Add(Candidate{ID: 1000 + i, Place: Place{Dynamic: 10 + i, Static: 1 + i%2, PC: i % 3}})
			gone[1000+i] = true
		}
		s.Remove(gone)
		learn(places[3], 8, 0, 150_000)
		learn(places[4], 8, 7, 950_000)
		for range guideEvery {
			s.Next()
		}
		id, _ := s.Next()
		got[id%6]++
	}
	// Of new paths and thousands of instructions; n picks count as past(n), n further ones make of that past(n) times discount to the n.
	past := func(n int) float64 { return (1 - math.Pow(discount, float64(n))) / (1 - discount) }
	then := func(n int) float64 { return math.Pow(discount, float64(n)) }
	eight := past(8)
	all := (then(16)*250*eight + then(8)*150*eight + 950*eight + 50) / (past(24) + 1)
	fresh1 := (then(9)*past(7) + 1) / (past(16) + 2)
	cost1 := (then(8)*250*eight + 150*eight + all) / (past(16) + 1)
	fresh2, cost2 := (then(1)*past(7)+1)/(eight+2), (950*eight+all)/(eight+1)
	yields := (then(1)*past(7) + 2*fresh1) / (250*eight + 2*cost1 + (eight+2)*50)
	unknown := 2 * fresh1 / (2*cost1 + 2*50)
	fails := 2 * fresh1 / (150*eight + 2*cost1 + (eight+2)*50)
	costs := (then(1)*past(7) + 2*fresh2) / (950*eight + 2*cost2 + (eight+2)*50)
	other := (2 * 1 / 2.) / (2*(250*eight+50)/(eight+1) + 2*50) // weighed when it came
	// A fork weighs the square of that, and the root of its places, which are two of the first.
	two := yields * yields / math.Sqrt(2)
	weights := []float64{two, two, unknown * unknown, fails * fails, costs * costs, other * other}
	sum := 0.0
	for _, w := range weights {
		sum += w
	}
	for i, w := range weights {
		if !near(got[i], 3000, w/sum) {
			t.Errorf("class %d came first %d of 3000 times, expected %.0f", i, got[i], w/sum*3000)
		}
	}
}

// What has yielded thousands of times and is exhausted now counts for little.
func TestYieldForgets(t *testing.T) {
	made, err := NewCUPA([]string{"hlpc-yield"}, 0)
	if err != nil {
		t.Fatal(err)
	}
	s := made.(*cupa)
	for i := range 10_000 {
		s.Learn(Place{Static: 1, PC: 1}, i < 5000, uint64(i/5000))
	}
	for _, y := range []*yield{&s.all, s.yieldOf(fork{1, whole}), s.yieldOf(fork{1, 1 << 2})} {
		if y.fresh/y.picked > 0.001 || math.Abs(y.cost/y.picked-1) > 0.001 {
			t.Errorf("%+v", y)
		}
	}
}

// Who recalls what another has learned chooses like that one, also in a portfolio, and keeps what it knows better itself.
func TestRecall(t *testing.T) {
	for _, strategy := range []string{"cupa-path", "portfolio"} {
		searcher := func() Searcher {
			s, err := New(strategy, 1)
			if err != nil {
				t.Fatal(err)
			}
			return s
		}
		picks := func(s Searcher) (ids []uint64) {
			for id := range uint64(300) {
				s.Add(Candidate{ID: id, Place: Place{PC: id % 7, Dynamic: id % 30, Static: id % 5}})
			}
			for range 200 {
				id, _ := s.Next()
				ids = append(ids, id)
			}
			return ids
		}
		r := rand.New(rand.NewPCG(1, 1))
		teacher, pupil, ignorant := searcher(), searcher(), searcher()
		for range 2000 {
			static := r.Uint64N(5)
			at := Place{PC: r.Uint64N(7), Static: static}
			teacher.(Learner).Learn(at, r.Uint64N(6) < static, r.Uint64N(1e6))
		}
		pupil.(Learner).Learn(Place{PC: 1, Static: 1}, true, 7) // known better by the other
		pupil.(Learner).Recall(teacher.(Learner).Learned())
		if got, want := pupil.(Learner).Learned(), teacher.(Learner).Learned(); !sameYields(got, want) || len(want) != 1+5+5*7 {
			t.Errorf("%s: recalled %v, learned %v", strategy, got, want)
		}
		pupil.(Learner).Learn(Place{PC: 1, Static: 1}, true, 7)
		before := pupil.(Learner).Learned()
		pupil.(Learner).Recall(teacher.(Learner).Learned())
		if !sameYields(pupil.(Learner).Learned(), before) {
			t.Errorf("%s: what was known better has changed", strategy)
		}
		teacher.(Learner).Learn(Place{PC: 1, Static: 1}, true, 7)
		want := picks(teacher)
		if !slices.Equal(picks(pupil), want) {
			t.Errorf("%s: chooses otherwise than who it has learned from", strategy)
		}
		if slices.Equal(picks(ignorant), want) {
			t.Errorf("%s: what was learned changes nothing", strategy)
		}
	}
}

// sameYields compares sets.
func sameYields(a, b []Yield) bool {
	set := func(l []Yield) map[Yield]bool {
		m := map[Yield]bool{}
		for _, y := range l {
			m[y] = true
		}
		return m
	}
	return maps.Equal(set(a), set(b))
}

// What comes and goes keeps the weights of classes true, and what is learned does when classes are weighed anew.
func TestWeightsStayTrue(t *testing.T) {
	for seed := range uint64(50) {
		r := rand.New(rand.NewPCG(seed, 7))
		made, err := NewCUPA([]string{"stack", "hlpc-yield"}, seed)
		if err != nil {
			t.Fatal(err)
		}
		s := made.(*cupa)
		place := func() Place {
			d := r.Uint64N(30)
			return Place{PC: r.Uint64N(4), Arm: r.Uint64N(3), Dynamic: d, Static: d % 5, Stack: d % 2}
		}
		for id := range uint64(400) {
			switch r.IntN(4) {
			case 0:
				s.Next()
			case 1:
				if len(s.at) > 0 {
					s.Remove(map[uint64]bool{slices.Min(slices.Collect(maps.Keys(s.at))): true})
				}
			default:
				s.Add(Candidate{ID: id, Place: place()})
			}
			if id%40 == 0 {
				for range 10 {
					s.Learn(place(), r.IntN(2) == 0, r.Uint64N(1e6))
				}
				for static := range uint64(5) {
					s.stale[static] = true
				}
				s.reweigh(s.root, 0)
				clear(s.stale)
			}
			for _, stack := range s.root.kids {
				for _, static := range stack.kids {
					total := 0.0
					for _, f := range static.kids {
						w := s.rate(f) * s.rate(f) * math.Sqrt(float64(len(f.kids)))
						total += w
						if got := static.sum.get(f.slot); math.Abs(got-w) > 1e-9*w {
							t.Fatalf("seed %d, step %d: fork %x of instruction %d weighs %g, expected %g", seed, id, f.key, static.key, got, w)
						}
					}
					if got := stack.sum.get(static.slot); math.Abs(got-total) > 1e-9*total {
						t.Fatalf("seed %d, step %d: instruction %d weighs %g, expected %g", seed, id, static.key, got, total)
					}
				}
			}
		}
	}
}

func TestBadClasses(t *testing.T) {
	for _, names := range [][]string{nil, {"best"}, {"fork-weight", "llpc"}} {
		if _, err := NewCUPA(names, 0); err == nil {
			t.Errorf("%v: no error", names)
		}
	}
}

// BenchmarkPick: the cost of a pick and an add does not grow with the candidates.
func BenchmarkPick(b *testing.B) {
	for _, n := range []uint64{1_000, 100_000} {
		for _, strategy := range []string{"cupa-path", "cupa-cov", "random-path", "random"} {
			b.Run(strategy+"/"+map[uint64]string{1_000: "1k", 100_000: "100k"}[n], func(b *testing.B) {
				s, err := New(strategy, 1)
				if err != nil {
					b.Fatal(err)
				}
				r := rand.New(rand.NewPCG(1, 2))
				place := func() Place {
					dynamic := r.Uint64N(5000)
					return Place{PC: r.Uint64N(300), Dynamic: dynamic, Static: dynamic % 200, Chain: r.Uint64N(n)}
				}
				nodes := []*Node{Child(nil)}
				add := func(id uint64) {
					node := Child(nodes[r.IntN(len(nodes))])
					nodes = append(nodes, node)
					s.Add(Candidate{ID: id, Node: node, Place: place()})
				}
				g := &weights{of: map[uint64]float64{}}
				for i := range uint64(200) {
					g.of[i] = 1 / float64(1+i%7)
				}
				if s, ok := s.(Guided); ok {
					s.Guide(g)
				}
				for id := range n {
					add(id)
				}
				id := n
				for b.Loop() {
					s.Next()
					if s, ok := s.(Learner); ok {
						s.Learn(place(), id%3 == 0, 1000)
					}
					add(id)
					id++
				}
			})
		}
	}
}
