package solver

import (
	"bytes"
	"os/exec"
	"testing"
	"time"

	"symchef/internal/bitblast"
	"symchef/internal/expr"
)

// BenchmarkChain reports the time of a query of each workload, end to end:
// a path's branches asked in order, along 20 paths.
func BenchmarkChain(b *testing.B) {
	for _, mode := range []struct {
		name string
		o    Options
	}{
		{"default", Options{}},
		{"backend", Options{Without: map[string]bool{"models": true, "cache": true, "domain": true}}},
	} {
		for i := range workloads {
			w := &workloads[i]
			b.Run(mode.name+"/"+w.name, func(b *testing.B) {
				var s Stats
				for b.Loop() {
					c := expr.New()
					chain := New(c, mode.o)
					w.explore(c, 1, 20, func(q Query) { chain.Check(q) })
					s = chain.Stats()
				}
				n := float64(s.Queries)
				b.ReportMetric(float64(s.Time.Microseconds())/n, "us/query")
				b.ReportMetric(100*float64(s.AnsweredWithoutBackend())/n, "%cached")
				b.ReportMetric(float64(s.Propagations)/n, "props/query")
				b.ReportMetric(float64(s.Unknown), "unknown")
				b.ReportMetric(0, "ns/op")
			})
		}
	}
}

// BenchmarkAgainstProcesses reports how many times longer an installed solver
// takes as a subprocess, its start included, over the same sample of queries.
func BenchmarkAgainstProcesses(b *testing.B) {
	for i := range workloads {
		w := &workloads[i]
		b.Run(w.name, func(b *testing.B) {
			for b.Loop() {
				c := expr.New()
				s := New(c, Options{Without: map[string]bool{"models": true, "cache": true, "domain": true}})
				var ours, cadical, cvc5 time.Duration
				n := 0
				w.explore(c, 1, 4, func(q Query) {
					if n++; n%9 != 0 {
						return
					}
					start := time.Now()
					s.Check(q)
					ours += time.Since(start)
					if p, err := exec.LookPath("cadical"); err == nil {
						in := bitblast.NewInstance(bitblast.NewGraph(c))
						in.Check(q.Conjuncts, nil, 0)
						var text bytes.Buffer
						in.WriteDIMACS(&text)
						start = time.Now()
						cmd := exec.Command(p, "-q", "--inprocessing=false")
						cmd.Stdin = &text
						cmd.Run()
						cadical += time.Since(start)
					}
					if p, err := exec.LookPath("cvc5"); err == nil {
						start = time.Now()
						consult(b, p, oracles[0].args, c, q.Conjuncts)
						cvc5 += time.Since(start)
					}
				})
				b.ReportMetric(float64(cadical)/float64(ours), "cadical/ours")
				b.ReportMetric(float64(cvc5)/float64(ours), "cvc5/ours")
				b.ReportMetric(0, "ns/op")
			}
		})
	}
}
