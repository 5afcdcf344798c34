package expr_test

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"symchef/internal/expr"
	"symchef/internal/seed"
)

var treesFlag = flag.Int("trees", 20000, "random trees per test")

func sortedNames[V any](m map[string]V) []string {
	names := make([]string, 0, len(m))
	for n := range m {
		names = append(names, n)
	}
	slices.Sort(names)
	return names
}

// check builds t and compares it with its evaluation; "" when they agree.
func check(t *tree, s uint64, hits map[string]int) (complaint string) {
	defer func() {
		if p := recover(); p != nil {
			complaint = fmt.Sprint("panic: ", p)
		}
	}()
	g := &generator{r: rand.New(rand.NewPCG(s, 1))}
	vars := map[string]uint{}
	t.vars(vars)
	c := expr.New()
	var envs []map[string]uint64
	for range 12 {
		envs = append(envs, g.assignment(vars))
	}
	for _, n := range sortedNames(vars) {
		c.Var(n, vars[n])
	}
	var as []expr.Assignment
	for _, env := range envs {
		as = append(as, toAssignment(c, env))
	}
	if hits != nil {
		c.Audit(func() []expr.Assignment { return as[:4] }, hits, func(s string) { complaint = s })
	}
	r := t.build(c)
	if complaint != "" {
		return complaint
	}
	if c.Width(r) != t.w {
		return fmt.Sprintf("width %d, not %d", c.Width(r), t.w)
	}
	lo, hi := c.Range(r)
	zeros, ones := c.Known(r)
	for i, env := range envs {
		want := t.eval(env)
		if got := c.Eval(r, as[i]); got != want {
			return fmt.Sprintf("%#x, not %#x under %v", got, want, env)
		}
		if want < lo || want > hi || want&zeros != 0 || ^want&ones != 0 {
			return fmt.Sprintf("%#x outside [%#x, %#x], zeros %#x, ones %#x under %v", want, lo, hi, zeros, ones, env)
		}
	}
	return ""
}

// TestConstructorsAgainstTrees builds random trees with the constructors and
// compares values, bounds, known bits and each application of a rule.
func TestConstructorsAgainstTrees(t *testing.T) {
	s := seed.Of(t)
	hits := map[string]int{}
	start := time.Now()
	for i := range *treesFlag {
		sub := s + uint64(i)
		g := &generator{r: rand.New(rand.NewPCG(sub, 0))}
		tr := g.tree(g.width(), 1+g.r.IntN(6))
		if check(tr, sub, hits) == "" {
			continue
		}
		tr = shrink(tr, func(x *tree) bool { return check(x, sub, map[string]int{}) != "" })
		t.Fatalf("tree %d (SYMCHEF_SEED=%#x -trees=1): %v\n%s", i, sub, tr, check(tr, sub, map[string]int{}))
	}
	t.Logf("%d trees in %v", *treesFlag, time.Since(start))
	for _, r := range expr.Rules() {
		if hits[r.Name] == 0 {
			t.Logf("rule %s never applied", r.Name)
		}
	}
}
