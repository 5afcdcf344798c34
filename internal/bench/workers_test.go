package bench

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"symchef/internal/rundir"
)

// pairs is how often each target is explored with one worker and then with two.
const pairs = 7

// classify has 19683 paths.
const classify = `#include <stdio.h>
int main() { for (int i = 0; i < 9; i++) { int c = getchar(); if (c < 'a') putchar('1'); else if (c > 'm') putchar('2'); else putchar('3'); } return 0; }`

// BenchmarkWorkers prints how many times the throughput of one worker two have, on one and two processors: the median of
// paired runs, by the time after the boot. All are exhaustive, and take seconds, so that the start of the second worker is a small part. The processor time of two, in that of one, depends less on what else runs.
// Creating files can take longer than all else: TMPDIR is best in memory.
func BenchmarkWorkers(b *testing.B) {
	dir, err := os.MkdirTemp("/var/tmp", "workers") // the machine has a /dev of its own
	if err != nil {
		b.Fatal(err)
	}
	defer os.RemoveAll(dir)
	symchef := filepath.Join(dir, "symchef")
	if out, err := exec.Command("go", "build", "-o", symchef, "../../cmd/symchef").CombinedOutput(); err != nil {
		b.Fatalf("%v\n%s", err, out)
	}
	src, bin := filepath.Join(dir, "p.c"), filepath.Join(dir, "p")
	if err := os.WriteFile(src, []byte(classify), 0o600); err != nil {
		b.Fatal(err)
	}
	if out, err := exec.Command("gcc", "-O1", "-o", bin, src).CombinedOutput(); err != nil {
		b.Skipf("skipped: gcc: %v\n%s", err, out)
	}
	for b.Loop() {
		for _, target := range []struct {
			name string
			args []string
		}{
			{"average of two ints (Python)", []string{"../../examples/python/test_average.py"}},
			{"words of thirteen characters (Python)", []string{"testdata/workers/test_words.py"}},
			{"a number in four characters (Lua)", []string{"testdata/workers/number.lua"}},
			{"nine characters in three classes (C)", []string{"--stdin", "9", "--", bin}},
		} {
			if !strings.Contains(target.name, *targetsOnly) {
				continue
			}
			run := func(n int) (wall, processor float64, sum rundir.Summary) {
				out := filepath.Join(b.TempDir(), "out")
				cmd := exec.Command(symchef, append([]string{"run", "--no-replay", "--progress", "none", "--out", out, "-j", fmt.Sprint(n)}, target.args...)...)
				cmd.Env = append(os.Environ(), fmt.Sprintf("GOMAXPROCS=%d", n), "XDG_CACHE_HOME="+dir)
				var log bytes.Buffer
				cmd.Stdout, cmd.Stderr = &log, &log
				cmd.Run() // a failing test case gives a status
				r, err := rundir.Open(out)
				if err != nil || !r.Summary.Exhausted {
					b.Fatalf("%s: %v\n%s", target.name, err, log.Bytes())
				}
				processor = (cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()).Seconds()
				return r.Summary.ElapsedS - r.Summary.BootS, processor, r.Summary
			}
			run(1) // boots
			var ratios, work []float64
			for range pairs {
				t1, p1, s1 := run(1)
				t2, p2, s2 := run(2)
				if s1.Paths.Low != s2.Paths.Low || s1.Paths.High != s2.Paths.High {
					b.Fatalf("%s: one worker finds %+v, two %+v", target.name, s1.Paths, s2.Paths)
				}
				ratios, work = append(ratios, t1/t2), append(work, p2/p1)
			}
			slices.Sort(ratios)
			slices.Sort(work)
			fmt.Printf("%-40s median %.2f of %.2f, processor time x%.2f\n", target.name, ratios[pairs/2], ratios, work[pairs/2])
		}
	}
}
