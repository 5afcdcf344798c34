package session

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"symchef/internal/exec"
	"symchef/internal/expr"
	"symchef/internal/kernel"
	"symchef/internal/mem"
	"symchef/internal/seed"
)

// alone compiles a program of which the outcome is what it leaves in n.
func (x ordering) alone(t *testing.T) string {
	src := filepath.Join(t.TempDir(), "order.c")
	text := orderHead + x.before + "\nint main(void) {\n\t" + x.main + "\n\treturn n + near[0];\n}\n"
	if err := os.WriteFile(src, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	return compile(t, src, "-O1", "-pthread", "-w")
}

// A program with a timer of which nothing is said has one outcome, however long an instruction takes. Of those that are named, some have others.
func TestOrderTimersWorlds(t *testing.T) {
	differ := 0
	for _, x := range timers {
		x.before = timerHead + x.before
		t.Run(strings.ReplaceAll(x.name, " ", "-"), func(t *testing.T) {
			bin := x.alone(t)
			var got []string
			for _, pace := range []uint64{1, 30, 1000, 100_000, 10_000_000} {
				sys, err := kernel.Boot(kernel.Config{Path: bin, Argv: []string{bin}, Cwd: t.TempDir(), Stdin: mem.Concrete([]byte("a")), World: kernel.World{Pace: pace}})
				if err != nil {
					t.Fatal(err)
				}
				m := exec.New(expr.New())
				m.CompileAfter = 2
				stop := m.Run(sys, &exec.Facts{}, 20_000_000)
				got = append(got, fmt.Sprintf("stop %d %s, %+v %q", stop.Kind, stop.What, sys.ExitStatus(), sys.Stdout().Data))
			}
			switch others := len(slices.Compact(slices.Clone(got))) > 1; {
			case others && len(x.want) == 0:
				t.Errorf("in order, but %q", got)
			case others:
				differ++
			}
		})
	}
	if t.Logf("%d of those that are named have other outcomes", differ); differ == 0 {
		t.Error("no program has other outcomes: the test shows nothing")
	}
}

// A program of which nothing is said has one outcome in whatever schedule.
func TestOrderRestsSchedules(t *testing.T) {
	r, differing := seed.Rand(t), 0
	for _, x := range rests {
		x.before = restHead + x.before
		t.Run(strings.ReplaceAll(x.name, " ", "-"), func(t *testing.T) {
			if _, differ := agree(t, r, 8, t.TempDir(), []string{x.alone(t)}); differ {
				differing++
			}
		})
	}
	if t.Logf("%d have other outcomes", differing); differing == 0 {
		t.Error("no program has other outcomes: the test shows nothing")
	}
}
