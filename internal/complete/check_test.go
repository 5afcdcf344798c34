package complete

import (
	"bytes"
	"context"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"symchef/internal/explore"
	"symchef/internal/expr"
	"symchef/internal/replay"
	"symchef/internal/rundir"
	"symchef/internal/session"
	"symchef/internal/smtlib"
	"symchef/internal/testcase"
)

var (
	only  = flag.String("only", "", "run the programs whose name matches this regular expression")
	limit = flag.Duration("limit", 5*time.Minute, "of each exploration")
)

func TestMain(m *testing.M) {
	replay.MaybeConfineChild()
	os.Exit(m.Run())
}

// A run is a native run of a program on one value of its inputs.
type run struct {
	Inputs  map[string]int64 // by variable
	Output  []byte
	Outcome testcase.Outcome
}

// A path is an explored path as its run directory describes it.
type path struct {
	test    testcase.Test
	when    []expr.Ref      // the path condition
	defs    []expr.Ref      // define the symbolic bytes of the output
	defined map[int]bool    // these bytes
	output  []byte          // under model
	model   expr.Assignment // the values in test
	runs    int             // native runs that it answers for
	own     bool            // the run on model was among them
}

// exploreAll runs o with all paths, which must exhaust it, and returns its run directory.
func exploreAll(t *testing.T, o session.Options) *rundir.Reader {
	t.Helper()
	o.Out = filepath.Join(t.TempDir(), "out")
	o.Pass = passed()
	o.AllPaths, o.SMT2, o.NoReplay, o.NoCache = true, true, true, true
	o.Progress, o.Strategy, o.MaxMemory, o.Time = "none", "dfs", 2<<30, *limit
	var out, errs bytes.Buffer
	session.Run(context.Background(), o, &out, &errs)
	r, err := rundir.Open(o.Out)
	if err != nil {
		t.Fatal(err, errs.String())
	}
	if !r.Summary.Exhausted {
		t.Errorf("not exhausted: %v\n%s", r.Summary.WhyNotExhausted, errs.String())
	}
	return r
}

// passed are the variables by which the programs of a test are chosen.
func passed() (names []string) {
	for _, name := range []string{"COMPLETE_ONLY", "COMPLETE_FOLDER"} {
		if _, set := os.LookupEnv(name); set {
			names = append(names, name)
		}
	}
	return names
}

// readPaths parses what r keeps of tests into ctx.
func readPaths(t *testing.T, ctx *expr.Ctx, r *rundir.Reader, tests []testcase.Test) []*path {
	t.Helper()
	var paths []*path
	for _, test := range tests {
		p := &path{test: test, defined: map[int]bool{}}
		text, err := r.PathCondition(test.ID)
		if err == nil {
			p.output, err = r.Output(test.OutputSHA256)
		}
		if err == nil {
			p.model, err = explore.ModelOf(ctx, test.Inputs)
		}
		var asserts []expr.Ref
		if err == nil {
			asserts, err = smtlib.Parse(ctx, text)
		}
		if err != nil {
			t.Fatalf("%s: %v", test.ID, err)
		}
		for _, a := range asserts {
			at := -1
			ctx.Support(a, func(v expr.VarID) { fmt.Sscanf(ctx.VarName(v), "output[%d]", &at) })
			if at < 0 {
				p.when = append(p.when, a)
				continue
			}
			p.defs = append(p.defs, a)
			p.defined[at] = true
		}
		paths = append(paths, p)
	}
	return paths
}

// check compares paths, over ctx, with runs, which are all runs there can be.
func check(t *testing.T, ctx *expr.Ctx, paths []*path, runs []run) {
	t.Helper()
	ids := map[string]expr.VarID{}
	for v := range ctx.NumVars() {
		name := ctx.VarName(expr.VarID(v))
		for _, kind := range []string{".int", ".bool", ".choice", ".float"} { // an input of one value is named like its variable
			name = strings.TrimSuffix(name, kind)
		}
		ids[name] = expr.VarID(v)
	}
	bad := 0
	for _, r := range runs {
		if why := compare(ctx, ids, paths, r); why != "" {
			if bad++; bad <= 5 {
				t.Errorf("%v: %s", r.Inputs, why)
			}
		}
	}
	if bad > 5 {
		t.Errorf("%d of %d inputs are wrong", bad, len(runs))
	}
	for _, p := range paths {
		if p.runs == 0 {
			t.Errorf("no input takes path %s", p.test.ID)
		} else if !p.own && bad == 0 {
			t.Errorf("the input %v of path %s does not take it", p.test.Inputs, p.test.ID)
		}
	}
}

// compare says in what the one path that r takes differs from it; "" if in nothing.
func compare(ctx *expr.Ctx, ids map[string]expr.VarID, paths []*path, r run) string {
	model := make(expr.Assignment, ctx.NumVars())
	for name, v := range r.Inputs {
		if id, known := ids[name]; known {
			model[id] = uint64(v) & expr.Mask(ctx.VarWidth(id))
		}
	}
	for i, b := range r.Output {
		if id, known := ids[fmt.Sprintf("output[%d]", i)]; known {
			model[id] = uint64(b)
		}
	}
	ctx.NewEval()
	holds := func(l []expr.Ref) bool {
		for _, c := range l {
			if ctx.EvalMemo(c, model) == 0 {
				return false
			}
		}
		return true
	}
	var taken []*path
	for _, p := range paths {
		if holds(p.when) {
			taken = append(taken, p)
		}
	}
	switch {
	case r.Outcome.Kind == "pruned" && len(taken) == 0:
		return ""
	case r.Outcome.Kind == "pruned" || len(taken) != 1:
		return fmt.Sprintf("%d path conditions hold; natively %v", len(taken), r.Outcome)
	}
	p := taken[0]
	p.runs++
	want, got := r.Outcome, p.test.Outcome
	if p.takes(ids, r.Inputs, model) {
		p.own = true
	} else {
		want.Message, got.Message = "", "" // that of the path's own input
	}
	if !got.Same(want) {
		return fmt.Sprintf("path %s: %v, natively %v", p.test.ID, got, want)
	}
	same := len(p.output) == len(r.Output)
	for i := 0; same && i < len(p.output); i++ {
		same = p.defined[i] || p.output[i] == r.Output[i]
	}
	if !same || !holds(p.defs) {
		return fmt.Sprintf("path %s: an output such as %q, natively %q", p.test.ID, p.output, r.Output)
	}
	return ""
}

// takes reports whether the values of inputs in model are those in p's test case.
func (p *path) takes(ids map[string]expr.VarID, inputs map[string]int64, model expr.Assignment) bool {
	for name := range inputs {
		if id, known := ids[name]; known && p.model.Get(id) != model[id] {
			return false
		}
	}
	return true
}

// behaviours counts the distinct outcomes and outputs of runs.
func behaviours(runs []run) int {
	seen := map[string]bool{}
	for _, r := range runs {
		seen[r.Outcome.String()+"|"+string(r.Output)] = true
	}
	return len(seen)
}

// needs skips where a program is missing.
func needs(t *testing.T, program string) {
	t.Helper()
	if _, err := os.Stat(program); err != nil {
		t.Skipf("skipped: %s is not installed", strings.TrimPrefix(program, "/usr/bin/"))
	}
}
