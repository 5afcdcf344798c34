package distributions

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"symchef/internal/seed"
)

var (
	rootsFlag  = flag.String("roots", "", "the folder of roots that roots.sh has made")
	rowsFlag   = flag.String("rows", "", "measure only rows whose name, as 'debian-13 R', this regular expression matches")
	onlyFlag   = flag.String("examples", "", "only examples whose names this regular expression matches, for a first look")
	programs   = flag.Int("programs", 8, "random tests of each interpreter; there are some 50 in a root")
	updateFlag = flag.Bool("update", false, "write docs/distributions.jsonl and docs/distributions.md")
)

const (
	tree        = "../.."
	resultsFile = tree + "/docs/distributions.jsonl"
	document    = tree + "/docs/distributions.md"
	// reference is the root whose counts the others have to have.
	reference = "debian-12"
	// What one run may take: instructions, so that its end is the same on every machine, and a time that is never reached.
	instructions, timeout = 60_000_000, 20 * time.Minute
	// randomInstructions is the same for a random test.
	randomInstructions = 20_000_000
)

// roots are looked at in this order.
var roots = []string{"debian-12", "debian-11", "debian-13", "debian-14"}

// interpreter is a row in each root that has its program.
type interpreter struct {
	name, program string
	language      string // whose tests it runs; none: it is calibrated only
	instructions  int    // that one run may take; 0: as many as others
	like          string // whose counts in the reference it has to have; empty: its own
}

var interpreters = []interpreter{
	{"python3", "/usr/bin/python3", "python", 0, ""},
	{"python3-dbg", "/usr/bin/python3-dbg", "python", 0, "python3"},
	{"python3.8-shared", builds + "3.8.*/bin/python3.8", "python", 0, "python3"},
	{"python3.9-shared", builds + "3.9.*/bin/python3.9", "python", 0, "python3"},
	{"python3.10-shared", builds + "3.10.*/bin/python3.10", "python", 0, "python3"},
	{"python3.11-shared", builds + "3.11.*/bin/python3.11", "python", 0, "python3"},
	{"python3.12-shared", builds + "3.12.*/bin/python3.12", "python", 0, "python3"},
	{"python3.13-shared", builds + "3.13.*/bin/python3.13", "python", 0, "python3"},
	{"lua5.1", "/usr/bin/lua5.1", "lua", 0, ""},
	{"lua5.2", "/usr/bin/lua5.2", "lua", 0, ""},
	{"lua5.3", "/usr/bin/lua5.3", "lua", 0, ""},
	{"lua5.4", "/usr/bin/lua5.4", "lua", 0, ""},
	{"lua5.4-musl", "/opt/musl/bin/lua", "lua", 0, "lua5.4"},     // musl.sh
	{"luajit", "/usr/bin/luajit", "lua", randomInstructions, ""}, // without the model of strings most tests have no end
	{"R", "/usr/bin/R", "r", 0, ""},
	{"mujs", "/usr/bin/mujs", "", 0, ""},
	{"perl", "/usr/bin/perl", "", 0, ""},
	{"C", "/usr/bin/gcc", "", 0, ""},
}

// builds is where a host may have builds of its own, with their interpreter in a shared library, which enter.sh shows in the root where they are; they are measured
// in the reference.
const builds = "/root/.pyenv/versions/"

// packages are the Debian packages that an example tests: another version of it may have other paths.
var packages = map[string]string{
	"test_toml.py": "python3-toml", "test_packaging.py": "python3-packaging", "test_pycparser.py": "python3-pycparser", "test_xlrd.py": "python3-xlrd",
	"clock.lua": "lua-lpeg", "test_json.R": "r-cran-jsonlite",
}

// result is what was measured of a row: a line of docs/distributions.jsonl.
type result struct {
	Root        string            `json:"root"`
	Interpreter string            `json:"interpreter"`
	Version     string            `json:"version"`
	Calibration string            `json:"calibration"`
	Rule        string            `json:"rule,omitempty"` // for code objects
	Models      string            `json:"models,omitempty"`
	Without     []string          `json:"without,omitempty"`
	Scripts     []string          `json:"scripts,omitempty"` // of conformance, those that hold
	Failures    []string          `json:"failures,omitempty"`
	Examples    map[string]count  `json:"examples,omitempty"`
	Seed        string            `json:"seed,omitempty"`     // of the random tests
	Random      *count            `json:"random,omitempty"`   // all of them
	Packages    map[string]string `json:"packages,omitempty"` // versions of those that examples test
}

func (r *result) name() string { return r.Root + " " + r.Interpreter }

// count is what came out of runs.
type count struct {
	High      int `json:"high"`
	Low       int `json:"low"`
	Runs      int `json:"runs"`
	Exhausted int `json:"exhausted"`     // runs
	Cut       int `json:"cut,omitempty"` // runs that went on when their instructions were used up
	Cases     int `json:"cases"`
	Agreed    int `json:"agreed"`
	Diverged  int `json:"diverged,omitempty"`
}

func (c *count) add(d count) {
	c.High += d.High
	c.Low += d.Low
	c.Runs += d.Runs
	c.Exhausted += d.Exhausted
	c.Cut += d.Cut
	c.Cases += d.Cases
	c.Agreed += d.Agreed
	c.Diverged += d.Diverged
}

// cell is paths, high-level and low-level; > where instructions were used up, ! where replays do something else.
func (c count) cell() string {
	s := fmt.Sprintf("%d/%d", c.High, c.Low)
	if c.Cut > 0 {
		s = "> " + s
	}
	if c.Diverged > 0 {
		s += fmt.Sprintf(" !%d", c.Diverged)
	}
	return s
}

// TestDistributions measures each interpreter of each root: doctor, calibration, models, scripts of conformance, examples, random tests. With -update it writes
// what came out; without, counts that another root does not have are errors.
func TestDistributions(t *testing.T) {
	if *rootsFlag == "" {
		t.Skip("skipped: it needs roots of Debian releases; make distributions makes them")
	}
	only, err := regexp.Compile(*rowsFlag)
	if err != nil {
		t.Fatal(err)
	}
	start := seed.Of(t)
	for _, root := range roots {
		path := filepath.Join(*rootsFlag, root)
		for _, in := range interpreters {
			r := &result{Root: root, Interpreter: in.name, Examples: map[string]count{}}
			in.program = found(path, in.program)
			if in.program == "" || strings.HasPrefix(in.program, builds) && root != reference || !only.MatchString(r.name()) {
				continue
			}
			t.Run(strings.ReplaceAll(r.name(), " ", "/"), func(t *testing.T) {
				m := &measurement{t: t, root: path, work: t.TempDir(), in: in, r: r}
				began := time.Now()
				m.all(start)
				results := readResults(t) // once more: others may measure other rows
				results[r.name()] = r
				fmt.Fprintf(os.Stderr, "%-18s %s, %.0f s\n", r.name(), strings.Join(row(r, results)[3:], " | "), time.Since(began).Seconds())
				if *updateFlag {
					writeResults(t, results)
				}
				for _, f := range slices.Concat(r.Failures, differences(r, results)) {
					t.Error(f)
				}
			})
		}
	}
}

// found is where a program is in a root; "": it has none.
func found(root, program string) string {
	if !strings.HasPrefix(program, builds) {
		if _, err := os.Lstat(filepath.Join(root, program)); err != nil {
			return ""
		}
		return program
	}
	list, _ := filepath.Glob(program) // of this host
	if len(list) == 0 {
		return ""
	}
	return list[len(list)-1]
}

// measurement is one row while it is measured.
type measurement struct {
	t          *testing.T
	root, work string
	in         interpreter
	r          *result
}

// enter runs a command in the root; status is its exit status.
func (m *measurement) enter(args ...string) (out string, status int) {
	m.t.Helper()
	c, cancel := context.WithTimeout(context.Background(), timeout)
	defer cancel()
	tree, err := filepath.Abs(tree)
	if err != nil {
		m.t.Fatal(err)
	}
	cmd := exec.CommandContext(c, "sh", append([]string{"enter.sh", m.root, tree, m.work}, args...)...)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	b, err := cmd.Output()
	if exit := (*exec.ExitError)(nil); err != nil && (!errors.As(err, &exit) || c.Err() != nil) {
		m.t.Fatalf("%v: %v\n%s", args, err, stderr.Bytes())
	}
	return string(b) + stderr.String(), cmd.ProcessState.ExitCode()
}

func (m *measurement) fail(format string, args ...any) {
	m.r.Failures = append(m.r.Failures, fmt.Sprintf(format, args...))
}

func (m *measurement) all(start uint64) {
	if m.in.name == "C" {
		m.programs()
		return
	}
	if m.in.language == "" {
		m.calibrate(m.in.program)
		return
	}
	m.check()
	m.r.Packages = m.versions()
	folder := map[string]string{"python": "examples/python/*.py examples/debian/*.py", "lua": "examples/lua/*.lua", "r": "examples/r/*.R"}[m.in.language]
	if strings.HasPrefix(m.in.program, builds) {
		folder = "examples/python/*.py" // they do not have Debian's packages
	}
	limit := strconv.Itoa(cmp.Or(m.in.instructions, instructions)) // a path that takes more is cut off like the run, and no hang
	for _, glob := range strings.Fields(folder) {
		tests, err := filepath.Glob(filepath.Join(tree, glob))
		if err != nil || len(tests) == 0 {
			m.t.Fatalf("%s: %d files, %v", glob, len(tests), err)
		}
		for _, test := range tests {
			if !regexp.MustCompile(*onlyFlag).MatchString(test) {
				continue
			}
			in, _ := filepath.Rel(tree, test)
			if c, ok := m.run(filepath.Base(test), "--instructions", limit, "--path-instructions", limit, "--interpreter", m.in.program, "/mnt/"+in); ok {
				m.r.Examples[filepath.Base(test)] = c
			}
		}
	}
	m.random(start)
}

// versions are those of the packages that the root has.
func (m *measurement) versions() map[string]string {
	v := map[string]string{}
	for _, name := range slices.Sorted(maps.Values(packages)) {
		if out, status := m.enter("dpkg-query", "-W", "-f", "${Version}", name); status == 0 {
			v[name] = out
		}
	}
	return v
}

// upstream is a version without what Debian has done to it.
func upstream(version string) string {
	if i := strings.LastIndex(version, "-"); i >= 0 {
		return version[:i]
	}
	return version
}

// versionOf is that of a package in r's root: of r, or where r was measured before they were noted, of another row of that release.
func versionOf(r *result, name string, results map[string]*result) string {
	for _, o := range append([]*result{r}, ordered(results)...) {
		if o.Root == r.Root && o.Packages[name] != "" {
			return upstream(o.Packages[name])
		}
	}
	return ""
}

// other is which package an example tests that r has in another version than want; "" where both have the same.
func other(r, want *result, example string, results map[string]*result) string {
	name := packages[example]
	if a, b := versionOf(r, name, results), versionOf(want, name, results); name != "" && a != b {
		return fmt.Sprintf("%s %s, not %s", name, a, b)
	}
	return ""
}

// check proves the language's folder in the root.
func (m *measurement) check() {
	out, status := m.enter("symchef", "language", "check", "--interpreter", m.in.program, m.in.language)
	if status > 1 {
		m.fail("language check: %s", strings.TrimSpace(out))
	}
	names := []string{"branches", "calls", "exceptions", "strings", "numbers"}
	for line := range strings.Lines(out) {
		f := strings.Fields(line)
		if len(f) < 3 {
			continue
		}
		good, said := f[0] == "ok", strings.Join(f[2:], " ")
		switch what := f[1]; {
		case what == "interpreter" && good:
			m.r.Version = strings.TrimSuffix(f[3], ",")
		case what == "without":
			m.r.Without = append(m.r.Without, said)
		case what == "models" && good:
			m.r.Models = f[2]
		case what == "calibration" && good:
			m.r.Calibration = strings.TrimSpace(said[strings.LastIndex(said, " ")+1:])
		case slices.Contains(names, what) && good:
			m.r.Scripts = append(m.r.Scripts, what)
		}
		if !good {
			m.fail("%s", strings.Join(f[1:], " "))
		}
	}
	if out, status := m.enter("symchef", "doctor"); status != 0 {
		m.fail("doctor: %s", strings.TrimSpace(out))
	}
}

// calibrate finds the program counter of what no language's tests run on.
func (m *measurement) calibrate(program string, args ...string) {
	out, status := m.enter(append(append([]string{"symchef", "calibrate", "--no-cache"}, args...), program)...)
	if status != 0 {
		m.r.Calibration = "failed"
		m.fail("calibrate: %s", strings.TrimSpace(out))
		return
	}
	for line := range strings.Lines(out) {
		f := strings.Fields(line)
		if len(f) > 1 && f[0] == "confidence" {
			m.r.Calibration = f[1]
		}
		if rest, ok := strings.CutPrefix(strings.TrimSpace(line), "code object"); ok {
			m.r.Rule = strings.TrimSpace(rest)
		}
	}
}

// programs are the examples in C.
func (m *measurement) programs() {
	out, _ := m.enter("sh", "-c", "ldd --version | head -n 1; cd /srv && gcc -O1 -o config /mnt/examples/c/config.c && cc -O1 -static -o crash /mnt/examples/c/crash.c && gcc -O2 -s -o tally /mnt/examples/interpreter/tally.c")
	if f := strings.Fields(strings.SplitN(out, "\n", 2)[0]); len(f) > 0 {
		m.r.Version = "glibc " + f[len(f)-1]
	}
	if c, ok := m.run("config.c", "--file", "app.conf:8", "--env", "MODE:6", "--", "./config"); ok {
		m.r.Examples["config.c"] = c
	}
	if c, ok := m.run("crash.c", "--stdin", "4", "--", "./crash"); ok {
		m.r.Examples["crash.c"] = c
	}
	m.calibrate("./tally", "--description", "/mnt/examples/interpreter/tally.desc")
}

// random makes tests, and explores each.
func (m *measurement) random(start uint64) {
	p, all := printers[m.in.language], count{}
	for i, g := range randomPrograms(start) {
		name := fmt.Sprintf("random_%02d%s", i, p.suffix)
		if err := os.WriteFile(filepath.Join(m.work, name), []byte(p.print(g)), 0o644); err != nil {
			m.t.Fatal(err)
		}
		c, ok := m.run(name, "--instructions", strconv.Itoa(randomInstructions), "--interpreter", m.in.program, name)
		if !ok || c.Diverged > 0 {
			m.t.Logf("seed %#x, program %d:\n%s", start, i, p.print(g))
		}
		all.add(c)
	}
	m.r.Random, m.r.Seed = &all, fmt.Sprintf("%#x", start)
}

// run explores one test and reads what came out; where nothing did, that is a failure and ok is false.
func (m *measurement) run(name string, args ...string) (c count, ok bool) {
	out, status := m.enter(append([]string{"symchef", "run", "--json", "--progress", "none", "--out", "out"}, args...)...)
	defer os.RemoveAll(filepath.Join(m.work, "out"))
	snapshots, _ := filepath.Glob(filepath.Join(m.work, ".cache", "symchef", "*")) // they are large, and what else is kept is small
	for _, path := range snapshots {
		if st, err := os.Stat(path); err == nil && st.Size() > 1<<20 {
			os.Remove(path)
		}
	}
	data, err := os.ReadFile(filepath.Join(m.work, "out", "summary.json"))
	if err != nil || status != 0 && status != 1 && status != 4 {
		m.fail("%s: status %d: %s", name, status, tail(out))
		return count{Runs: 1}, false
	}
	var s struct {
		Exhausted bool
		Why       []string `json:"why_not_exhausted"`
		Paths     struct{ High, Low int }
		Tests     map[string]int
		Replay    struct{ Agreed, Diverged, Unstable int }
	}
	if err := json.Unmarshal(data, &s); err != nil {
		m.t.Fatal(err)
	}
	c = count{High: s.Paths.High, Low: s.Paths.Low, Runs: 1, Agreed: s.Replay.Agreed, Diverged: s.Replay.Diverged + s.Replay.Unstable}
	if s.Exhausted {
		c.Exhausted = 1
	} else {
		m.t.Logf("%s is not exhausted: %s", name, strings.Join(s.Why, "; "))
		if slices.ContainsFunc(s.Why, func(why string) bool { return strings.HasPrefix(why, "limit: --") }) {
			c.Cut = 1
		}
	}
	for _, n := range s.Tests {
		c.Cases += n
	}
	return c, true
}

// tail is the last lines of an output.
func tail(out string) string {
	lines := strings.Split(strings.TrimSpace(out), "\n")
	return strings.Join(lines[max(0, len(lines)-3):], "; ")
}

// referenceOf is the row whose counts r has to have; nil: it is not measured.
func referenceOf(r *result, results map[string]*result) *result {
	i := slices.IndexFunc(interpreters, func(i interpreter) bool { return i.name == r.Interpreter })
	return results[reference+" "+cmp.Or(interpreters[i].like, r.Interpreter)]
}

// differences are the examples of which a row has other counts than the reference's.
func differences(r *result, results map[string]*result) []string {
	want := referenceOf(r, results)
	if want == nil || want == r {
		return nil
	}
	var out []string
	for _, name := range slices.Sorted(maps.Keys(want.Examples)) {
		if got, ok := r.Examples[name]; ok && want.Examples[name].Cut == 0 && got.cell() != want.Examples[name].cell() {
			text := fmt.Sprintf("%s has %s paths, %s in %s", name, got.cell(), want.Examples[name].cell(), reference)
			if version := other(r, want, name, results); version != "" {
				text += ": it tests " + version
			}
			out = append(out, text)
		}
	}
	return out
}

// readResults are the lines of docs/distributions.jsonl, by the names of their rows.
func readResults(t *testing.T) map[string]*result {
	t.Helper()
	l := map[string]*result{}
	f, err := os.Open(resultsFile)
	if errors.Is(err, fs.ErrNotExist) {
		return l
	}
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	for s := bufio.NewScanner(f); s.Scan(); {
		r := &result{}
		if err := json.Unmarshal(s.Bytes(), r); err != nil {
			t.Fatal(err)
		}
		l[r.name()] = r
	}
	return l
}

func writeResults(t *testing.T, results map[string]*result) {
	t.Helper()
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	for _, r := range ordered(results) {
		if err := e.Encode(r); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(resultsFile, b.Bytes(), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(document, []byte(page(results)), 0o644); err != nil {
		t.Fatal(err)
	}
}

// ordered are the results, by interpreter, then by root.
func ordered(results map[string]*result) []*result {
	place := func(r *result) int {
		return slices.IndexFunc(interpreters, func(i interpreter) bool { return i.name == r.Interpreter })*100 + slices.Index(roots, r.Root)
	}
	return slices.SortedFunc(maps.Values(results), func(a, b *result) int { return cmp.Compare(place(a), place(b)) })
}

// row is a line of the first table.
func row(r *result, results map[string]*result) []string {
	scripts, counts, random, agreed := "-", "-", "-", "-"
	if r.Models != "" {
		scripts = fmt.Sprintf("%d of 5", len(r.Scripts))
	}
	all := count{}
	for _, name := range slices.Sorted(maps.Keys(r.Examples)) {
		all.add(r.Examples[name])
	}
	if want := referenceOf(r, results); want != nil && len(r.Examples) > 0 {
		same, of := 0, 0
		for name, c := range want.Examples {
			if c.Cut > 0 || other(r, want, name, results) != "" {
				continue
			}
			got, ok := r.Examples[name]
			if !ok {
				continue
			}
			of++
			if got.Cut == 0 && got.High == c.High && got.Low == c.Low {
				same++
			}
		}
		counts = fmt.Sprintf("%d of %d", same, of)
	}
	if r.Random != nil {
		random = fmt.Sprintf("%d of %d", r.Random.Exhausted, r.Random.Runs)
		all.add(*r.Random)
	}
	if all.Cases > 0 {
		agreed = fmt.Sprintf("%d of %d", all.Agreed, all.Agreed+all.Diverged)
	}
	return []string{strings.ToUpper(r.Root[:1]) + strings.ReplaceAll(r.Root[1:], "-", " "), r.Interpreter, cmp.Or(r.Version, "-"), cmp.Or(r.Calibration, "-"), cmp.Or(r.Models, "-"), scripts, counts, random, agreed}
}

// page is docs/distributions.md.
func page(results map[string]*result) string {
	var b strings.Builder
	b.WriteString(`# Debian releases

Interpreters of Debian 11, 12 and 13, and what Debian 14 will be, each in a root that is made from the archive (` + "`make distributions`" + `: needs root, debootstrap and some 4 GB in the
cache folder; some hours). Nothing of the host's is in a root but its kernel, the binary of SymChef, and builds of its own of CPython with a shared library, where it has some (` + "`-shared`" + `). ` + "`docs/distributions.jsonl`" + ` is what was measured, this page is written from it.

A row that is not here has not been measured; one with fewer examples than Debian 12's is a first look (` + "`-examples`, `-programs`" + ` of the test).

* models: those of [docs/models.md](models.md) that are bound
* scripts: those of conformance, which are explored and compared with native runs over all their inputs (` + "`symchef language check`" + `)
* counts: of the examples that were run and do not use up their instructions on Debian 12, those with as many high-level and low-level paths as there; without
  those that test a Debian package of which the release has another version
* random: tests that were made at random, the same in each language (seed SEED); those that are exhausted
* replays: test cases of examples and random tests that do natively what they do in the machine, of all that end within their instructions

| release | interpreter | version | calibration | models | scripts | counts | random | replays |
|---|---|---|---|--:|--:|--:|--:|--:|
`)
	list := ordered(results)
	for _, r := range list {
		fmt.Fprintf(&b, "| %s |\n", strings.Join(row(r, results), " | "))
	}
	table := strings.Replace(b.String(), "SEED", firstSeed(list), 1)
	b.Reset()
	b.WriteString(table)
	b.WriteString("\nWhat is missing or failed:\n\n")
	said := false
	for _, r := range list {
		for _, w := range slices.Concat(r.Without, r.Failures, differences(r, results)) {
			fmt.Fprintf(&b, "* %s: %s\n", r.name(), w)
			said = true
		}
		if strings.HasPrefix(r.Rule, "no rule") {
			fmt.Fprintf(&b, "* %s: code objects: %s\n", r.name(), r.Rule)
			said = true
		}
	}
	if !said {
		b.WriteString("nothing.\n")
	}
	b.WriteString(`
Why counts differ where all models are found:

* a package that an example tests is another version there: the page says which (clock.lua tests lpeg, which is 1.1.0 in Debian 13)
* CPython up to 3.10 branches on the size and the sign of the integers that it adds and compares (long_add, long_richcompare), 3.11 does so less, and 3.12 and later
  hardly: tests of integers have more paths there, or fewer. Its texts, names, tables and hashes have the same counts
* musl's memchr looks at one byte after the other up to an aligned address; where an earlier result is symbolic, each alignment is a path (predicates.lua); its numbers
  are written by other code (number.lua)
* LuaJIT compares strings by address in the assembly of its interpreter, where no function is to be replaced: model deferred-identity is not had, and doctor says so
`)
	b.WriteString("\nPaths, high-level/low-level (>: " + fmt.Sprint(instructions) + " instructions were used up, " + fmt.Sprint(randomInstructions) + " of luajit and random tests; !n: n replays do not agree):\n")
	for _, in := range interpreters {
		var columns []*result
		names := map[string]bool{}
		for _, r := range list {
			if r.Interpreter == in.name && len(r.Examples) > 0 {
				columns = append(columns, r)
				for n := range r.Examples {
					names[n] = true
				}
			}
		}
		if len(columns) == 0 {
			continue
		}
		fmt.Fprintf(&b, "\n| %s |", in.name)
		for _, r := range columns {
			fmt.Fprintf(&b, " %s |", row(r, results)[0])
		}
		b.WriteString("\n|---|" + strings.Repeat("--:|", len(columns)) + "\n")
		line := func(name string, cell func(*result) string) {
			fmt.Fprintf(&b, "| %s |", name)
			for _, r := range columns {
				fmt.Fprintf(&b, " %s |", cell(r))
			}
			b.WriteString("\n")
		}
		for _, n := range slices.Sorted(maps.Keys(names)) {
			line(n, func(r *result) string {
				if c, ok := r.Examples[n]; ok {
					return c.cell()
				}
				return "-"
			})
		}
		if columns[0].Random != nil {
			line("random tests, all", func(r *result) string {
				if r.Random == nil {
					return "-"
				}
				return r.Random.cell()
			})
		}
	}
	return b.String()
}

func firstSeed(list []*result) string {
	for _, r := range list {
		if r.Seed != "" {
			return r.Seed
		}
	}
	return "-"
}

// TestDocument holds docs/distributions.md against docs/distributions.jsonl.
func TestDocument(t *testing.T) {
	results := readResults(t)
	if *updateFlag {
		writeResults(t, results)
	}
	got, err := os.ReadFile(document)
	if err != nil {
		t.Fatal(err)
	}
	if string(got) != page(results) {
		t.Errorf("%s is not what %s says; make distributions writes both", document, resultsFile)
	}
}
