package bench

import (
	"bytes"
	"context"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"symchef/internal/rundir"
	"symchef/internal/session"
)

var only = flag.String("only", "", "BenchmarkMerge: the targets whose name contains this")

// mergeTargets are explored with and without merging; C programs have so many bytes of input.
var mergeTargets = []struct {
	file  string
	bytes int
	why   string // what helps, or hurts
}{
	{"testdata/merge/length.c", 32, "one number instead of a path per length"},
	{"testdata/merge/compare.c", 16, "one result instead of a path per first difference"},
	{"testdata/merge/find.c", 10, "all places where the search may end are one number"},
	{"testdata/merge/utf8.c", 8, "fewer paths; how far a code point reaches is an expression, so later bytes are read through symbolic addresses"},
	{"testdata/merge/number.c", 8, "one number instead of a path per count of digits"},
	{"testdata/merge/upper.c", 12, "each character meets after its own test"},
	{"testdata/merge/words.c", 8, "where to write is an expression: a store becomes as many choices as it has places"},
	{"testdata/merge/sorted.c", 8, "the nest of loops has too many branches: it forks all the same, on bytes that are expressions by then"},
	{"testdata/merge/product.c", 8, "constants of a path become products of expressions: few paths, hard queries"},
	{"../../examples/python/test_predicates.py", -1, "loops over characters in the interpreter's C code that end in a truth value"},
	{"../../examples/python/test_dictionary.py", -1, "comparisons of keys: little is merged"},
	{"../../examples/python/test_quicksort.py", -1, "signs and digits of ints are compared in C code that ends in a truth value"},
	{"testdata/solver/re_match.py", -1, "fewer paths, but many attempts that are given up after thousands of instructions"},
	{"testdata/solver/csv_reader.py", -1, "the parser's state becomes an expression, on which each later character branches"},
	{"testdata/solver/int_parse.py", -1, "lengths become expressions, and sizes of objects must be known"},
	{"testdata/solver/str_split.py", -1, "where a word ends becomes an expression, and sizes of objects must be known"},
	{"../../examples/lua/number.lua", -1, "a few loops, and what is merged is decided later"},
	{"../../examples/lua/lookup.lua", -1, "each comparison ends in a step of the interpreted program"},
	{"testdata/solver/lua_match.lua", -1, "the matcher's loops are recursive calls with other pointers"},
}

// BenchmarkMerge explores each target without merging and with it, and prints how they compare. With -update docs/merging.md has the table. A run
// ends after mergeLimit instructions; time is processor time of the whole run, its start from a snapshot included.
func BenchmarkMerge(b *testing.B) {
	const mergeLimit = 20e6
	dir := b.TempDir()
	for b.Loop() {
		var rows strings.Builder
		for _, x := range mergeTargets {
			name := filepath.Base(x.file)
			if !strings.Contains(name, *only) {
				continue
			}
			o := session.Options{Test: x.file, StdinLen: x.bytes, CacheDir: dir, NoReplay: true, Progress: "none", Strategy: "dfs", Instructions: mergeLimit, Time: 2 * time.Minute}
			if x.bytes > 0 {
				bin := filepath.Join(dir, name+".elf")
				if out, err := exec.Command("gcc", "-O1", "-w", "-o", bin, x.file).CombinedOutput(); err != nil {
					b.Skipf("skipped: gcc: %v\n%s", err, out)
				}
				o.Test, o.Program = "", []string{bin}
			} else {
				o.Interpreter = map[string]string{".py": "/usr/bin/python3.11", ".lua": "/usr/bin/lua5.4"}[filepath.Ext(name)]
				once := o
				once.MaxPaths, once.Out = 1, filepath.Join(b.TempDir(), "out")
				session.Run(context.Background(), once, &bytes.Buffer{}, &bytes.Buffer{}) // makes the snapshot
			}
			run := func(merge bool) (sum rundir.Summary, seconds float64) {
				o.Merge, o.Out = merge, filepath.Join(b.TempDir(), "out")
				var log bytes.Buffer
				began := processorTime(b)
				session.Run(context.Background(), o, &log, &log)
				seconds = (processorTime(b) - began).Seconds()
				r, err := rundir.Open(o.Out)
				if err != nil {
					b.Fatalf("%s: %v\n%s", name, err, log.Bytes())
				}
				return r.Summary, seconds
			}
			s, t1 := run(false)
			m, t2 := run(true)
			fmt.Fprintf(&rows, "| %s | %s | %s | %s | %s | %s | %.2f | %s |\n", name, pair(lowPaths(s), lowPaths(m)), pair(s.Paths.High, m.Paths.High),
				pair(millions(s), millions(m)), pair(s.Solver.Queries, m.Solver.Queries), pair(share(s), share(m)), t2/t1, x.why)
			fmt.Print(rows.String()[strings.LastIndexByte(strings.TrimSpace(rows.String()), '\n')+1:])
		}
		if *searchUpdate {
			writeMerging(b, rows.String())
		}
	}
}

func pair(without, with any) string { return fmt.Sprintf("%v, %v", without, with) }

// lowPaths is how many low-level paths have ended, and > where there are more.
func lowPaths(s rundir.Summary) string {
	if s.Exhausted {
		return fmt.Sprint(s.Paths.Low)
	}
	return fmt.Sprint(">", s.Paths.Low)
}

func millions(s rundir.Summary) string { return fmt.Sprintf("%.2f", float64(s.Instructions.Total)/1e6) }

// share is the solver's part of the time after the boot.
func share(s rundir.Summary) string {
	return fmt.Sprintf("%.0f %%", 100*s.Solver.TimeS/(s.ElapsedS-s.BootS))
}

// writeMerging puts rows into docs/merging.md, in place of those that are there.
func writeMerging(b *testing.B, rows string) {
	const path = "../../docs/merging.md"
	old, err := os.ReadFile(path)
	if err != nil {
		b.Fatal(err)
	}
	text := string(old)
	at := strings.Index(text, "|---|")
	at += strings.IndexByte(text[at:], '\n') + 1
	end := at + strings.Index(text[at:]+"\n\n", "\n\n") + 1
	text = text[:at] + rows + text[min(end, len(text)):]
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		b.Fatal(err)
	}
}
