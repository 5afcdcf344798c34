package session

import (
	"strings"
	"testing"
)

// Contracts in the machine: tests, high-level paths, paths whose input a precondition has discarded, and the findings, with the values that the condition was given.
func TestContractsExplored(t *testing.T) {
	needPython(t)
	for _, c := range []struct {
		test         string
		high, pruned int
		findings     []string
	}{
		{"test_sorted", 6, 0, nil},
		{"test_bubble", 6, 0, nil},
		{"test_factorial", 7, 1, []string{"x=4 PostconditionError: faulty_factorial: ensure: factorial(x) == result {'x': 4, 'result': 123456789}"}},
		{"test_nested", 4, 0, []string{"y=0 PreconditionError: faulty_factorial: pre: x >= 0 {'x': -2}"}},
		{"test_nested_discarded", 3, 1, nil},
		{"test_counter", 2, 2, []string{"k=4 InvariantError: Counter, behind add: inv: 0 <= self.n <= 3 {'n': 4}"}},
	} {
		t.Run(c.test, func(t *testing.T) {
			t.Parallel()
			e := runIt(t, Options{Test: "testdata/contracts/test_contracts.py::" + c.test})
			e.sound(t)
			var got []string
			for _, f := range e.summary.Findings {
				got = append(got, e.summary.Findings[0].Inputs[0].Name+"="+string(f.Inputs[0].Value)+" "+strings.TrimPrefix(f.Outcome.Type, "symchef.")+": "+f.Outcome.Message+" "+f.Values)
			}
			if !e.summary.Exhausted || e.summary.Paths.High != c.high || e.summary.Paths.Pruned != c.pruned || strings.Join(got, "\n") != strings.Join(c.findings, "\n") {
				t.Errorf("exhausted %v, %d high-level paths, %d pruned, findings %q; want %d, %d, %q\n%s%s", e.summary.Exhausted, e.summary.Paths.High, e.summary.Paths.Pruned, got, c.high, c.pruned, c.findings, e.stdout, e.stderr)
			}
		})
	}
}
