package bench

import (
	"bytes"
	"context"
	"flag"
	"fmt"
	"maps"
	"math"
	"os"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strings"
	"testing"
	"time"

	"symchef/internal/rundir"
	"symchef/internal/session"
)

var (
	searchBudget = flag.Uint64("budget", 5_000_000_000, "guest instructions of a run of BenchmarkSearch")
	searchTime   = flag.Duration("run-time", 30*time.Minute, "wall clock of a run of BenchmarkSearch, at most: without models solving may take it all")
	searchSeeds  = flag.Int("seeds", 5, "runs of BenchmarkSearch per target and strategy")
	targetsOnly  = flag.String("targets", "", "those of BenchmarkSearch or BenchmarkWorkers whose names contain this")
	searchBy     = flag.String("configs", "", "that configuration of BenchmarkSearch alone")
	searchUpdate = flag.Bool("update", false, "write docs/search.md and docs/search.svg, or docs/merging.md")
)

// config is a strategy with families of models of interpreter functions (--opt).
type config struct {
	name, strategy string
	models         []string // nil: all
}

// configs are what runs; strategies compares searches, the others with the first, and ablation what searches and models are worth.
var (
	configs = []config{
		{"random", "random", nil}, {"cupa-path", "cupa-path", nil}, {"cupa-cov", "cupa-cov", nil},
		{"none + random", "random", []string{}}, {"none + cupa-path", "cupa-path", []string{}},
	}
	strategies = comparison{"Strategies", "high-level paths, times those of random", "random", []string{"cupa-path", "cupa-cov"}}
	ablation   = comparison{"Ablation", "high-level paths, times those of random without models", "none + random", []string{"random", "none + cupa-path", "cupa-path"}}
)

// comparison is of configurations by name.
type comparison struct {
	title, axis, base string
	others            []string
}

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

// row is a target with the outcomes of each configuration.
type row struct {
	target    string
	language  string
	exhausted map[string]bool // by all runs
	late      map[string]bool // the time ended one of them
	of        map[string][]outcome
}

func (r *row) high(config string) stats {
	return statsOf(r.of[config], func(o outcome) float64 { return o.high })
}

func (r *row) lines(config string) float64 {
	return statsOf(r.of[config], func(o outcome) float64 { return o.lines }).mean
}

func (r *row) share(config string) float64 {
	return statsOf(r.of[config], func(o outcome) float64 { return o.share }).mean
}

func (r *row) factor(config, base string) float64 {
	return r.high(config).mean / max(r.high(base).mean, 1)
}

// BenchmarkSearch compares strategies and models on real libraries with CHEF's sizes of inputs (table 3 of its paper), by
// high-level paths and lines covered after as many instructions.
func BenchmarkSearch(b *testing.B) {
	files, err := filepath.Glob("testdata/search/*")
	if err != nil || len(files) == 0 {
		b.Fatal("no targets", err)
	}
	cache := b.TempDir()
	debug.SetGCPercent(200) // as the command does
	for b.Loop() {
		var rows []*row
		for _, file := range files {
			name := strings.TrimSuffix(filepath.Base(file), filepath.Ext(file))
			if !strings.Contains(name, *targetsOnly) {
				continue
			}
			r := &row{target: name, language: map[string]string{".py": "Python", ".lua": "Lua"}[filepath.Ext(file)], exhausted: map[string]bool{}, late: map[string]bool{}, of: map[string][]outcome{}}
			for _, k := range configs {
				if *searchBy != "" && *searchBy != k.name {
					continue
				}
				r.exhausted[k.name] = true
				for seed := range *searchSeeds {
					sum, err := runTarget(b, file, k, uint64(seed), cache)
					if err != nil {
						fmt.Printf("%s is left out: %v\n", name, err)
						r = nil
						break
					}
					r.exhausted[k.name] = r.exhausted[k.name] && sum.Exhausted
					r.late[k.name] = r.late[k.name] || slices.Contains(sum.WhyNotExhausted, "limit: --time")
					r.of[k.name] = append(r.of[k.name], outcome{float64(sum.Paths.High), float64(sum.Lines), float64(sum.Paths.High) / float64(max(sum.Paths.Low, 1))})
				}
				if r == nil {
					break
				}
				fmt.Printf("%-20s %-16s high-level paths %v, lines %.0f, share %.0f%%\n", name, k.name, r.high(k.name), r.lines(k.name), 100*r.share(k.name))
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
func runTarget(b *testing.B, file string, k config, seed uint64, cache string) (rundir.Summary, error) {
	var log bytes.Buffer
	o := session.Options{Test: file, Out: filepath.Join(b.TempDir(), "out"), CacheDir: cache, NoReplay: true, Progress: "none", StdinLen: -1,
		Strategy: k.strategy, Models: k.models, Seed: seed, Instructions: *searchBudget, Time: *searchTime, MaxMemory: 4 << 30}
	if filepath.Ext(file) == ".py" {
		o.Interpreter = "/usr/bin/python3.11" // which has Debian's packages
	}
	status := session.Run(context.Background(), o, &log, &log)
	run, err := rundir.Open(o.Out)
	if err != nil || status != session.StatusOK && status != session.StatusFailing {
		return rundir.Summary{}, fmt.Errorf("status %d, %v: %s", status, err, strings.TrimSpace(log.String()))
	}
	return run.Summary, nil
}

// report is docs/search.md.
func report(rows []*row) string {
	var t strings.Builder
	fmt.Fprintf(&t, "# Search strategies and models\n\nGenerated: make bench-search. %d guest instructions a run, %d seeds, mean and standard deviation. The targets are libraries of Debian 12 with\n"+
		"inputs of the sizes in the CHEF paper (table 3): bytes of each symbolic argument. *Share*: of the low-level paths, those that were new high-level paths.\n"+
		"Models of interpreter functions ([models.md](models.md)) are all in use but where *none* is said. *Time*: a run was ended after %v.\n\n![the factors as a plot](search.svg)\n\n",
		*searchBudget, *searchSeeds, *searchTime)
	fmt.Fprint(&t, strategies.table(rows, true), shares(rows), ablation.table(rows, false))
	return t.String()
}

// shares are means over the targets of a language.
func shares(rows []*row) string {
	var t strings.Builder
	fmt.Fprint(&t, "Share, mean over the targets of a language:")
	for i, s := range append([]string{strategies.base}, strategies.others...) {
		sum, n := map[string]float64{}, map[string]float64{}
		for _, r := range rows {
			sum[r.language] += r.share(s)
			n[r.language]++
		}
		fmt.Fprintf(&t, "%s %s", []string{"", ";"}[min(i, 1)], s)
		for _, l := range slices.Sorted(maps.Keys(sum)) {
			fmt.Fprintf(&t, " %s %.0f %%", l, 100*sum[l]/n[l])
		}
	}
	fmt.Fprint(&t, ".\n\n")
	return t.String()
}

// table is a comparison in Markdown.
func (k comparison) table(rows []*row, details bool) string {
	var t strings.Builder
	fmt.Fprintf(&t, "## %s\n\n| target |", k.title)
	for _, s := range append([]string{k.base}, k.others...) {
		if fmt.Fprintf(&t, " %s |", s); details {
			fmt.Fprint(&t, " lines | share |")
		}
	}
	columns := len(k.others)
	if details {
		columns += 2*len(k.others) + 2
	}
	for _, s := range k.others {
		fmt.Fprintf(&t, " %s / %s |", s, k.base)
	}
	fmt.Fprint(&t, "\n|---|", strings.Repeat("---|", columns+1+len(k.others)), "\n")
	for _, r := range rows {
		fmt.Fprintf(&t, "| %s |", r.target)
		for _, s := range append([]string{k.base}, k.others...) {
			note := ""
			if r.exhausted[s] {
				note = " (exhausted)"
			} else if r.late[s] {
				note = " (time)"
			}
			if fmt.Fprintf(&t, " %v%s |", r.high(s), note); details {
				fmt.Fprintf(&t, " %.0f | %.0f %% |", r.lines(s), 100*r.share(s))
			}
		}
		for _, s := range k.others {
			fmt.Fprintf(&t, " %.2f |", r.factor(s, k.base))
		}
		fmt.Fprintln(&t)
	}
	for _, s := range k.others {
		product, better, thrice, tenfold := 0.0, 0, 0, 0
		for _, r := range rows {
			f := r.factor(s, k.base)
			product += math.Log(max(f, 0.01))
			better, thrice, tenfold = better+b2i(f > 1), thrice+b2i(f >= 3), tenfold+b2i(f >= 10)
		}
		fmt.Fprintf(&t, "\n%s / %s: geometric mean %.2f; ahead on %d of %d targets, three times and more on %d, ten times and more on %d.\n",
			s, k.base, math.Exp(product/float64(max(len(rows), 1))), better, len(rows), thrice, tenfold)
	}
	fmt.Fprintln(&t)
	return t.String()
}

func b2i(b bool) int {
	if b {
		return 1
	}
	return 0
}

// plot is docs/search.svg: for each comparison and target a bar for each configuration, on a logarithmic scale.
func plot(rows []*row) string {
	const left, width, bar = 150, 420, 14
	colours := []string{"#2f6f9f", "#c7772e", "#4d8f4d"}
	var t strings.Builder
	y := 14
	for _, k := range []comparison{strategies, ablation} {
		least, most := 1.0, 2.0
		for _, r := range rows {
			for _, s := range k.others {
				least, most = min(least, max(r.factor(s, k.base), 0.01)), max(most, r.factor(s, k.base))
			}
		}
		at := func(f float64) float64 { return math.Log(max(f, 0.01)/least) / math.Log(most/least) * width }
		fmt.Fprintf(&t, "<text x=\"%d\" y=\"%d\">%s: %s</text>\n", left, y, k.title, k.axis)
		top := y + 6
		y += 12
		for _, r := range rows {
			fmt.Fprintf(&t, "<text x=\"%d\" y=\"%d\" text-anchor=\"end\">%s</text>\n", left-6, y+bar, r.target)
			for i, s := range k.others {
				f := r.factor(s, k.base)
				from, to := min(at(f), at(1)), max(at(f), at(1))
				fmt.Fprintf(&t, "<rect x=\"%.1f\" y=\"%d\" width=\"%.1f\" height=\"%d\" fill=\"%s\"/><text x=\"%.1f\" y=\"%d\">%.2f %s</text>\n", left+from, y, max(to-from, 1), bar-2, colours[i], left+to+4, y+bar-4, f, s)
				y += bar
			}
			y += 10
		}
		fmt.Fprintf(&t, "<line x1=\"%.1f\" x2=\"%.1f\" y1=\"%d\" y2=\"%d\" stroke=\"#888\" stroke-dasharray=\"3\"/>\n", left+at(1), left+at(1), top, y-8)
		y += 24
	}
	return fmt.Sprintf("<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" height=\"%d\" font-family=\"sans-serif\" font-size=\"11\">\n%s</svg>\n", left+width+150, y, t.String())
}
