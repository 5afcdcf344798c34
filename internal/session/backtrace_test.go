package session

import (
	"debug/elf"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"symchef/internal/rundir"
	"symchef/internal/testcase"
)

// crashes are programs' functions and main, which end by a signal on the line marked 1, called from those marked 2, 3 and so on.
var crashes = []struct {
	name, source string
	native       int // frames that a stripped program tells, none of them inlined
}{
	{"a store to nowhere", `
int *nowhere;
int main(void) { read(0, b, 2);
  if (b[0] == 'x') *nowhere = 1; // 1
}`, 1},
	{"in a function", `
int *nowhere;
OUT void store(int v) {
  *nowhere = v; // 1
  puts("stored");
}
OUT int middle(int v) {
  store(v + 1); // 2
  return v + puts("middle");
}
int main(void) { read(0, b, 2);
  if (b[0] == 'x') return middle(b[1]) + puts("main"); // 3
}`, 3},
	{"inlined", `
int *nowhere;
IN void store(int v) {
  *nowhere = v; // 1
}
IN void middle(int v) {
  store(v); // 2
}
OUT void outer(int v) {
  middle(v); // 3
  puts("outer");
}
int main(void) { read(0, b, 2);
  if (b[0] == 'x') outer(b[1]), puts("main"); // 4
}`, 2},
	{"abort", `
OUT void give_up(void) {
  abort(); // 1
}
int main(void) { read(0, b, 2);
  if (b[0] == 'x') give_up(); // 2
  return 0;
}`, 1},
	{"assert", `
OUT int check(int c) {
  assert(c != 'x'); // 1
  return puts("checked");
}
int main(void) { read(0, b, 2);
  return check(b[0]) + 1; // 2
}`, 2},
	{"a division", `
OUT int divide(int a, volatile int c) {
  return a / c; // 1
}
int main(void) { read(0, b, 2);
  if (b[0] == 'x') return divide(b[0], b[1] - 'y') + getpid(); // 2
}`, 2},
	{"in a library", `
OUT void copy(char *from) {
  memcpy(b, from, 4); // 1
  puts(b);
}
int main(void) { read(0, b, 2);
  if (b[0] == 'x') copy(nothing), puts("main"); // 2
}`, 2},
	{"called by a library", `
int *nowhere;
OUT int compare(const void *p, const void *q) {
  *nowhere = *(char *)p - *(char *)q; // 1
  return 0;
}
OUT void sort(void) {
  qsort(b, 2, 1, compare); // 2
  puts("sorted");
}
int main(void) { read(0, b, 2);
  if (b[0] == 'x') sort(), puts("main"); // 3
}`, 3},
	{"a call of nothing", `
void (*function)(void);
OUT void call(void) {
  function(); // 1
  puts("called");
}
int main(void) { read(0, b, 2);
  if (b[0] == 'x') call(), puts("main"); // 2
}`, 2},
	{"a signal that it sends itself", `
OUT void end(void) {
  raise(SIGBUS); // 1
  puts("raised");
}
int main(void) { read(0, b, 2);
  if (b[0] == 'x') end(), puts("main"); // 2
}`, 2},
	{"in a thread", `
int *nowhere;
OUT void *thread(void *v) {
  *nowhere = 1; // 1
  return v;
}
int main(void) { pthread_t t; read(0, b, 2);
  if (b[0] == 'x') pthread_create(&t, 0, thread, 0), pthread_join(t, 0);
}`, 1},
	{"behind a fork", `
int *nowhere;
int main(void) { int status; read(0, b, 2);
  if (fork() == 0) { *nowhere = 1; }
  wait(&status);
  if (b[0] == 'x') kill(getpid(), SIGSEGV); // 1
}`, 1},
}

const crashHead = `#include <assert.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
#define OUT __attribute__((noinline)) static
#define IN __attribute__((always_inline)) static inline
char b[8], *nothing;
`

// TestCrashSite: the place where a program is killed and how it came there, with lines, with symbols alone, and with neither.
func TestCrashSite(t *testing.T) {
	for _, tt := range crashes {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			src := filepath.Join(t.TempDir(), "prog one.c")
			if err := os.WriteFile(src, []byte(crashHead+tt.source), 0o644); err != nil {
				t.Fatal(err)
			}
			marked := markedLines(t, src)
			for _, flags := range []string{"-g -O0", "-g -O2", "-g -gdwarf-4 -O1 -static -no-pie"} {
				f := crash(t, compile(t, src, append(strings.Fields(flags), "-w", "-pthread")...))
				if got := strings.Join(f.Frames, " "); got != strings.Join(marked, " ") || f.Site != marked[len(marked)-1] || f.SiteFrom != rundir.FromFrames {
					t.Errorf("%s: %s at %s (%s), want %s", flags, got, f.Site, f.SiteFrom, marked)
				}
			}
			whole, bare := compile(t, src, "-O1", "-w", "-pthread"), compile(t, src, "-O1", "-s", "-w", "-pthread")
			var want []string // functions
			for _, m := range marked {
				want = append(want, m[strings.LastIndex(m, ":")+1:])
			}
			for _, exe := range []string{whole, bare} {
				var got []string
				for _, at := range crash(t, exe).Frames {
					got = append(got, functionOf(t, whole, at))
				}
				if tt.native == len(want) && fmt.Sprint(got) != fmt.Sprint(want) || len(got) > len(want) || len(got) == 0 {
					t.Errorf("%s: %v, want %v", filepath.Base(exe), got, want)
				}
			}
		})
	}
}

// crash is the one finding of a run of a program.
func crash(t *testing.T, exe string) rundir.Finding {
	t.Helper()
	e := runIt(t, Options{Program: []string{exe}, StdinLen: 2})
	if len(e.summary.Findings) != 1 || !strings.Contains(fmt.Sprint(e.summary.Findings[0].Outcome), "SIG") {
		t.Fatalf("%s%s", e.stdout, e.stderr)
	}
	return e.summary.Findings[0]
}

// markedLines are FILE:LINE:FUNCTION of the lines of src that end in a mark, from the last to the first.
func markedLines(t *testing.T, src string) (out []string) {
	t.Helper()
	text, err := os.ReadFile(src)
	if err != nil {
		t.Fatal(err)
	}
	by := map[int]string{}
	function := ""
	for i, line := range strings.Split(string(text), "\n") {
		if m := regexp.MustCompile(`^(?:OUT |IN )?\w+ \*?(\w+)\(`).FindStringSubmatch(line); m != nil {
			function = m[1]
		}
		if m := regexp.MustCompile(`// (\d)$`).FindStringSubmatch(line); m != nil {
			n, _ := strconv.Atoi(m[1])
			by[n] = fmt.Sprintf("%s:%d:%s", src, i+1, function)
		}
	}
	for n := len(by); n > 0; n-- {
		out = append(out, by[n])
	}
	return out
}

// functionOf is the function that MODULE(FUNCTION+OFFSET) names, or that is there in whole.
func functionOf(t *testing.T, whole, at string) string {
	t.Helper()
	m := regexp.MustCompile(`^[^(]+\((.*)\+0x([0-9a-f]+)\)$`).FindStringSubmatch(at)
	if m == nil {
		t.Fatalf("%q is no place", at)
	}
	if m[1] != "" {
		return strings.TrimSuffix(m[1], ".cold")
	}
	offset, _ := strconv.ParseUint(m[2], 16, 64)
	f, err := elf.Open(whole)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	symbols, _ := f.Symbols()
	for _, s := range symbols {
		if elf.ST_TYPE(s.Info) == elf.STT_FUNC && offset >= s.Value && offset < s.Value+s.Size {
			return strings.TrimSuffix(s.Name, ".cold")
		}
	}
	return "no function at " + at
}

// What depends on the input is no frame: whatever a string writes over the return address, the place is the same.
func TestCrashSiteOverwritten(t *testing.T) {
	src := program(t, crashHead+`
OUT void copy(char *s) {
  char small[4];
  for (int i = 0; i < 64; i++) small[i] = s[i & 1];
  puts(small);
}
int main(void) { read(0, b, 2); if (b[0] == 'x') copy(b), puts("main"); }`, "-g", "-O0", "-fno-stack-protector")
	e := runIt(t, Options{Program: []string{src}, StdinLen: 2, MaxPaths: 20})
	for _, f := range e.summary.Findings {
		for _, at := range f.Frames {
			if !strings.HasPrefix(at, "/") && !strings.HasPrefix(at, "0x") {
				t.Errorf("%q", at)
			}
		}
		if f.Outcome.Kind != testcase.Crash || len(f.Frames) > 2 {
			t.Errorf("%v: %q", f.Outcome, f.Frames)
		}
	}
}
