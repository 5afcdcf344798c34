package bench

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"maps"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"symchef/internal/rundir"
)

var (
	searchBudget  = flag.Uint64("budget", 5_000_000_000, "guest instructions of a run of BenchmarkSearch")
	searchTime    = flag.Duration("run-time", 30*time.Minute, "wall clock of a run of BenchmarkSearch, at most")
	searchNone    = flag.Duration("none-time", 5*time.Minute, "the same for a run without models, where solving may take all of it")
	searchSeeds   = flag.Int("seeds", 5, "runs of BenchmarkSearch per target and strategy")
	targetsOnly   = flag.String("targets", "", "those of BenchmarkSearch, BenchmarkSolver or BenchmarkWorkers whose names contain this")
	searchBy      = flag.String("configs", "", "those configurations of BenchmarkSearch alone, commas between")
	searchAtOnce  = flag.Int("at-once", 1, "runs of BenchmarkSearch at a time")
	searchMemory  = flag.String("memory", "9G", "of a run of BenchmarkSearch: with less it finds the same, but gives up states and executes their paths again")
	searchResults = flag.String("results", filepath.Join(os.TempDir(), "symchef-search.jsonl"), "what is known of BenchmarkSearch's runs: those here are not repeated, others are added")
	searchUpdate  = flag.Bool("update", false, "write docs/search.md and docs/search.svg, or docs/merging.md")
)

// config is a strategy with families of models of interpreter functions (--opt).
type config struct {
	name, strategy string
	models         string
	classes        string   // --cupa in place of the strategy
	folders        []string // of testdata, with the targets that it runs on
}

// limit is the wall clock of a run of k, at most.
func (k config) limit() time.Duration {
	if k.models == "none" {
		return *searchNone
	}
	return *searchTime
}

// configs are what runs; strategies compares searches, the others with the first, ablation what searches and models are worth, and matching
// classes of states by the high-level program counter alone (hlpc) with those by the low-level one besides (llpc), CHEF's search.
var (
	configs = []config{
		{name: "random", strategy: "random", models: "all", folders: []string{libraries, matchers}},
		{name: "cupa-path", strategy: "cupa-path", models: "all", folders: []string{libraries, matchers}},
		{name: "cupa-cov", strategy: "cupa-cov", models: "all", folders: []string{libraries}},
		{name: "none + random", strategy: "random", models: "none", folders: []string{libraries}},
		{name: "none + cupa-path", strategy: "cupa-path", models: "none", folders: []string{libraries}},
		{name: "hlpc", classes: "hlpc-dynamic", models: "all", folders: []string{matchers}},
		{name: "hlpc + llpc", classes: "hlpc-dynamic,llpc", models: "all", folders: []string{matchers}},
	}
	strategies = comparison{"Strategies", "high-level paths, times those of random", "random", []string{"cupa-path", "cupa-cov"}}
	ablation   = comparison{"Ablation", "high-level paths, times those of random without models", "none + random", []string{"random", "none + cupa-path", "cupa-path"}}
	matching   = comparison{"The low-level class, in regular expressions", "", "random", []string{"hlpc", "hlpc + llpc", "cupa-path"}}
)

// Folders of targets: the ten libraries; programs that match regular expressions, a second interpreter, of which all that it does is one
// instruction of the first.
const libraries, matchers = "search", "matching"

// comparison is of configurations by name.
type comparison struct {
	title, axis, base string
	others            []string
}

// outcome is a run of a target, a line of the results. A run is known by its fields up to Limit.
type outcome struct {
	Target       string        `json:"target"`
	Config       string        `json:"config"`
	Seed         uint64        `json:"seed"`
	Instructions uint64        `json:"instructions"`
	Limit        time.Duration `json:"limit_ns"`
	High         int           `json:"high"`
	Low          int           `json:"low"`
	Lines        int           `json:"lines"`
	Exhausted    bool          `json:"exhausted,omitempty"`
	Late         bool          `json:"late,omitempty"` // Limit ended it
}

func (o outcome) key() outcome {
	return outcome{Target: o.Target, Config: o.Config, Seed: o.Seed, Instructions: o.Instructions, Limit: o.Limit}
}

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
	target, language, folder string
	of                       map[string][]outcome
}

func (r *row) high(config string) stats {
	return statsOf(r.of[config], func(o outcome) float64 { return float64(o.High) })
}

func (r *row) lines(config string) float64 {
	return statsOf(r.of[config], func(o outcome) float64 { return float64(o.Lines) }).mean
}

func (r *row) share(config string) float64 {
	return statsOf(r.of[config], func(o outcome) float64 { return float64(o.High) / float64(max(o.Low, 1)) }).mean
}

// note says how the runs ended, if not by their instructions, and how many there are, if fewer than wanted.
func (r *row) note(config string) string {
	var notes []string
	of := r.of[config]
	if n := len(of); n < *searchSeeds {
		notes = append(notes, fmt.Sprintf("of %d", n))
	}
	if late := slices.IndexFunc(of, func(o outcome) bool { return o.Late }); late >= 0 {
		notes = append(notes, fmt.Sprintf("ended after %v", of[late].Limit))
	} else if !slices.ContainsFunc(of, func(o outcome) bool { return !o.Exhausted }) {
		notes = append(notes, "exhausted")
	}
	if len(of) == 0 || len(notes) == 0 {
		return ""
	}
	return " (" + strings.Join(notes, ", ") + ")"
}

// compares reports whether there are runs of both configurations.
func (r *row) compares(config, base string) bool {
	return len(r.of[config]) > 0 && len(r.of[base]) > 0
}

func (r *row) factor(config, base string) float64 {
	return r.high(config).mean / max(r.high(base).mean, 1)
}

// BenchmarkSearch compares strategies and models on real libraries with CHEF's sizes of inputs (table 3 of its paper), by
// high-level paths and lines covered after as many instructions. A run of a seed depends on nothing but the engine, so
// its outcome is kept and not asked for again: the whole takes a day. The first seed of everything comes first.
func BenchmarkSearch(b *testing.B) {
	files, err := targets(libraries, matchers)
	if err != nil || len(files) == 0 {
		b.Fatal("no targets", err)
	}
	tool := filepath.Join(b.TempDir(), "symchef")
	if out, err := exec.Command("go", "build", "-o", tool, "../../cmd/symchef").CombinedOutput(); err != nil {
		b.Fatalf("%v: %s", err, out)
	}
	for b.Loop() {
		known := results(b)
		keep, err := os.OpenFile(*searchResults, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644)
		if err != nil {
			b.Fatal(err)
		}
		var runs sync.WaitGroup
		var mu sync.Mutex // of known, keep and failed
		var failed error
		places := make(chan struct{}, *searchAtOnce)
		for seed := range *searchSeeds {
			for _, file := range files {
				for _, k := range configs {
					o := outcome{Target: targetName(file), Config: k.name, Seed: uint64(seed), Instructions: *searchBudget, Limit: k.limit()}
					if !slices.Contains(k.folders, folderOf(file)) || !strings.Contains(o.Target, *targetsOnly) || *searchBy != "" && !slices.Contains(strings.Split(*searchBy, ","), k.name) || known[o] != nil {
						continue
					}
					places <- struct{}{}
					runs.Go(func() {
						defer func() { <-places }()
						if err := o.run(tool, b.TempDir(), file, k); err != nil {
							fmt.Printf("%s with %s, seed %d: %v\n", o.Target, o.Config, o.Seed, err)
							return
						}
						line, err := json.Marshal(o)
						mu.Lock()
						defer mu.Unlock()
						known[o.key()] = &o
						if err == nil {
							fmt.Printf("%s\n", line)
							_, err = keep.Write(append(line, '\n'))
						}
						failed = errors.Join(failed, err)
					})
				}
			}
		}
		runs.Wait()
		if err := errors.Join(failed, keep.Close()); err != nil {
			b.Fatal(err)
		}
		text, picture := report(files, known)
		fmt.Print(text)
		if *searchUpdate {
			if err := os.WriteFile("../../docs/search.md", []byte(text), 0o644); err != nil {
				b.Fatal(err)
			}
			if err := os.WriteFile("../../docs/search.svg", []byte(picture), 0o644); err != nil {
				b.Fatal(err)
			}
		}
	}
}

// targets are the files in folders of testdata.
func targets(folders ...string) (all []string, err error) {
	for _, f := range folders {
		list, err := filepath.Glob("testdata/" + f + "/*")
		if err != nil {
			return nil, err
		}
		all = append(all, list...)
	}
	return all, nil
}

func folderOf(file string) string { return filepath.Base(filepath.Dir(file)) }

func targetName(file string) string {
	return strings.TrimSuffix(filepath.Base(file), filepath.Ext(file))
}

// results are the outcomes that are kept, by key.
func results(b *testing.B) map[outcome]*outcome {
	known := map[outcome]*outcome{}
	text, err := os.ReadFile(*searchResults)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		b.Fatal(err)
	}
	for line := range bytes.Lines(text) {
		o := new(outcome)
		if err := json.Unmarshal(line, o); err != nil {
			b.Fatalf("%s: %v", *searchResults, err)
		}
		known[o.key()] = o
	}
	return known
}

// rowsOf are the targets that have outcomes of a budget. Of several of a seed, those count that had the most time.
func rowsOf(files []string, known map[outcome]*outcome, budget uint64) (rows []*row) {
	for _, file := range files {
		r := &row{target: targetName(file), folder: folderOf(file), language: map[string]string{".py": "Python", ".lua": "Lua"}[filepath.Ext(file)], of: map[string][]outcome{}}
		best := map[outcome]*outcome{}
		for _, o := range known {
			key := outcome{Config: o.Config, Seed: o.Seed}
			if o.Target == r.target && o.Instructions == budget && (best[key] == nil || best[key].Limit < o.Limit) {
				best[key] = o
			}
		}
		for _, o := range best {
			r.of[o.Config] = append(r.of[o.Config], *o)
		}
		for _, l := range r.of {
			slices.SortFunc(l, func(a, b outcome) int { return cmp.Compare(a.Seed, b.Seed) })
		}
		if len(r.of) > 0 {
			rows = append(rows, r)
		}
	}
	return rows
}

// run runs a target and fills in the outcome.
func (o *outcome) run(tool, dir, file string, k config) error {
	dir, err := os.MkdirTemp(dir, "")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	args := []string{"run", "--no-replay", "--no-cache", "--progress", "none", "--max-memory", *searchMemory, "--out", dir, "--opt", k.models,
		"--seed", strconv.FormatUint(o.Seed, 10), "--instructions", strconv.FormatUint(o.Instructions, 10), "--time", o.Limit.String()}
	if k.classes != "" {
		args = append(args, "--cupa", k.classes)
	} else {
		args = append(args, "--strategy", k.strategy)
	}
	if filepath.Ext(file) == ".py" {
		args = append(args, "--interpreter", "/usr/bin/python3.11") // which has Debian's packages
	}
	cmd := exec.Command(tool, append(args, file)...)
	cmd.Env = []string{"PATH=/usr/bin:/bin", "HOME=/", "LANG=C.UTF-8"} // the interpreter sees it
	said, status := cmd.CombinedOutput()
	run, err := rundir.Open(dir)
	if err != nil || run.Summary.Paths.Low == 0 && status != nil {
		return fmt.Errorf("%v, %v: %s", status, err, bytes.TrimSpace(said))
	}
	s := run.Summary
	if slices.Contains(s.WhyNotExhausted, "interrupted") {
		return errors.New("interrupted")
	}
	o.High, o.Low, o.Lines, o.Exhausted = s.Paths.High, s.Paths.Low, s.Lines, s.Exhausted
	o.Late = slices.Contains(s.WhyNotExhausted, "limit: --time")
	return nil
}

// report is docs/search.md and docs/search.svg, which shows the largest budget that has something to compare.
func report(files []string, known map[outcome]*outcome) (text, picture string) {
	budgets := map[uint64]bool{}
	for _, o := range known {
		budgets[o.Instructions] = true
	}
	var t strings.Builder
	fmt.Fprintf(&t, "# Search strategies and models\n\nGenerated: make bench-search, which goes on where it was left (search.jsonl). Mean and standard deviation of %d seeds. The targets are libraries of Debian 12 with\n"+
		"inputs of the sizes in the CHEF paper (table 3): bytes of each symbolic argument. *Share*: of the low-level paths, those that were new high-level paths.\n"+
		"Models of interpreter functions ([models.md](models.md)) are all in use but where *none* is said. *of n*: so many seeds have run yet; *ended*: by the clock.\n"+
		"*hlpc*: --cupa with the high-level program counter alone as class of states, *hlpc + llpc* with the low-level one below it.\n\n![the factors as a plot](search.svg)\n\n", *searchSeeds)
	for _, budget := range slices.Backward(slices.Sorted(maps.Keys(budgets))) {
		all := rowsOf(files, known, budget)
		in := func(folder string) []*row {
			return slices.DeleteFunc(slices.Clone(all), func(r *row) bool { return r.folder != folder })
		}
		rows := in(libraries)
		fmt.Fprintf(&t, "## After %d million guest instructions\n\n", budget/1_000_000)
		if len(rows) > 0 {
			fmt.Fprint(&t, strategies.table(rows, true), shares(rows), ablation.table(rows, false))
		}
		fmt.Fprint(&t, matching.table(in(matchers), false))
		if picture == "" && strategies.compares(rows) {
			picture = plot(rows)
		}
	}
	return t.String(), picture
}

// compares reports whether k has something to compare.
func (k comparison) compares(rows []*row) bool {
	return slices.ContainsFunc(rows, func(r *row) bool {
		return slices.ContainsFunc(k.others, func(c string) bool { return r.compares(c, k.base) })
	})
}

// shares are means over the targets of a language.
func shares(rows []*row) string {
	var parts []string
	for _, s := range append([]string{strategies.base}, strategies.others...) {
		sum, n := map[string]float64{}, map[string]float64{}
		for _, r := range rows {
			if len(r.of[s]) > 0 {
				sum[r.language] += r.share(s)
				n[r.language]++
			}
		}
		for _, l := range slices.Sorted(maps.Keys(sum)) {
			parts = append(parts, fmt.Sprintf("%s, %s: %.0f %%", s, l, 100*sum[l]/n[l]))
		}
	}
	return "Share, mean over the targets of a language: " + strings.Join(parts, "; ") + ".\n\n"
}

// table is a comparison in Markdown.
func (k comparison) table(rows []*row, details bool) string {
	var t strings.Builder
	if !details && !k.compares(rows) {
		return ""
	}
	fmt.Fprintf(&t, "### %s\n\n| target |", k.title)
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
			if len(r.of[s]) == 0 {
				fmt.Fprint(&t, strings.Repeat(" |", 1+2*b2i(details)))
				continue
			}
			if fmt.Fprintf(&t, " %v%s |", r.high(s), r.note(s)); details {
				fmt.Fprintf(&t, " %.0f | %.0f %% |", r.lines(s), 100*r.share(s))
			}
		}
		for _, s := range k.others {
			if !r.compares(s, k.base) {
				fmt.Fprint(&t, " |")
				continue
			}
			fmt.Fprintf(&t, " %.2f |", r.factor(s, k.base))
		}
		fmt.Fprintln(&t)
	}
	for _, s := range k.others {
		product, n, better, thrice, tenfold := 0.0, 0, 0, 0, 0
		for _, r := range rows {
			if !r.compares(s, k.base) {
				continue
			}
			n++
			f := r.factor(s, k.base)
			product += math.Log(max(f, 0.01))
			better, thrice, tenfold = better+b2i(f > 1), thrice+b2i(f >= 3), tenfold+b2i(f >= 10)
		}
		if n == 0 {
			continue
		}
		fmt.Fprintf(&t, "\n%s / %s: geometric mean %.2f; ahead on %d of %d targets, three times and more on %d, ten times and more on %d.\n",
			s, k.base, math.Exp(product/float64(n)), better, n, thrice, tenfold)
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
				if !r.compares(s, k.base) {
					continue
				}
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
				if !r.compares(s, k.base) {
					continue
				}
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
