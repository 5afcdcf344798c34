package main

import (
	"fmt"
	"os/exec"
	"testing"
)

// costly are programs that, unless they read a z, do nothing but system calls that take long, and what it is of theirs that does.
var costly = []struct{ name, loop string }{
	{"bytes of a device", `for (;;) { int f = open("/dev/zero", 0); read(f, p, n); close(f); }`},
	{"random bytes", `for (;;) getrandom(p, n, 0);`},
	{"bytes of a file", `int f = memfd_create("m", 0); for (;;) pwrite(f, p, n, 0);`},
	{"bytes between files", `int f = memfd_create("m", 0), g = open("/dev/null", 1); ftruncate(f, n); for (;;) { lseek(f, 0, 0); sendfile(g, f, 0, n); }`},
	{"files made", `for (int i = 0; i < 300000; i++) { sprintf(p, "/tmp/f%d", i); close(open(p, O_CREAT | O_RDWR, 0600)); unlink(p); }`},
	{"areas of memory", `for (int i = 0; i < 200000; i++) mmap(0, 4096, i % 2 ? PROT_READ : PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);`},
	{"names on the way", `for (int i = 0; i < 30000; i++) { mkdir("d", 0700); chdir("d"); }`},
	{"entries of folders", `for (volatile unsigned k = 0;; k++) { int f = open("/usr/bin", O_RDONLY); while (syscall(SYS_getdents64, f, p, 32768) > 0); close(f); }`},
	{"text of /proc", `for (volatile unsigned k = 0;; k++) { int f = open("/proc/self/maps", 0); while (read(f, p, 4096) > 0); close(f); }`},
}

// costlyProgram is the source of one.
func costlyProgram(loop string) string {
	return `#define _GNU_SOURCE
#include <fcntl.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>
int main(void) {
	char c = 0;
	if (read(0, &c, 1) == 1 && c == 'z') return 3;
	size_t n = 1 << 27;
	char *p = mmap(0, n, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	` + loop + `
	return 0;
}
`
}

// A system call counts by what it does: a path of costly ones rests like one of many instructions, so that the others are found, and limits are looked at on its way.
func TestCostlyCalls(t *testing.T) {
	for _, p := range costly {
		t.Run(p.name, func(t *testing.T) {
			t.Parallel()
			b := newBox(t)
			b.compile("p", costlyProgram(p.loop))
			b.run("run", "--out", "out", "--time", "60s", "--max-paths", "1", "--replay", "none", "--stdin", "1", "--", "./p").want(0)
			sum, tests := b.load("out")
			if len(tests) != 1 || tests[0].Outcome.ExitStatus != 3 {
				t.Fatalf("%+v", tests)
			}
			if sum.Instructions.Total > 50_000_000 {
				t.Errorf("found after %d instructions", sum.Instructions.Total)
			}
		})
	}
}

// What one system call takes is looked at within it.
func TestMemoryOfOneCall(t *testing.T) {
	const limit = 64 << 20
	for _, p := range costly[:2] {
		b := newBox(t)
		b.compile("p", costlyProgram(p.loop))
		_, most := b.peak(b.command("run", "--out", "out", "--time", "3s", "--max-memory", fmt.Sprint(limit), "--replay", "none", "--stdin", "1", "--", "./p"))
		if most > limit/10*11 {
			t.Errorf("%s: the process took %d MB", p.name, most>>20)
		}
		t.Logf("%s: %d MB", p.name, most>>20)
	}
}

// bulky moves more bytes in a call than the machine does at a time, and tells what came of it.
const bulky = `#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/uio.h>
#include <unistd.h>
static unsigned sum(const unsigned char *p, size_t n) { unsigned s = 1; while (n--) s = s * 31 + *p++; return s; }
static int call;
static void tell(long r) { printf("%d: %ld %d\n", call++, r, r < 0 ? errno : 0); fflush(stdout); }
int main(void) {
	const size_t n = (21 << 20) + 12345;
	unsigned char *p = mmap(0, n, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0), *q = mmap(0, n, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	for (size_t i = 0; i < n; i += 997) p[i] = i >> 9;
	int f = memfd_create("m", 0), null = open("/dev/null", O_RDWR), zero = open("/dev/zero", O_RDWR);
	tell(write(f, p, n)); tell(lseek(f, 0, SEEK_CUR));
	tell(lseek(f, 5, SEEK_SET)); tell(read(f, q, n)); tell(lseek(f, 0, SEEK_CUR)); printf("%u\n", sum(q, n));
	tell(pread(f, q, n, 9 << 20)); tell(lseek(f, 0, SEEK_CUR)); printf("%u\n", sum(q, n));
	tell(pwrite(f, p + 77, n - 77, 3)); tell(pread(f, q, n, 0)); printf("%u\n", sum(q, n));
	struct iovec v[3] = {{q + 1, 9 << 20}, {q, 0}, {q + (10 << 20), n - (10 << 20)}};
	tell(preadv(f, v, 3, 1234)); printf("%u\n", sum(q, n));
	tell(pwritev(f, v, 3, 4321)); tell(pread(f, q, n, 0)); printf("%u\n", sum(q, n));
	tell(read(zero, q, n)); printf("%u\n", sum(q, n));
	tell(write(null, p, n)); tell(write(zero, p, n)); tell(write(null, (void *)8, n));
	tell(write(f, (void *)8, n)); 
	mprotect(p + (20 << 20), 4096, PROT_NONE); tell(pwrite(f, p + 4321, n - 4321, 0)); mprotect(p + (20 << 20), 4096, PROT_READ | PROT_WRITE);
	fcntl(f, F_SETFL, O_APPEND); ftruncate(f, 100); tell(write(f, p, n)); tell(lseek(f, 0, SEEK_END)); tell(pwrite(f, p, n, 7)); tell(lseek(f, 0, SEEK_END));
	signal(SIGXFSZ, SIG_IGN);
	fcntl(f, F_SETFL, 0);
	for (int k = 0; k < 3; k++) {
		struct rlimit l = {(10 << 20) + k - 1, (1 << 30)}; // at, below and above a whole number of the machine's pieces
		ftruncate(f, 0); setrlimit(RLIMIT_FSIZE, &l);
		tell(pwrite(f, p, n, 0)); tell(pwrite(f, p, n, 3)); tell(pwrite(f, p, n, 10 << 20)); tell(lseek(f, 0, SEEK_END));
	}
	return 0;
}
`

// Calls that go in pieces do what they do natively.
func TestBulkyCalls(t *testing.T) {
	b := newBox(t)
	b.compile("p", bulky)
	native, err := exec.Command(b.path("p")).Output()
	if err != nil {
		t.Fatal(err)
	}
	if got := b.run("exec", "./p").want(0).stdout; got != string(native) {
		t.Errorf("in the machine\n%s\nnatively\n%s", got, native)
	}
}

// A way through deep folders takes as long as it is.
func TestDeepFolders(t *testing.T) {
	b := newBox(t)
	b.compile("p", `#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>
int main(void) { int n = 0; while (n < 4000 && !mkdir("d", 0700) && !chdir("d")) n++; printf("%d", n); }`)
	cmd := b.command("exec", "./p")
	r := b.finish(cmd).want(0, "4000")
	if took := cmd.ProcessState.UserTime(); took.Seconds() > 30 {
		t.Errorf("%v: %s", took, r.stdout)
	}
	t.Logf("%v", cmd.ProcessState.UserTime())
}
