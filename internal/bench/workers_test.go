package bench

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"

	"symchef/internal/rundir"
)

// pairs is how often each target is explored with one worker and then with two.
const pairs = 7

// classify has 6561 paths.
const classify = `#include <stdio.h>
int main() { for (int i = 0; i < 8; i++) { int c = getchar(); if (c < 'a') putchar('1'); else if (c > 'm') putchar('2'); else putchar('3'); } return 0; }`

// BenchmarkWorkers prints how many times the throughput of one worker two have, on one and two processors: the median of
// paired runs, by the time after the boot. All are exhaustive.
func BenchmarkWorkers(b *testing.B) {
	dir := b.TempDir()
	symchef := filepath.Join(dir, "symchef")
	if out, err := exec.Command("go", "build", "-o", symchef, "../../cmd/symchef").CombinedOutput(); err != nil {
		b.Fatalf("%v\n%s", err, out)
	}
	src, bin := filepath.Join(dir, "p.c"), filepath.Join(dir, "p")
	if err := os.WriteFile(src, []byte(classify), 0o600); err != nil {
		b.Fatal(err)
	}
	if out, err := exec.Command("gcc", "-O1", "-o", bin, src).CombinedOutput(); err != nil {
		b.Skipf("gcc: %v\n%s", err, out)
	}
	for b.Loop() {
		for _, target := range []struct {
			name string
			args []string
		}{
			{"average of two ints (Python)", []string{"../../examples/python/test_average.py"}},
			{"a number in three characters (Lua)", []string{"../../examples/lua/number.lua"}},
			{"eight characters in three classes (C)", []string{"--stdin", "8", "--", bin}},
		} {
			run := func(n int) (float64, rundir.Summary) {
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
				return r.Summary.ElapsedS - r.Summary.BootS, r.Summary
			}
			run(1) // boots
			var ratios []float64
			var one, two float64
			for range pairs {
				t1, s1 := run(1)
				t2, s2 := run(2)
				if s1.Paths.Low != s2.Paths.Low || s1.Paths.High != s2.Paths.High {
					b.Fatalf("%s: one worker finds %+v, two %+v", target.name, s1.Paths, s2.Paths)
				}
				one, two = one+t1, two+t2
				ratios = append(ratios, t1/t2)
			}
			slices.Sort(ratios)
			fmt.Printf("%-40s median %.2f of %.2f\n", target.name, ratios[pairs/2], ratios)
		}
	}
}
