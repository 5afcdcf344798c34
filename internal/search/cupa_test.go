package search

import (
	"math"
	"math/rand/v2"
	"testing"
)

// Sums, updates and look-ups agree with a plain slice.
func TestFenwick(t *testing.T) {
	seed := rand.Uint64()
	r := rand.New(rand.NewPCG(seed, 0))
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
				t.Fatalf("seed %d: find(%v) in %v is %d, not %d", seed, v, plain, got, want)
			}
		}
		sum := 0.0
		for i, x := range plain {
			if math.Abs(f.get(i)-x) > 1e-9 {
				t.Fatalf("seed %d: element %d is %v, not %v", seed, i, f.get(i), x)
			}
			sum += x
		}
		if math.Abs(f.total()-sum) > 1e-6 {
			t.Fatalf("seed %d: total %v, not %v", seed, f.total(), sum)
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

// Classes are picked by the yield of their instruction, whatever has come and gone.
func TestYield(t *testing.T) {
	got := [3]int{}
	places := []Place{{Dynamic: 1, Static: 1, PC: 1}, {Dynamic: 2, Static: 1, PC: 1}, {Dynamic: 3, Static: 2, PC: 1}}
	for seed := range uint64(3000) {
		s, err := NewCUPA([]string{"hlpc-yield", "llpc"}, seed)
		if err != nil {
			t.Fatal(err)
		}
		learn := func(p Place, picked, fresh int) {
			for i := range picked {
				s.(Learner).Learn(p, i < fresh)
			}
		}
		learn(Place{Static: 1}, 18, 9) // weight 10/20
		gone := map[uint64]bool{}
		for i := range uint64(300) {
			s.Add(Candidate{ID: i, Place: places[i%3]})
			s.Add(Candidate{ID: 1000 + i, Place: Place{Dynamic: 10 + i, Static: 1 + i%2}})
			gone[1000+i] = true
		}
		s.Remove(gone)
		learn(Place{Static: 2}, 6, 0) // 1/8
		for range guideEvery {
			s.Next()
		}
		id, _ := s.Next()
		got[id%3]++
	}
	for i, w := range []float64{10.0 / 20, 10.0 / 20, 1.0 / 8} {
		if p := w / (2*10.0/20 + 1.0/8); !near(got[i], 3000, p) {
			t.Errorf("class %d came first %d of 3000 times, expected %.0f", i, got[i], p*3000)
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
						s.Learn(place(), id%3 == 0)
					}
					add(id)
					id++
				}
			})
		}
	}
}
