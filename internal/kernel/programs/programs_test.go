// Package programs compares the kernel model with Linux: random programs of system calls run in both, and what comes of them has to be the same.
//
// The same executor (testdata/executor.c) runs a program in the machine and, in a sandbox, on this kernel. Results, memory, signals, the end of the first
// process and the files that are left are compared; what may differ stands in compare_test.go. A program that differs shrinks to a smallest
// one, which is printed as Go source and belongs into cases_test.go once the model is mended.
//
// SYMCHEF_PROGRAMS says how many programs TestPrograms makes, SYMCHEF_FIRST with which number they begin.
package programs

import (
	"errors"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"symchef/internal/seed"
)

// tester runs programs on both sides.
type tester struct {
	t     testing.TB
	exe   *executor
	dir   string
	model *model
	linux *linux

	unmodelled map[string]int // programs that the machine does not run, by reason
	unsteady   map[string]int // programs of which Linux gives several outcomes, one of them the machine's
	versions   map[string]int // programs that Linux's version tells apart
	gaps       map[string]int // programs that differ by what docs/syscalls.md says is missing
	stuck      int
}

func newTester(t testing.TB) *tester {
	t.Helper()
	x := &tester{t: t, exe: compile(t), dir: t.TempDir(), unmodelled: map[string]int{}, unsteady: map[string]int{}, versions: map[string]int{}, gaps: map[string]int{}}
	if err := os.Mkdir(x.dir+"/w", 0o755); err != nil {
		t.Fatal(err)
	}
	x.model = newModel(x.exe, x.dir)
	x.restart()
	t.Cleanup(func() { x.linux.close() })
	return x
}

// restart makes a fresh sandbox.
func (x *tester) restart() {
	x.t.Helper()
	if x.linux != nil {
		x.linux.close()
	}
	var err error
	x.linux, err = newLinux(x.exe, x.dir, x.t.TempDir())
	if errors.Is(err, errNoSandbox) {
		x.t.Skip("skipped:", err)
	}
	if err != nil {
		x.t.Fatal(err)
	}
}

// again is how often a program that differs runs on Linux before that counts.
const again = 6

// check returns how the two sides differ on p. Where Linux's outcome depends on the schedule, the machine's must be one of its.
func (x *tester) check(p program) []string {
	x.t.Helper()
	e := p.encode(x.exe.funcs)
	if err := x.linux.start(e, limit); err != nil {
		x.t.Fatalf("%v\n%s\n%s", err, x.linux.note, p)
	}
	m, merr := x.model.run(e)
	l, err := x.linux.finish(e)
	if err != nil {
		x.t.Fatalf("%v\n%s", err, p)
	}
	var no errUnmodelled
	switch {
	case errors.As(merr, &no):
		what, _, _ := strings.Cut(string(no), "(")
		_, why, _ := strings.Cut(string(no), "): ")
		x.unmodelled[what+" "+why]++
		return nil
	case merr != nil:
		return []string{merr.Error()}
	}
	if m.stuck {
		x.stuck++
	}
	d := differences(p, e, m, l)
	if d == nil {
		return nil
	}
	if why := version(p, m, l); why != "" {
		x.versions[why]++
		return nil
	}
	if why := gap(p, d[0]); why != "" {
		x.gaps[why]++
		return nil
	}
	for i := range again {
		wait := limit
		if i == again-1 {
			x.restart() // what programs before have left is gone
		}
		if i >= again/2 && !m.stuck {
			wait = 100 * limit
		}
		if l, err = x.linux.run(e, wait); err != nil {
			x.t.Fatalf("%v\n%s", err, p)
		}
		if differences(p, e, m, l) == nil {
			x.unsteady[signature(d)]++
			return nil
		}
	}
	return d
}

// number of a step or of an argument's value.
var digits = regexp.MustCompile(`(step|argument) \d+ |is ".*|\{.*|-?\d+`)

// signature is what two differences that have one cause may share.
func signature(d []string) string {
	if d == nil {
		return ""
	}
	return digits.ReplaceAllString(d[0], "")
}

// report shrinks a program that differs, and fails.
func (x *tester) report(p program, d []string, what string) {
	x.t.Helper()
	like := signature(d)
	p = shrink(p, func(q program) bool {
		e := x.check(q)
		if signature(e) != like {
			return false
		}
		d = e
		return true
	})
	x.t.Errorf("%s:\n%s\n%s", what, strings.Join(d, "\n"), p)
}

func number(t testing.TB, name string, standard uint64) uint64 {
	v := os.Getenv(name)
	if v == "" {
		return standard
	}
	n, err := strconv.ParseUint(v, 0, 64)
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	return n
}

// TestPrograms compares random programs.
func TestPrograms(t *testing.T) {
	s := seed.Of(t)
	x := newTester(t)
	first, n := number(t, "SYMCHEF_FIRST", 0), number(t, "SYMCHEF_PROGRAMS", 500)
	most := number(t, "SYMCHEF_FAILURES", 1)
	begin, done, failures, all, seen := time.Now(), uint64(0), uint64(0), uint64(0), map[string]bool{}
	for i := first; i < first+n; i++ {
		p := generate(s, i)
		done++
		d := x.check(p)
		if d != nil {
			all++
		}
		if d != nil && !seen[signature(d)] {
			seen[signature(d)] = true
			x.report(p, d, fmt.Sprintf("seed %#x, program %d", s, i))
			if failures++; failures == most {
				break
			}
		}
		if done%10000 == 0 {
			t.Logf("%d programs, %.0f s, %d differ, %d kinds; SYMCHEF_SEED=%#x SYMCHEF_FIRST=%d goes on", done, time.Since(begin).Seconds(), all, failures, s, i+1)
		}
	}
	t.Logf("%d programs from %d, %.1f s: %d differ, %d kinds, %d unsteady, %d stuck", done, first, time.Since(begin).Seconds(), all, failures, sum(x.unsteady), x.stuck)
	t.Logf("not modelled:\n%s", lines(x.unmodelled))
	t.Logf("versions:\n%s", lines(x.versions))
	t.Logf("gaps:\n%s", lines(x.gaps))
	t.Logf("unsteady:\n%s", lines(x.unsteady))
}

func sum(m map[string]int) (n int) {
	for _, k := range m {
		n += k
	}
	return n
}

// lines prints a table, the largest number first.
func lines(m map[string]int) string {
	var l []string
	for w, n := range m {
		l = append(l, fmt.Sprintf("%6d %s", n, w))
	}
	slices.Sort(l)
	slices.Reverse(l)
	return strings.Join(l[:min(len(l), 30)], "\n")
}
