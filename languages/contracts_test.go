package languages_test

import (
	"os/exec"
	"strings"
	"testing"
)

// contractLines are what testdata/contracts/contracts.py prints where the interpreter knows where the parts of a line are, as since Python 3.11.
const contractLines = `returned 2
PreconditionError successor: pre: x > 0 {'x': -1}
PostconditionError successor: ensure: x + 1 == res {'x': 40, 'res': 0}
TypeError successor() missing 1 required positional argument: 'x'
returned [1, 2]
PostconditionError same: ensure: result == sorted(result) {'result': [2, 1]}
returned None
PostconditionError add: ensure: len(values) == len(old.values) + 1 {'values': [1, 3, 3]}
PreconditionError two: arg: a != b {'a': 1, 'b': 1}
PreconditionError two: arg: v > 0 {'v': 0}
returned 1
returned 2
PreconditionError many: pre: len(rest) == len(names) {'rest': (1,), 'names': {'a': 1, 'b': 2}}
returned 0
InvariantError Counter, behind down: inv: self.n >= 0 {'n': -1}
InvariantError Counter, behind __init__: inv: it.n < 10 {'n': 10}
InvariantError Counter, behind value: inv: it.n < 10 {'n': 11}
InvariantError Counter, behind __iadd__: inv: it.n < 10 {'n': 110}
returned Plain
TypeError object.__init__() takes exactly one argument (the instance to initialize)
returned 3
InvariantError Number, behind __init__: inv: self > 0 {}
returned 1
PostconditionError later: ensure: r == 1 {'r': 2}
PreconditionError Methods.alone: pre: x {'x': 0}
PreconditionError Methods.of_class: pre: x {'x': 0}
PreconditionError Methods.of_one: pre: x {'x': 0}
returned 5
returned True
TypeError pre takes a condition, a function of the arguments, not 3
TypeError pre: the condition takes q, w; there are a
TypeError inv is for a class, not for int
TypeError arg: <lambda> has no parameter zz
TypeError ensure: the condition takes a, b, c; there are a, result
TypeError arg takes a condition
`

// TestContracts guards what contracts make of calls that keep and that break them: on every CPython of the machine the same kinds and values, since 3.11 with the
// text of the condition.
func TestContracts(t *testing.T) {
	lib := library(t)
	want := strings.Split(contractLines, "\n")
	for _, python := range pythons() {
		cmd := exec.Command(python, "testdata/contracts/contracts.py")
		cmd.Env = append(cmd.Environ(), "PYTHONPATH="+lib, "PYTHONDONTWRITEBYTECODE=1")
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Errorf("%s: %v\n%s", python, err, out)
			continue
		}
		got := strings.Split(strings.TrimSuffix(string(out), "\n"), "\n")
		if len(got) != len(want) {
			t.Errorf("%s prints %d lines, want %d:\n%s", python, len(got), len(want), out)
			continue
		}
		for i, line := range got {
			if i == len(want)-1 {
				line, _, _ = strings.Cut(line, " object at")
				want[i] = "TypeError contracts are for functions, not for <property"
			}
			kind, _, _ := strings.Cut(line, ":")
			wanted, _, _ := strings.Cut(want[i], ":")
			if line != want[i] && (kind != wanted || !strings.Contains(line, "lambda")) {
				t.Errorf("%s, line %d: %s\nwant %s", python, i+1, line, want[i])
			}
		}
	}
}
