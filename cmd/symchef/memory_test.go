package main

import (
	"fmt"
	"math"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"
	"time"

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
	most := func(args ...string) uint64 {
		least := uint64(math.MaxUint64) // of three: on a busy machine the collector comes late
		for range 3 {
			cmd := b.command(append([]string{"run", "--max-memory", fmt.Sprint(session.LeastMemory), "test_e.py"}, args...)...)
			r, most := b.peak(cmd)
			r.want(1, "2 test cases")
			if least = min(least, most); least <= session.LeastMemory/10*11 {
				return least
			}
		}
		t.Errorf("%v: the process took %d MB", args, least>>20)
		return least
	}
	t.Logf("%d MB with the first start", most("--no-replay")>>20) // which looks for the high level
	without, with := most("--no-replay"), most()
	if with > without+session.LeastMemory/4 {
		t.Errorf("the process took %d MB, %d MB without replay", with>>20, without>>20)
	}
	t.Logf("%d MB, %d MB without replay", with>>20, without>>20)
}

// What of an interpreter nobody looks at, as debug information, is no memory of the process; and a run that was made with more memory goes on with the least.
func TestMemoryOfInterpreter(t *testing.T) {
	b := pythonBox(t)
	file, err := os.ReadFile(python)
	if err != nil {
		t.Fatal(err)
	}
	name := b.path("python3")
	if err := os.WriteFile(name, append(file, make([]byte, 60<<20)...), 0o755); err != nil {
		t.Fatal(err)
	}
	b.write("test_e.py", "import symchef\ndef test_e(s: symchef.Str(4)):\n    print([c == 'a' for c in s])\n")
	within := func(args ...string) {
		t.Helper()
		least := uint64(math.MaxUint64)
		for i := range 3 { // on a busy machine the collector comes late
			r, most := b.peak(b.command(append([]string{"run", "--no-replay", "--max-memory", fmt.Sprint(session.LeastMemory)}, append(args, "--out", fmt.Sprint("less", len(args), i))...)...))
			r.want(0, "test cases")
			if least = min(least, most); least <= session.LeastMemory/10*11 {
				t.Logf("%v: %d MB", args, least>>20)
				return
			}
		}
		t.Errorf("%v: the process took %d MB", args, least>>20)
	}
	within("--max-paths", "3", "--interpreter", name, "test_e.py")
	b.run("run", "--no-replay", "--max-paths", "3", "--interpreter", name, "--out", "more", "test_e.py").want(0, "3 test cases")
	r, most := b.peak(b.command("run", "--no-replay", "--max-memory", fmt.Sprint(session.LeastMemory), "--resume", "more"))
	r.want(0, "16 test cases")
	if most > session.LeastMemory/10*11 {
		t.Errorf("resumed: the process took %d MB", most>>20)
	}
	t.Logf("resumed: %d MB", most>>20)
}

// peak runs cmd and tells the most memory that it had, in bytes: VmHWM, from outside until it ends. What wait4(2) says counts that of this process, too,
// which has made it by vfork(2).
func (b *box) peak(cmd *exec.Cmd) (r result, most uint64) {
	b.t.Helper()
	wait := b.start(cmd)
	end, done := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(done)
		for {
			text, _ := os.ReadFile(fmt.Sprintf("/proc/%d/status", cmd.Process.Pid))
			if _, rest, ok := strings.Cut(string(text), "\nVmHWM:"); ok {
				var kB uint64
				fmt.Sscan(rest, &kB)
				most = max(most, kB<<10)
			}
			select {
			case <-end:
				return
			case <-time.After(2 * time.Millisecond):
			}
		}
	}()
	r = wait()
	close(end)
	<-done
	return r, most
}

// tenthOfMemory explores what args say without and with a limit.
func (b *box) tenthOfMemory(args ...string) {
	t := b.t
	explore := func(out, limit string) (live, replayed, most uint64, paths []string) {
		cmd := exec.Command(binary, append([]string{"run", "--all-paths", "--no-replay", "--strategy", "bfs", "--out", out, "--max-memory", limit}, args...)...)
		cmd.Dir, cmd.Env = b.dir, b.env
		var r result
		r, most = b.peak(cmd)
		r.want(0)
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
