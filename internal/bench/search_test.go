package bench

import (
	"bytes"
	"context"
	"flag"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"symchef/internal/rundir"
	"symchef/internal/session"
)

var (
	searchBudget = flag.Uint64("budget", 5_000_000_000, "guest instructions of a run of BenchmarkSearch")
	searchSeeds  = flag.Int("seeds", 5, "runs of BenchmarkSearch per target and strategy")
	searchOnly   = flag.String("targets", "", "those of BenchmarkSearch whose names contain this")
	searchUpdate = flag.Bool("update", false, "write docs/search.md and docs/search.svg")
)

// searchStrategies are compared; the first is the one the others are compared with.
var searchStrategies = []string{"random", "cupa-path", "cupa-cov"}

// outcome is a run of a target: high-level paths, lines covered, and the share of low-level paths that were new high-level ones.
type outcome struct{ high, lines, share float64 }

// stats are the mean and the deviation of a number over seeds.
type stats struct{ mean, dev float64 }

func (s stats) String() string { return fmt.Sprintf("%.0f ± %.0f", s.mean, s.dev) }

func statsOf(l []outcome, f func(outcome) float64) (s stats) {
	for _, o := range l {
		s.mean += f(o) / float64(len(l))
	}
	for _, o := range l {
		s.dev += (f(o) - s.mean) * (f(o) - s.mean) / max(float64(len(l)-1), 1)
	}
	s.dev = math.Sqrt(s.dev)
	return s
}

// row is a target with the outcomes of each strategy.
type row struct {
	target    string
	exhausted bool
	of        map[string][]outcome
}

func (r *row) high(strategy string) stats {
	return statsOf(r.of[strategy], func(o outcome) float64 { return o.high })
}

// BenchmarkSearch compares strategies on real libraries with CHEF's sizes of inputs (table 3 of its paper), by
// high-level paths and lines covered after as many instructions.
func BenchmarkSearch(b *testing.B) {
	files, err := filepath.Glob("testdata/search/*")
	if err != nil || len(files) == 0 {
		b.Fatal("no targets", err)
	}
	cache := b.TempDir()
	for b.Loop() {
		var rows []*row
		for _, file := range files {
			name := strings.TrimSuffix(filepath.Base(file), filepath.Ext(file))
			if !strings.Contains(name, *searchOnly) {
				continue
			}
			r := &row{target: name, exhausted: true, of: map[string][]outcome{}}
			for _, strategy := range searchStrategies {
				for seed := range *searchSeeds {
					sum, err := runTarget(b, file, strategy, uint64(seed), cache)
					if err != nil {
						fmt.Printf("%s is left out: %v\n", name, err)
						r = nil
						break
					}
					r.exhausted = r.exhausted && sum.Exhausted
					r.of[strategy] = append(r.of[strategy], outcome{float64(sum.Paths.High), float64(sum.Lines), float64(sum.Paths.High) / float64(max(sum.Paths.Low, 1))})
				}
				if r == nil {
					break
				}
				fmt.Printf("%-20s %-10s high-level paths %v, lines %v, share %.0f%%\n", name, strategy, r.high(strategy),
					statsOf(r.of[strategy], func(o outcome) float64 { return o.lines }), 100*statsOf(r.of[strategy], func(o outcome) float64 { return o.share }).mean)
			}
			if r != nil {
				rows = append(rows, r)
			}
		}
		text := report(rows)
		fmt.Print(text)
		if *searchUpdate {
			if err := os.WriteFile("../../docs/search.md", []byte(text), 0o644); err != nil {
				b.Fatal(err)
			}
			if err := os.WriteFile("../../docs/search.svg", []byte(plot(rows)), 0o644); err != nil {
				b.Fatal(err)
			}
		}
	}
}

// runTarget runs a target.
func runTarget(b *testing.B, file, strategy string, seed uint64, cache string) (rundir.Summary, error) {
	var log bytes.Buffer
	o := session.Options{Test: file, Out: filepath.Join(b.TempDir(), "out"), CacheDir: cache, NoReplay: true, Progress: "none", StdinLen: -1,
		Strategy: strategy, Seed: seed, Instructions: *searchBudget, MaxMemory: 4 << 30}
	if filepath.Ext(file) == ".py" {
		o.Interpreter = "/usr/bin/python3.11" // which has Debian's packages
	}
	status := session.Run(context.Background(), o, &log, &log)
	run, err := rundir.Open(o.Out)
	if err != nil || status != session.StatusOK && status != session.StatusFailing || run.Summary.Paths.Low == 0 {
		return rundir.Summary{}, fmt.Errorf("status %d, %v: %s", status, err, strings.TrimSpace(log.String()))
	}
	return run.Summary, nil
}

// report is docs/search.md.
func report(rows []*row) string {
	var t strings.Builder
	fmt.Fprintf(&t, "# Search strategies\n\nGenerated: make bench-search. %d guest instructions a run, %d seeds, mean and standard deviation. The targets are libraries of Debian 12 with\n"+
		"inputs of the sizes in the CHEF paper (table 3): bytes of each symbolic argument. *Share*: of the low-level paths, those that were new high-level paths.\n\n![the factors as a plot](search.svg)\n\n",
		*searchBudget, *searchSeeds)
	fmt.Fprint(&t, "| target |")
	for _, s := range searchStrategies {
		fmt.Fprintf(&t, " %s | lines | share |", s)
	}
	fmt.Fprint(&t, " cupa-path / random |\n|---|")
	fmt.Fprint(&t, strings.Repeat("---|", 3*len(searchStrategies)+1), "\n")
	product, n, better, thrice := 0.0, 0, 0, 0
	for _, r := range rows {
		fmt.Fprintf(&t, "| %s |", r.target)
		for _, s := range searchStrategies {
			fmt.Fprintf(&t, " %v | %.0f | %.0f %% |", r.high(s), statsOf(r.of[s], func(o outcome) float64 { return o.lines }).mean, 100*statsOf(r.of[s], func(o outcome) float64 { return o.share }).mean)
		}
		f := r.factor()
		note := ""
		if r.exhausted {
			note = " (exhausted)"
		}
		fmt.Fprintf(&t, " %.2f%s |\n", f, note)
		product += math.Log(f)
		n++
		if f > 1 {
			better++
		}
		if f >= 3 {
			thrice++
		}
	}
	fmt.Fprintf(&t, "\nGeometric mean of the factor: %.2f. cupa-path is ahead of random on %d of %d targets, three times and more on %d.\n", math.Exp(product/float64(max(n, 1))), better, n, thrice)
	return t.String()
}

func (r *row) factor() float64 {
	return r.high("cupa-path").mean / max(r.high(searchStrategies[0]).mean, 1)
}

// plot is a bar for each target: how many times the high-level paths of random each other strategy finds.
func plot(rows []*row) string {
	const left, width, bar = 150, 420, 14
	var t strings.Builder
	most := 1.0
	for _, r := range rows {
		for _, s := range searchStrategies[1:] {
			most = max(most, r.high(s).mean/max(r.high(searchStrategies[0]).mean, 1))
		}
	}
	height := len(rows)*(bar*(len(searchStrategies)-1)+10) + 40
	fmt.Fprintf(&t, "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" height=\"%d\" font-family=\"sans-serif\" font-size=\"11\">\n", left+width+60, height)
	fmt.Fprintf(&t, "<text x=\"%d\" y=\"14\">high-level paths, times those of random</text>\n", left)
	y := 26
	colours := []string{"#2f6f9f", "#c7772e"}
	for _, r := range rows {
		fmt.Fprintf(&t, "<text x=\"%d\" y=\"%d\" text-anchor=\"end\">%s</text>\n", left-6, y+bar, r.target)
		for i, s := range searchStrategies[1:] {
			f := r.high(s).mean / max(r.high(searchStrategies[0]).mean, 1)
			w := f / most * width
			fmt.Fprintf(&t, "<rect x=\"%d\" y=\"%d\" width=\"%.1f\" height=\"%d\" fill=\"%s\"/><text x=\"%.1f\" y=\"%d\">%.2f %s</text>\n", left, y, w, bar-2, colours[i], float64(left)+w+4, y+bar-4, f, s)
			y += bar
		}
		y += 10
	}
	fmt.Fprintf(&t, "<line x1=\"%.1f\" x2=\"%.1f\" y1=\"20\" y2=\"%d\" stroke=\"#888\" stroke-dasharray=\"3\"/>\n</svg>\n", left+width/most, left+width/most, height-10)
	return t.String()
}
