package main

import (
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"symchef/internal/session"
)

// TestSoak runs for as long as SYMCHEF_SOAK says (make soak: an hour): exploration after exploration, with each limit of memory, each with a resume after
// it, and replay, again and again. What the process takes is read from outside, twenty times a second; a tenth beyond the limit is allowed.
func TestSoak(t *testing.T) {
	long, err := time.ParseDuration(os.Getenv("SYMCHEF_SOAK"))
	if err != nil {
		t.Skip("skipped: an hour; SYMCHEF_SOAK is not set (make soak)")
	}
	b := newBox(t)
	b.compile("many", `#include <stdio.h>
int main() { char b[40] = {0}; fread(b, 1, 40, stdin); int n = 0;
	for (int i = 0; i < 40; i++) if (b[i] > 'a' + i % 20) { n += 1 << i % 20; asm volatile(""); }
	return printf("%d\n", n) < 0; }`)
	b.compile("pages", `#include <stdio.h>
#include <string.h>
static char page[20][1 << 18];
int main() { char b[20] = {0}; fread(b, 1, 20, stdin); int n = 0;
	for (int i = 0; i < 20; i++) { if (b[i] > 'a' + i) { n += 1 << i; asm volatile(""); } memset(page[i], n, sizeof page[i]); }
	return printf("%d\n", n) < 0; }`)
	b.compile("product", `#include <stdio.h>
int main() { unsigned long a[4], p = 1; if (fread(a, 1, 32, stdin) != 32) return 1;
	for (int i = 0; i < 4; i++) for (int j = 0; j < 8; j++) p = p * a[i] + p % (a[i] | 1) + a[(i + 1) & 3] / (p | 1);
	return p == 12345 ? 2 : 0; }`)
	b.write("load.lua", "local symchef = require \"symchef\"\nreturn function() local f = load(\"return \" .. symchef.string(\"s\", 6)) if f then print(pcall(f)) end end\n")
	b.write("test_pages.py", "import symchef, json\ndef test_pages(s: symchef.Str(8)):\n  kept = [bytearray(1 << 16) for c in s if c > 'm']\n  try: json.loads(s)\n  except ValueError: pass\n  print(len(kept))\n")
	type target struct {
		args  string
		least uint64 // limit
	}
	targets := []target{{"--stdin 40 -- ./many", 0}, {"--stdin 20 -- ./pages", 0}, {"--stdin 32 -- ./product", 0}}
	if _, err := exec.LookPath("lua5.4"); err == nil {
		targets = append(targets, target{"load.lua", 0})
	}
	if _, err := exec.LookPath("python3"); err == nil {
		targets = append(targets, target{"test_pages.py", 256 << 20})
	}
	limits := []uint64{session.LeastMemory, 256 << 20, 1 << 30}
	each := max(long/time.Duration(4*len(targets)*len(limits)), 10*time.Second)
	for began, round := time.Now(), 0; round == 0 || time.Since(began) < long; round++ {
		for _, limit := range limits {
			for i, target := range targets {
				if limit < target.least {
					continue
				}
				out := fmt.Sprintf("out-%d-%d-%d", round, limit>>20, i)
				shape := append([]string{"--all-paths", "--strategy", "bfs", "--out", out}, strings.Fields(target.args)...)
				for _, rest := range [][]string{shape, {"--resume", out}} {
					args := append([]string{"run", "--progress", "none", "--time", each.String(), "--max-memory", fmt.Sprint(limit)}, rest...)
					if most, said := b.watch(args...); most > limit/10*11 {
						t.Errorf("%s: %d MB, the limit is %d MB\n%s", strings.Join(args, " "), most>>20, limit>>20, said)
					} else {
						t.Logf("%-24s resumed: %-5v limit %4d MB: %4d MB", target.args, len(rest) == 2, limit>>20, most>>20)
					}
				}
			}
		}
	}
}

// watch runs symchef and returns the most that its process has had of the host's memory.
func (b *box) watch(args ...string) (most uint64, said string) {
	cmd := exec.Command(binary, args...)
	cmd.Dir, cmd.Env = b.dir, b.env
	var out strings.Builder
	cmd.Stdout, cmd.Stderr = &out, &out
	if err := cmd.Start(); err != nil {
		b.t.Fatal(err)
	}
	done := make(chan struct{})
	go func() { cmd.Wait(); close(done) }()
	for {
		select {
		case <-done:
			return most, out.String()
		case <-time.After(50 * time.Millisecond):
		}
		var size, pages uint64
		text, _ := os.ReadFile(fmt.Sprintf("/proc/%d/statm", cmd.Process.Pid))
		if n, _ := fmt.Sscan(string(text), &size, &pages); n == 2 {
			most = max(most, pages*uint64(os.Getpagesize()))
		}
	}
}
