package main

import (
	"fmt"
	"os"
	"os/exec"
	"slices"
	"syscall"
	"testing"

	"symchef/internal/session"
)

// A run that would need ten times the memory it may take ends with the paths and outcomes of an unbounded one, and its process takes no more than a tenth beyond the limit.
func TestTenthOfMemory(t *testing.T) {
	t.Run("program", func(t *testing.T) {
		t.Parallel()
		b := newBox(t)
		b.compile("p", `#include <stdio.h>
#include <string.h>
static char page[7][1 << 20];
int main() {
	for (int i = 0; i < 7; i++) {
		int c = getchar(), k = 3;
		if (c < 'a') { k = 1; asm volatile(""); } // no conditional move
		if (c > 'm') { k = 2; asm volatile(""); }
		memset(page[i], k, sizeof page[i]);
	}
	return 0;
}`)
		b.tenthOfMemory("--stdin", "7", "--", "./p")
	})
	t.Run("python", func(t *testing.T) {
		if os.Getenv("SYMCHEF_SLOW") == "" {
			t.Skip("skipped: a minute; SYMCHEF_SLOW is not set")
		}
		b := pythonBox(t)
		b.write("test_words.py", `import symchef
def test_words(text: symchef.Str(9)):
    kept, words = [], 0
    for i in range(9):
        space = text[i] == " "
        kept += [bytearray(b"%d" % space * 90_000) for _ in range(24)]
        words += not space and (i == 0 or kept[-25][0] == 49)
    print(words)
`)
		b.tenthOfMemory("test_words.py")
	})
}

// Replay has engines of its own, for what it executes again elsewhere: what the exploration has taken is given back before.
func TestMemoryOfReplay(t *testing.T) {
	b := pythonBox(t)
	b.write("test_e.py", "import symchef\ndef test_e(s: symchef.Str(2)):\n    if s == 'ab': raise ValueError('x')\n")
	b.run("run", "test_e.py").want(1) // now its start is known
	most := func(args ...string) int64 {
		cmd := b.command(append([]string{"run", "--max-memory", fmt.Sprint(session.LeastMemory), "test_e.py"}, args...)...)
		b.finish(cmd).want(1, "2 test cases")
		return cmd.ProcessState.SysUsage().(*syscall.Rusage).Maxrss << 10
	}
	without, with := most("--no-replay"), most()
	if with > without/8*9 {
		t.Errorf("the process took %d MB, %d MB without replay", with>>20, without>>20)
	}
	t.Logf("%d MB, %d MB without replay", with>>20, without>>20)
}

// tenthOfMemory explores what args say without and with a limit.
func (b *box) tenthOfMemory(args ...string) {
	t := b.t
	explore := func(out, limit string) (live, replayed, most uint64, paths []string) {
		cmd := exec.Command(binary, append([]string{"run", "--all-paths", "--no-replay", "--strategy", "bfs", "--out", out, "--max-memory", limit}, args...)...)
		cmd.Dir, cmd.Env = b.dir, b.env
		b.finish(cmd).want(0)
		most = uint64(cmd.ProcessState.SysUsage().(*syscall.Rusage).Maxrss) << 10
		sum, tests := b.load(out)
		if !sum.Exhausted {
			t.Errorf("%s: %v", out, sum.WhyNotExhausted)
		}
		for _, x := range tests {
			paths = append(paths, x.PathID+" "+x.Group+" "+x.Outcome.String()+" "+x.OutputSHA256)
		}
		slices.Sort(paths)
		return sum.MemoryLiveBytes, sum.Instructions.Replayed, most, paths
	}
	need, _, _, want := explore("whole", "0")
	limit := max(need/10, session.LeastMemory)
	live, replayed, most, got := explore("tenth", fmt.Sprint(limit))
	if !slices.Equal(got, want) {
		t.Errorf("%d paths, not the %d of a run that needs %d MB", len(got), len(want), need>>20)
	}
	if most > limit/10*11 {
		t.Errorf("the process took %d MB, its limit is %d MB", most>>20, limit>>20)
	}
	if replayed == 0 {
		t.Errorf("no state was given up: %d bytes were alive, the limit is %d", live, limit)
	}
	t.Logf("%d paths; %d MB alive at most, %d MB with a limit of %d MB, of which the process took %d MB", len(got), need>>20, live>>20, limit>>20, most>>20)
}
