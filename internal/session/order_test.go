package session

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"symchef/internal/exec"
	"symchef/internal/expr"
	"symchef/internal/kernel"
	"symchef/internal/seed"
)

// started runs a program up to where there are several tasks: until then there is one schedule.
func started(t *testing.T, m *exec.Machine, track bool, cwd string, argv ...string) *kernel.System {
	t.Helper()
	sys, err := kernel.Boot(kernel.Config{Path: argv[0], Argv: argv, Cwd: cwd})
	if err != nil {
		t.Fatal(err)
	}
	if track {
		sys.TrackOrder()
	}
	for len(sys.Tasks()) == 1 && sys.Retired < 20_000_000 {
		if stop := m.Run(sys, &exec.Facts{}, 100); stop.Kind != exec.Budget {
			t.Fatalf("%v: stop %d %s", argv, stop.Kind, stop.What)
		}
	}
	return sys
}

// under runs a copy of sys to its end in one schedule, which r chooses, or the machine's own (nil). It gives what a user can see, and which
// steps have no order.
func under(m *exec.Machine, r *rand.Rand, sys *kernel.System) (outcome, unordered string) {
	sys = sys.Fork()
	facts := &exec.Facts{}
	for sys.Retired < 20_000_000 {
		n := uint64(1 << 20)
		if r != nil {
			n = 1 + r.Uint64N(1<<r.Uint64N(10))
		}
		stop := m.Run(sys, facts, n)
		switch stop.Kind {
		case exec.Budget:
			if r != nil {
				for range r.IntN(len(sys.Tasks())) {
					sys.Preempt()
				}
			}
			continue
		case exec.Exited:
			return fmt.Sprintf("%+v %q", sys.ExitStatus(), sys.Stdout().Data), sys.Unordered()
		}
		return fmt.Sprintf("stop %d %s", stop.Kind, stop.What), sys.Unordered()
	}
	return "endless", sys.Unordered()
}

// agree runs a program in the machine's own schedule and in others. Where that says that no steps are without order, all have one outcome.
func agree(t *testing.T, r *rand.Rand, schedules int, cwd string, argv []string) (ordered, differ bool) {
	t.Helper()
	m, plain := exec.New(expr.New()), exec.New(expr.New())
	m.CompileAfter, plain.CompileAfter, plain.TellAll = 2, 0, true
	sys, free := started(t, m, true, cwd, argv...), started(t, m, false, cwd, argv...)
	first, why := under(m, nil, sys)
	others := map[string]int{}
	for range schedules {
		got, _ := under(m, r, free)
		others[got]++
	}
	differ = len(others) > 1 || others[first] == 0
	switch {
	case why == "" && differ:
		t.Errorf("%q: no steps without order, but %s, and in other schedules %v", argv[1:], first, others)
	case why != "" && (!strings.HasPrefix(why, "one schedule of several: ") || !strings.Contains(why, " and ")):
		t.Errorf("%q: %s", argv[1:], why)
	}
	if again, same := under(plain, nil, sys); again != first || same != why {
		t.Errorf("%q: %s, %s, and where all accesses are told %s, %s", argv[1:], first, why, again, same)
	}
	return why == "", differ
}

// orderOps are kinds of steps that meet, of testdata/tasks.c.
var orderOps = []string{"wrbcszaxltopqQfgdPEXCDSWhuy", "dbpqaQs", "bafgdu", "pqQPEXCd", "SWslbdA", "SWrwbSWd", "SWSWAbrz", "pBRqHLdQ", "eidb", "IkdcXbP", "mMvjJdb", "FGdlU", "nNTUdwr", "VYOfgudh",
	"pqdbwrUN", "ZdoUKNb", "wrbcszaxltopqQfgdPEXCDSWhuyBRHLeiIkmMvjJAFGnNTUKVYOZ"}

// Random tasks, under random schedules.
func TestOrderOracle(t *testing.T) {
	bin := compile(t, "testdata/tasks.c", "-O1", "-pthread", "-w")
	r := seed.Rand(t)
	cwd := t.TempDir() // nothing is written there
	ordered, differ, programs, schedules := 0, 0, 60, 12
	if os.Getenv("SYMCHEF_SLOW") == "1" {
		programs, schedules = 1500, 40
	}
	for range programs {
		ops := orderOps[r.IntN(len(orderOps))]
		argv := []string{bin, []string{"t", "f", "t", "f", "h", "T", "F"}[r.IntN(7)]}
		own := r.IntN(4) == 0 // of each task alone
		for k := range 2 + r.IntN(2) {
			script := ""
			for range 1 + r.IntN(6) {
				which := r.IntN(4)
				if own {
					which = k
				}
				script += string(ops[r.IntN(len(ops))]) + fmt.Sprint(which)
			}
			argv = append(argv, script)
		}
		o, d := agree(t, r, schedules, cwd, argv)
		if o {
			ordered++
		}
		if d {
			differ++
		}
	}
	t.Logf("%d programs in %d schedules each: %d with all steps in order, %d of which outcomes differ", programs, schedules, ordered, differ)
	if ordered == 0 || differ == 0 {
		t.Errorf("%d programs in order, %d whose outcomes differ: the test shows nothing", ordered, differ)
	}
}

// Programs that were once called in order though their outcomes differ.
func TestOrderFound(t *testing.T) {
	bin := compile(t, "testdata/tasks.c", "-O1", "-pthread", "-w")
	for name, argv := range map[string][]string{
		"a poll that waits for ever for what another task has taken":         {"f", "E0", "p1Q1"},
		"memory that another task has taken away, and advice":                {"t", "b3j1j1v1m2", "v2"},
		"a read that waits for ever, or not at all as another task has said": {"t", "R3Q0L3d1", "L0L3p2"},
		// The same for semaphores, made by hand.
		"a semaphore that another task might have posted first": {"t", "d9d9d9d9d9d9w0S0", "W0r0", "S0"},
		"a semaphore that two have posted, one of them taken":   {"t", "d9d9d9d9d9d9w0S0", "S0", "W0r0"},
		"a semaphore of processes, posted by two":               {"f", "d9d9d9d9d9d9s0S0", "W0z0", "S0"},
		"a semaphore that was posted before":                    {"t", "S0d9d9d9w0S0", "W0r0"},
		"a semaphore that two take":                             {"t", "S0d9d9S0", "W0d1b0S1", "W0d9S1", "W1c0"},
		"a semaphore that is tried":                             {"t", "d9d9d9d9S0", "A0"},
		"a semaphore that is taken, and tried":                  {"t", "d9d9d9d9S0S0", "W0", "A0"},
	} {
		t.Run(strings.ReplaceAll(name, " ", "-"), func(t *testing.T) {
			r := rand.New(rand.NewPCG(1, 0))
			if _, differ := agree(t, r, 200, t.TempDir(), append([]string{bin}, argv...)); !differ {
				t.Errorf("%q: one outcome: the test shows nothing", argv)
			}
		})
	}
}

// orderHead begins the programs of TestOrder; c is a symbolic byte.
const orderHead = `#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/shm.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>
static volatile int n;
static int two[2], p[2];
static volatile char near[2];
static char c;
static _Atomic int shared;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static void handler(int s) { n++; }
#define THREADS(body) static void *f(void *a) { long k = (long)a; (void)k; body; return 0; } static void threads(void) { pthread_t t[2]; for (long i = 0; i < 2; i++) pthread_create(&t[i], 0, f, (void *)i); for (int i = 0; i < 2; i++) pthread_join(t[i], 0); }
#define CHILD if (!fork())
`

// ordering is a program and what must be said of its schedules: nothing, or parts of the two places.
type ordering struct {
	name, before, main string
	want               []string
}

var orders = []ordering{
	{"one task", "", `n = c;`, nil},
	{"two threads, each with its own", `THREADS(for (int i = 0; i < 50; i++) two[k]++; near[k] = k)`, `threads();`, nil},
	{"a counter without a lock", `THREADS(for (int i = 0; i < 50; i++) n++)`, `threads();`, []string{" f order.c:", "(task 1001)", "(task 1002)"}},
	{"a counter with a lock", `THREADS(pthread_mutex_lock(&lock); n = n * 2 + k; pthread_mutex_unlock(&lock))`, `threads();`, []string{"libc.so.6+", " called at prog+", " f order.c:", "(task 1001)", "(task 1002)"}},
	{"an atomic counter", `THREADS(atomic_fetch_add(&shared, 1))`, `threads(); n = shared;`, nil},
	{"an atomic counter whose value is used", `THREADS(two[k] = atomic_fetch_add(&shared, 1))`, `threads(); n = two[0];`, []string{" f order.c:"}},
	{"a flag", `static volatile int flag; static void *g(void *a) { flag = 1; return 0; }`,
		`pthread_t t; pthread_create(&t, 0, g, 0); n = flag; pthread_join(t, 0);`, []string{"order.c:", " main ", " g "}},
	{"a thread that is joined first", `static void *g(void *a) { n = 7; return 0; }`, `pthread_t t; pthread_create(&t, 0, g, 0); pthread_join(t, 0); n++;`, nil},
	{"a thread that nobody joins", `static void *g(void *a) { n = 7; return 0; }`, `pthread_t t; pthread_create(&t, 0, g, 0);`, []string{"the end of process 1000", "what process 1000 does then"}},
	{"a lock that is tried", `THREADS(if (!pthread_mutex_trylock(&lock)) pthread_mutex_unlock(&lock))`, `threads();`, []string{"trylock"}},
	{"a read into memory that another thread uses", `static void *g(void *a) { read(p[0], near, 1); return 0; }`,
		`pipe(p); write(p[1], "x", 1); pthread_t t; pthread_create(&t, 0, g, 0); n = near[0]; pthread_join(t, 0);`, []string{"read of memory", "order.c:"}},
	{"descriptors of two threads", `THREADS(two[k] = dup(1))`, `threads();`, []string{"dup of a descriptor"}},
	{"a pipe from child to parent", "", `pipe(p); CHILD { write(p[1], &c, 1); _exit(0); } read(p[0], near, 1); wait(0);`, nil},
	{"a pipe and its end", "", `pipe(p); CHILD { close(p[0]); write(p[1], "ab", 2); _exit(0); } close(p[1]); read(p[0], near, 2); read(p[0], near, 1); wait(0);`, nil},
	{"a pipe in two pieces", "", `pipe(p); CHILD { write(p[1], "a", 1); write(p[1], "b", 1); _exit(0); } n = read(p[0], near, 2); wait(0);`, []string{"write of a pipe by process 1001", "read of a pipe by process 1000"}},
	{"a pipe with two writers", "", `pipe(p); CHILD { write(p[1], "a", 1); _exit(0); } CHILD { write(p[1], "b", 1); _exit(0); } read(p[0], near, 1); while (wait(0) > 0);`,
		[]string{"write of a pipe by process 1001", "write of a pipe by process 1002"}},
	{"a pipe with two readers", "", `pipe(p); write(p[1], "ab", 2); CHILD { read(p[0], near, 1); _exit(near[0]); } read(p[0], near, 1); wait(0);`, []string{"read of a pipe"}},
	{"a pipe that is not waited for", "", `pipe2(p, O_NONBLOCK); CHILD { write(p[1], "a", 1); _exit(0); } n = read(p[0], near, 1); wait(0);`, []string{"read of a pipe", "write of a pipe"}},
	{"a pipe that nobody reads any more", "", `signal(SIGPIPE, SIG_IGN); pipe(p); CHILD { close(p[0]); write(p[1], "a", 1); _exit(errno); } close(p[0]); wait(&n);`, []string{"write of a pipe", "close of a pipe"}},
	{"questions and answers", "", `int s[2]; socketpair(AF_UNIX, SOCK_STREAM, 0, s);
		CHILD { for (int i = 0; i < 3; i++) { read(s[1], near, 1); near[0]++; write(s[1], near, 1); } _exit(0); }
		for (int i = 0; i < 3; i++) { write(s[0], &c, 1); read(s[0], near, 1); } wait(0);`, nil},
	{"a poll of two pipes", "", `int q[2]; pipe(p); pipe(q); CHILD { write(p[1], "a", 1); write(q[1], "b", 1); _exit(0); }
		struct pollfd l[2] = {{p[0], POLLIN}, {q[0], POLLIN}}; n = poll(l, 2, -1); wait(0);`, []string{"poll of a pipe", "write of a pipe"}},
	{"a poll of what another thread reads", `static void *g(void *a) { struct pollfd l[2] = {{p[0], POLLIN}, {two[0], POLLIN}}; n = poll(l, 2, -1); return 0; }`,
		`pipe(p); pipe(two); write(p[1], "a", 1); pthread_t t; pthread_create(&t, 0, g, 0); read(p[0], near, 1); write(two[1], "b", 1); pthread_join(t, 0);`, []string{"poll of a pipe", "of a pipe"}},
	{"an event counter", "", `int e = eventfd(0, 0); uint64_t v = 1; CHILD { write(e, &v, 8); _exit(0); } read(e, &v, 8); wait(0);`, nil},
	{"an event counter that two add to", "", `int e = eventfd(0, 0); uint64_t v = 1; CHILD { write(e, &v, 8); _exit(0); } write(e, &v, 8); read(e, &v, 8); wait(0);`, []string{"write of an event counter"}},
	{"standard output of two", "", `CHILD { write(1, "child", 5); _exit(0); } write(1, "parent", 6); wait(0);`, []string{"write of standard output by process 1000", "write of standard output by process 1001"}},
	{"standard output, one after the other", "", `CHILD { write(1, "child", 5); _exit(0); } wait(0); write(1, "parent", 6);`, nil},
	{"a file of two", "", `CHILD { close(open("order-x", O_CREAT | O_WRONLY, 0644)); _exit(0); } n = access("order-x", F_OK); wait(0);`, []string{"order-x by process 1000", "order-x by process 1001"}},
	{"a file, one after the other", "", `CHILD { int f = open("order-x", O_CREAT | O_WRONLY, 0644); write(f, &c, 1); _exit(0); } wait(0); n = access("order-x", F_OK);`, nil},
	{"files of one's own", "", `CHILD { int f = open("order-x", O_CREAT | O_WRONLY, 0644); write(f, &c, 1); _exit(0); } int f = open("order-y", O_CREAT | O_WRONLY, 0644); write(f, &c, 1); wait(0);`, nil},
	{"a folder that is listed", "", `#include <dirent.h>
		CHILD { close(open("order-x", O_CREAT | O_WRONLY, 0644)); _exit(0); } DIR *d = opendir("."); while (readdir(d)) n++; wait(0);`, []string{"openat of ", "getdents64 of "}},
	{"an offset of two", "", `int f = open("/etc/passwd", O_RDONLY); CHILD { read(f, near, 1); _exit(0); } read(f, near, 1); wait(0);`, []string{"read of /etc/passwd"}},
	{"a file that two only read", "", `CHILD { int f = open("/etc/passwd", O_RDONLY); read(f, near, 1); _exit(0); } int f = open("/etc/passwd", O_RDONLY); read(f, near, 1); wait(0);`, nil},
	{"memory of two processes", "", `int *m = mmap(0, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0); CHILD { *m = 1; _exit(0); } n = *m; wait(0);`, []string{"main order.c:"}},
	{"memory of two processes, one after the other", "", `int *m = mmap(0, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0); CHILD { *m = 1; _exit(0); } wait(0); n = *m;`, nil},
	{"a signal with a handler", "", `signal(SIGUSR1, handler); CHILD { kill(getppid(), SIGUSR1); _exit(0); } wait(0);`, []string{"SIGUSR1 from process 1001", "process 1000"}},
	{"a signal that kills", "", `int k = fork(); if (!k) { for (;;) pause(); } kill(k, SIGKILL); wait(&n);`, []string{"SIGKILL from process 1000"}},
	{"a signal to oneself", "", `signal(SIGUSR1, handler); CHILD { _exit(0); } wait(0); raise(SIGUSR1);`, nil},
	{"a child that is asked for", "", `CHILD _exit(0); while (waitpid(-1, 0, WNOHANG) == 0) n++;`, []string{"wait for a child", "the end of process 1001"}},
	{"the first of two children", "", `CHILD _exit(1); CHILD _exit(2); wait(&n); wait(0);`, []string{"wait for a child", "the end of process"}},
	{"two children in order", "", `int a, b; if (!(a = fork())) _exit(1); if (!(b = fork())) _exit(2); waitpid(a, &n, 0); waitpid(b, 0, 0);`, nil},
	{"a program of a child", "", `if (!vfork()) { execl("/bin/true", "true", (char *)0); _exit(1); } wait(0);`, nil},
	{"what /proc says of a child", "", `int k = fork(); if (!k) _exit(0); char b[40]; sprintf(b, "/proc/%d/stat", k); n = open(b, O_RDONLY); wait(0);`, []string{"openat by process 1000", "what process 1001 does"}},
	{"the parent of an orphan", "", `pipe(p); CHILD { CHILD { n = getppid(); write(p[1], "x", 1); _exit(0); } _exit(0); } wait(0); read(p[0], near, 1);`, []string{"getppid by process 1002", "the end of process 1001"}},
	{"a lock of a file", "", `CHILD { int f = open("/etc/passwd", O_RDONLY); n = flock(f, LOCK_EX | LOCK_NB); _exit(n); } int f = open("/etc/passwd", O_RDONLY); n = flock(f, LOCK_EX | LOCK_NB); wait(0);`, []string{"flock of /etc/passwd"}},
	{"a lock of a part of a file", "", `struct flock l = {F_RDLCK}; CHILD { int f = open("/etc/passwd", O_RDONLY); n = fcntl(f, F_SETLK, &l); _exit(n); } int f = open("/etc/passwd", O_RDONLY); n = fcntl(f, F_SETLK, &l); wait(0);`, []string{"of /etc/passwd"}},
	{"a file that is mapped", "", `int f = open("order-m", O_CREAT | O_RDWR, 0644); ftruncate(f, 4096); volatile char *m = mmap(0, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, f, 0);
		CHILD { m[5] = 1; _exit(0); } pread(f, near, 1, 5); wait(0);`, []string{"order-m", " main order.c:"}},
	{"a file that is mapped, elsewhere", "", `int f = open("order-m", O_CREAT | O_RDWR, 0644); ftruncate(f, 4096); volatile char *m = mmap(0, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, f, 0);
		CHILD { m[5] = 1; _exit(0); } pread(f, near, 1, 6); wait(0);`, nil},
	{"a folder of two threads", `static void *g(void *a) { chdir("/"); return 0; }`, `pthread_t t; pthread_create(&t, 0, g, 0); n = access("order-z", F_OK); pthread_join(t, 0);`, []string{"chdir of what its process has", "what its process has"}},
	{"a descriptor that another thread closes", `static void *g(void *a) { close(p[1]); return 0; }`, `pipe(p); pthread_t t; pthread_create(&t, 0, g, 0); n = write(p[1], "x", 1); pthread_join(t, 0);`, []string{"a descriptor"}},
	{"a semaphore", `static sem_t s; static void *g(void *a) { n = 5; sem_post(&s); return 0; }`, `sem_init(&s, 0, 0); pthread_t t; pthread_create(&t, 0, g, 0); sem_wait(&s); n++; pthread_join(t, 0);`, nil},
	{"a program of a child of threads", `static void *g(void *a) { n = 1; return 0; }`, `pthread_t t; pthread_create(&t, 0, g, 0); if (!vfork()) { n = 2; execl("/bin/true", "true", (char *)0); _exit(1); } wait(0); pthread_join(t, 0);`, []string{"order.c:"}},
	{"copies of a file", "", `CHILD { _exit(0); } int f = open("/etc/passwd", O_RDONLY), g = open("order-c", O_CREAT | O_WRONLY, 0644); copy_file_range(f, 0, g, 0, 10, 0); wait(0);`, []string{"copy_file_range"}},
	{"two programs that read the same file, any waited for", "", `for (int i = 0; i < 2; i++) CHILD { int f = open("/etc/passwd", O_RDONLY); read(f, near, 1); close(f); _exit(0); } while (wait(0) > 0);`, []string{"wait for a child"}},
	{"two programs that read the same file", "", `int k[2]; for (int i = 0; i < 2; i++) if (!(k[i] = fork())) { int f = open("/etc/passwd", O_RDONLY); read(f, near, 1); close(f); _exit(0); } waitpid(k[0], 0, 0); waitpid(k[1], 0, 0);`, nil},
	{"a file that was opened once, read by two and closed", "", `int k[2], f = open("/etc/passwd", O_RDONLY); for (int i = 0; i < 2; i++) if (!(k[i] = fork())) { read(f, near, 1); close(f); _exit(0); } close(f); waitpid(k[0], 0, 0); waitpid(k[1], 0, 0);`, []string{"read of /etc/passwd by process 1001", "read of /etc/passwd by process 1002"}},
	{"system", "", `system("true");`, nil},
	{"system, and a handler later", "", `system("true"); signal(SIGCHLD, handler);`, nil},
	{"a child beside system", "", `int k = fork(); if (!k) _exit(0); system("true"); waitpid(k, 0, 0);`, nil},
	{"a child and a handler that is too late, or not", "", `CHILD _exit(0); signal(SIGCHLD, handler); wait(0);`, []string{" process 100"}},
	{"a handler that counts children", "", `signal(SIGCHLD, handler); CHILD _exit(0); wait(0);`, []string{"SIGCHLD from process 1001"}},
	{"SIGCHLD that is blocked or not when it comes", "", `sigset_t s; sigemptyset(&s); sigaddset(&s, SIGCHLD); int k = fork(); if (!k) _exit(0); sigprocmask(SIG_BLOCK, &s, 0); waitpid(k, 0, 0);
		signal(SIGCHLD, handler); sigprocmask(SIG_UNBLOCK, &s, 0);`, []string{"SIGCHLD"}},
	{"SIGCHLD that is looked for", "", `sigset_t s; sigemptyset(&s); sigaddset(&s, SIGCHLD); sigprocmask(SIG_BLOCK, &s, 0); CHILD _exit(0); sigpending(&s); n = sigismember(&s, SIGCHLD); wait(0);`, []string{"SIGCHLD", "process 1001"}},
	{"SIGCHLD that is looked for after the child", "", `sigset_t s; sigemptyset(&s); sigaddset(&s, SIGCHLD); sigprocmask(SIG_BLOCK, &s, 0); CHILD _exit(0); wait(0); sigpending(&s); n = sigismember(&s, SIGCHLD);`, nil},
	{"SIGCHLD that is waited for", "", `sigset_t s; sigemptyset(&s); sigaddset(&s, SIGCHLD); sigprocmask(SIG_BLOCK, &s, 0); CHILD _exit(0); n = sigwaitinfo(&s, 0); wait(0);`, nil},
	{"a child that nobody need wait for", "", `signal(SIGCHLD, SIG_IGN); CHILD _exit(0); n = waitpid(-1, 0, WNOHANG);`, []string{"wait for a child", "process 1001"}},
	{"a segment that a child looks at", "", `int i = shmget(IPC_PRIVATE, 4096, 0600); struct shmid_ds d; CHILD { shmctl(i, IPC_STAT, &d); _exit(d.shm_nattch); } wait(0); shmctl(i, IPC_RMID, 0);`, nil},
	{"a segment that one attaches and another looks at", "", `int i = shmget(IPC_PRIVATE, 4096, 0600); struct shmid_ds d; CHILD { shmat(i, 0, 0); _exit(0); } shmctl(i, IPC_STAT, &d); n = d.shm_nattch; wait(0); shmctl(i, IPC_RMID, 0);`, []string{"shm", "process 1000", "process 1001"}},
	{"a segment that a child leaves", "", `int i = shmget(IPC_PRIVATE, 4096, 0600); struct shmid_ds d; shmat(i, 0, 0); CHILD _exit(0); shmctl(i, IPC_STAT, &d); n = d.shm_nattch; wait(0); shmctl(i, IPC_RMID, 0);`, []string{"shmctl of a segment", "process 1001"}},
	{"a child that is left alone", "", `CHILD { write(1, "x", 1); _exit(0); }`, []string{"the end of process 1000", "process 1001"}},
	// Of each of these another schedule has another outcome, and the machine's own does not show it by what follows.
	{"a poll that never ends", "", `pipe(p); write(p[1], "a", 1); CHILD { read(p[0], near, 1); _exit(0); } wait(0); alarm(1); struct pollfd l = {p[0], POLLIN}; poll(&l, 1, -1);`, nil},
	{"a poll of what another process has read", "", `pipe(p); CHILD { write(p[1], "a", 1); read(p[0], near, 1); _exit(0); } usleep(5000); struct pollfd l = {p[0], POLLIN}; poll(&l, 1, -1); wait(0);`, []string{"read of a pipe by process 1001", "a wait of process 1000 that never ends"}},
	{"a thread that has ended, by luck", `static void *g(void *a) { write(1, "x", 1); return 0; }`, `pthread_t t; pthread_create(&t, 0, g, 0); usleep(5000);`, []string{"the end of process 1000", "task 1001"}},
	{"a child that has ended, by luck", "", `CHILD { write(1, "x", 1); _exit(0); } usleep(5000);`, []string{"the end of process 1000", "process 1001"}},
	{"a descriptor that another thread has closed, by luck", `static void *g(void *a) { close(p[1]); return 0; }`, `pipe(p); pthread_t t; pthread_create(&t, 0, g, 0); pthread_detach(t); usleep(5000); n = write(p[1], "x", 1);`, []string{"a descriptor"}},
	{"a copy of what another thread writes", `static void *g(void *a) { n = 5; return 0; }`, `pthread_t t; pthread_create(&t, 0, g, 0); int k = fork(); if (!k) _exit(n); waitpid(k, 0, 0); pthread_join(t, 0);`, []string{"fork", "(task 1001)"}},
	{"a child that two threads wait for", `static int kid; static void *g(void *a) { two[0] = waitpid(kid, 0, 0); return 0; }`, `if (!(kid = fork())) _exit(0); pthread_t t; pthread_create(&t, 0, g, 0); two[1] = waitpid(kid, 0, 0); pthread_join(t, 0);`, []string{"wait for a child"}},
	{"a wake that may come before the wait", `#include <linux/futex.h>
		#include <sys/syscall.h>
		static int word; static void *g(void *a) { syscall(SYS_futex, &word, FUTEX_WAKE, 1, 0, 0, 0); return 0; }`, `pthread_t t; pthread_create(&t, 0, g, 0); syscall(SYS_futex, &word, FUTEX_WAIT, 0, 0, 0, 0); pthread_join(t, 0);`, []string{"futex"}},
	{"a wake that found nobody", `#include <linux/futex.h>
		#include <sys/syscall.h>
		static int word; static void *g(void *a) { usleep(5000); struct timespec s = {1}; syscall(SYS_futex, &word, FUTEX_WAIT, 0, &s, 0, 0); return 0; }`, `pthread_t t; pthread_create(&t, 0, g, 0); n = syscall(SYS_futex, &word, FUTEX_WAKE, 1, 0, 0, 0); pthread_join(t, 0);`, []string{"futex"}},
	{"memory that another thread takes away", `static char *m; static void *g(void *a) { munmap(m, 4096); return 0; }`, `m = mmap(0, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0); pthread_t t; pthread_create(&t, 0, g, 0); n = *(volatile char *)m; pthread_join(t, 0);`, []string{"munmap", "order.c:"}},
	{"memory that another thread protects", `static char *m; static void *g(void *a) { mprotect(m, 4096, PROT_READ); return 0; }`, `m = mmap(0, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0); pthread_t t; pthread_create(&t, 0, g, 0); *m = 1; pthread_join(t, 0);`, []string{"mprotect", "order.c:"}},
	{"memory that another thread empties", `static char *m; static void *g(void *a) { n = m[5]; return 0; }`, `m = mmap(0, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0); m[5] = 1; pthread_t t; pthread_create(&t, 0, g, 0); madvise(m, 4096, MADV_DONTNEED); pthread_join(t, 0);`, []string{"madvise", "order.c:"}},
	{"memory of threads of their own", `THREADS(char *m = mmap(0, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0); m[0] = k; mprotect(m, 4096, PROT_READ); two[k] = m[0]; munmap(m, 8192))`, `threads();`, nil},
	{"a thread that is joined if it has ended", `static void *g(void *a) { return 0; }`, `pthread_t t; pthread_create(&t, 0, g, 0); if (n = pthread_tryjoin_np(t, 0)) pthread_join(t, 0);`, []string{"tryjoin"}},
	{"a thread that is joined if it has ended, by luck", `static void *g(void *a) { return 0; }`, `pthread_t t; pthread_create(&t, 0, g, 0); usleep(5000); if (n = pthread_tryjoin_np(t, 0)) pthread_join(t, 0);`, []string{"tryjoin"}},
	{"a thread that is cancelled", `static void *g(void *a) { pthread_testcancel(); near[0] = 1; return 0; }`, `pthread_t t; pthread_create(&t, 0, g, 0); pthread_cancel(t); pthread_join(t, 0);`, []string{"pthread_"}},
	{"a lock of standard output that is tried", `THREADS(if (!ftrylockfile(stdout)) funlockfile(stdout))`, `threads();`, []string{"trylock"}},
	{"an event counter that is added to twice", "", `int e = eventfd(0, 0); uint64_t v = 1; CHILD { write(e, &v, 8); write(e, &v, 8); _exit(0); } read(e, &v, 8); n = v; wait(0);`, []string{"write of an event counter", "read of an event counter"}},
	{"an event counter that was added to before", "", `int e = eventfd(3, 0); uint64_t v = 1; CHILD { write(e, &v, 8); _exit(0); } usleep(5000); read(e, &v, 8); n = v; wait(0);`, []string{"write of an event counter", "read of an event counter"}},
	{"an event counter taken one by one", "", `int e = eventfd(0, EFD_SEMAPHORE); uint64_t v = 2; CHILD { write(e, &v, 8); _exit(0); } read(e, &v, 8); read(e, &v, 8); wait(0);`, nil},
	{"a pipe with something in it before", "", `pipe(p); write(p[1], "a", 1); CHILD { write(p[1], "b", 1); _exit(0); } usleep(5000); char b[9]; n = read(p[0], b, 9); wait(0);`, []string{"write of a pipe", "read of a pipe"}},
	{"a pipe that is full", "", `pipe(p); fcntl(p[1], F_SETPIPE_SZ, 4096); char b[9000]; int k = fork(); if (!k) { write(p[1], b, 5000); write(p[1], b, 100); _exit(0); } read(p[0], b, 4096); usleep(5000); n = read(p[0], b, 2000); waitpid(k, 0, 0);`, []string{"write of a pipe", "read of a pipe"}},
	{"a pipe in which there is room, by luck", "", `pipe(p); fcntl(p[1], F_SETPIPE_SZ, 4096); char b[4096]; write(p[1], b, 4096); fcntl(p[1], F_SETFL, O_NONBLOCK); int k = fork(); if (!k) { read(p[0], b, 4096); _exit(0); } usleep(5000); n = write(p[1], b, 1); waitpid(k, 0, 0);`, []string{"of a pipe by process 1001", "write of a pipe by process 1000"}},
	{"a pipe that is polled for room", "", `pipe(p); fcntl(p[1], F_SETPIPE_SZ, 4096); char b[4096]; write(p[1], b, 4096); int k = fork(); if (!k) { read(p[0], b, 4096); _exit(0); } struct pollfd l = {p[1], POLLOUT}; n = poll(&l, 1, 0); waitpid(k, 0, 0);`, []string{"poll of a pipe", "read of a pipe"}},
	{"much through a pipe", "", `static char b[200000]; pipe(p); int k = fork(); if (!k) { close(p[0]); write(p[1], b, 200000); _exit(0); } close(p[1]); for (int i = 0; i < 200000; i += 1000) for (int j = 0; j < 1000; j++) if (read(p[0], b, 1) < 1) n++; waitpid(k, 0, 0);`, nil},
	{"flags of an open file", "", `pipe(p); int k = fork(); if (!k) { fcntl(p[0], F_SETFL, O_NONBLOCK); usleep(50000); _exit(0); } usleep(5000); n = read(p[0], near, 1); waitpid(k, 0, 0);`, []string{"fcntl", "read of an open file"}},
	{"the end of a process that is polled for", "", `#include <sys/syscall.h>
		int k = fork(); if (!k) _exit(0); struct pollfd l = {syscall(SYS_pidfd_open, k, 0), POLLIN}; n = poll(&l, 1, 0); waitpid(k, 0, 0);`, []string{"poll", "the end of process 1001"}},
	{"events that are told once", "", `#include <sys/epoll.h>
		pipe(p); int e = epoll_create(1); struct epoll_event v = {EPOLLIN | EPOLLET}; epoll_ctl(e, EPOLL_CTL_ADD, p[0], &v); write(p[1], "a", 1); epoll_wait(e, &v, 1, 0);
		int k = fork(); if (!k) { write(p[1], "b", 1); _exit(0); } n = epoll_wait(e, &v, 1, 0); waitpid(k, 0, 0);`, []string{"epoll_wait", "write of a pipe"}},
	{"what is waited for, changed by another thread", `#include <sys/epoll.h>
		static int e; static void *g(void *a) { struct epoll_event v = {EPOLLIN}; epoll_ctl(e, EPOLL_CTL_ADD, p[0], &v); return 0; }`, `pipe(p); write(p[1], "a", 1); e = epoll_create(1); pthread_t t; pthread_create(&t, 0, g, 0); struct epoll_event v; n = epoll_wait(e, &v, 1, 0); pthread_join(t, 0);`, []string{"epoll_wait", "epoll_ctl"}},
	{"a program that another process makes", "", `int k = fork(); if (!k) { int f = open("order-s", O_CREAT | O_WRONLY, 0755); _exit(0); } int j = fork(); if (!j) { execl("./order-s", "x", (char *)0); _exit(errno); } waitpid(k, 0, 0); waitpid(j, &n, 0);`, []string{"order-s"}},
	{"a folder that another process makes", "", `int k = fork(); if (!k) { mkdir("order-d", 0755); _exit(0); } n = chdir("order-d"); waitpid(k, 0, 0);`, []string{"order-d"}},
	{"how many folders there are in one", "", `#include <sys/stat.h>
		mkdir("order-e", 0755); int k = fork(); if (!k) { mkdir("order-e/x", 0755); _exit(0); } struct stat s; stat("order-e", &s); n = s.st_nlink; waitpid(k, 0, 0);`, []string{"order-e"}},
	{"a file with two names", "", `int f = open("order-n", O_CREAT | O_WRONLY, 0644); link("order-n", "order-k"); int k = fork(); if (!k) { write(f, "x", 1); _exit(0); } n = read(open("order-k", O_RDONLY), near, 1); waitpid(k, 0, 0);`, []string{"order-n", "order-k"}},
	{"a file with a new name", "", `int f = open("order-n", O_CREAT | O_WRONLY, 0644); rename("order-n", "order-k"); int k = fork(); if (!k) { write(f, "x", 1); _exit(0); } n = read(open("order-k", O_RDONLY), near, 1); waitpid(k, 0, 0);`, []string{"order-n", "order-k"}},
	{"a mapping of a file that another process writes", "", `int f = open("order-n", O_CREAT | O_RDWR, 0644); ftruncate(f, 4096); int k = fork(); if (!k) { pwrite(f, "x", 1, 0); _exit(0); } char *m = mmap(0, 4096, PROT_READ, MAP_PRIVATE, f, 0); n = *(volatile char *)m; waitpid(k, 0, 0);`, []string{"order-n"}},
	{"a mapping of a file that another process has written", "", `int f = open("order-n", O_CREAT | O_RDWR, 0644); ftruncate(f, 4096); int k = fork(); if (!k) { pwrite(f, "x", 1, 0); _exit(0); } usleep(5000); char *m = mmap(0, 4096, PROT_READ, MAP_SHARED, f, 0); n = *(volatile char *)m; waitpid(k, 0, 0);`, []string{"order-n"}},
	{"a mapping of a file that another process cuts", "", `int f = open("order-n", O_CREAT | O_RDWR, 0644); ftruncate(f, 4096); char *m = mmap(0, 4096, PROT_READ, MAP_SHARED, f, 0); int k = fork(); if (!k) { ftruncate(f, 0); _exit(0); } n = *(volatile char *)m; waitpid(k, 0, 0);`, []string{"order-n", "order.c:"}},
	{"a FIFO that nobody may have opened", "", `#include <sys/stat.h>
		mkfifo("order-f", 0644); int k = fork(); if (!k) { open("order-f", O_RDONLY | O_NONBLOCK); usleep(50000); _exit(0); } usleep(5000); n = open("order-f", O_WRONLY | O_NONBLOCK); waitpid(k, 0, 0);`, []string{"order-f"}},
	{"a socket that nobody may listen at", "", `#include <sys/un.h>
		struct sockaddr_un a = {AF_UNIX, "\0order"}; int k = fork(); if (!k) { int s = socket(AF_UNIX, SOCK_STREAM, 0); bind(s, (void *)&a, 8); listen(s, 1); usleep(50000); _exit(0); } usleep(5000); int s = socket(AF_UNIX, SOCK_STREAM, 0); n = connect(s, (void *)&a, 8); waitpid(k, 0, 0);`, []string{"connect", "listen"}},
	{"a socket that is shut", "", `int s[2]; socketpair(AF_UNIX, SOCK_STREAM, 0, s); int k = fork(); if (!k) { shutdown(s[0], SHUT_RD); usleep(50000); _exit(0); } usleep(5000); signal(SIGPIPE, SIG_IGN); n = write(s[1], "x", 1); waitpid(k, 0, 0);`, []string{"shutdown", "write of a socket"}},
	{"a group that is given", "", `int k = fork(); if (!k) _exit(getpgrp() == getpid()); setpgid(k, k); waitpid(k, 0, 0);`, []string{"setpgid", "getpgrp"}},
	{"a stopped child", "", `int k = fork(); if (!k) { raise(SIGSTOP); _exit(0); } usleep(5000); kill(k, SIGCONT); waitpid(k, 0, 0);`, []string{"SIGCONT from process 1000"}},
	{"nice", "", `#include <sys/resource.h>
		int k = fork(); if (!k) _exit(getpriority(PRIO_PROCESS, 0)); setpriority(PRIO_PROCESS, k, 5); waitpid(k, 0, 0);`, []string{"priority"}},
	{"a name of a thread", `#include <sys/prctl.h>
		THREADS(if (k) prctl(PR_SET_NAME, "x"); else prctl(PR_GET_NAME, near))`, `threads();`, []string{"prctl of the name"}},
	{"a second write, behind a message", `static void *g(void *a) { char b; read(p[0], &b, 1); two[0] = n; return 0; }`, `pipe(p); pthread_t t; pthread_create(&t, 0, g, 0); n = 1; write(p[1], "x", 1); n = 2; pthread_join(t, 0);`, []string{" main order.c:", " g order.c:"}},
	{"an atomic addition and a plain write", `static void *g(void *a) { atomic_fetch_add(&shared, 1); return 0; }`, `pthread_t t; pthread_create(&t, 0, g, 0); atomic_fetch_add(&shared, 1); atomic_store_explicit(&shared, 7, memory_order_relaxed); pthread_join(t, 0);`, []string{" main order.c:", " g order.c:"}},
	{"memory of one's own that becomes shared", "", `int f = open("order-m", O_CREAT | O_RDWR, 0644); ftruncate(f, 4096); volatile char *m = mmap(0, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, f, 0), *q = mmap(0, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
		CHILD { m[5] = 1; _exit(0); } q[5] = 2; n = q[5]; mmap((void *)q, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, f, 0); n = q[5]; wait(0);`, []string{" main order.c:"}},
	{"a thread that sleeps again and again", `static volatile int tick; static void *g(void *a) { for (;;) { usleep(1000); tick = 1; } }`, `pthread_t t; pthread_create(&t, 0, g, 0); n = 5; usleep(c & 1 ? 5000 : 0);`, nil},
	{"a thread that sleeps and sets what is looked at", `static volatile int tick; static void *g(void *a) { for (;;) { usleep(1000); tick = 1; } }`, `pthread_t t; pthread_create(&t, 0, g, 0); n = tick;`, []string{" main order.c:", " g order.c:"}},
	{"a thread that sleeps and counts", `static void *g(void *a) { for (;;) { usleep(1000); two[0]++; } }`, `pthread_t t; pthread_create(&t, 0, g, 0);`, []string{"the end of process 1000", "what process 1000 does then"}},
	{"a thread that sleeps and writes", `static void *g(void *a) { for (;;) { usleep(1000); write(1, ".", 1); } }`, `pthread_t t; pthread_create(&t, 0, g, 0);`, []string{"the end of process 1000", "what process 1000 does then"}},
	{"a thread that sleeps until it is late", `#include <time.h>
		static void *g(void *a) { for (time_t t = time(0) + 2; time(0) < t;) usleep(1000); write(1, "x", 1); return 0; }`, `pthread_t t; pthread_create(&t, 0, g, 0);`, []string{"the end of process 1000", "what process 1000 does then"}},
	{"a thread that has written before it sleeps", `static void *g(void *a) { write(1, "x", 1); for (;;) usleep(1000); }`, `pthread_t t; pthread_create(&t, 0, g, 0); usleep(5000);`, []string{"the end of process 1000", "task 1001"}},
	{"a thread that sleeps, and a signal that it may get", `static void *g(void *a) { for (;;) usleep(1000); }`, `signal(SIGALRM, handler); pthread_t t; pthread_create(&t, 0, g, 0); alarm(1);`, []string{"a timer's SIGALRM, set to 1s", "what process 1000 does when it comes"}},
	{"advice about memory that another thread has taken away", `static char *m; static void *g(void *a) { munmap(m, 4096); return 0; }`, `m = mmap(0, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0); pthread_t t; pthread_create(&t, 0, g, 0); usleep(5000); n = madvise(m, 4096, MADV_DONTNEED); pthread_join(t, 0);`, []string{"munmap", "madvise"}},
	{"protection of memory that another thread has taken away", `static char *m; static void *g(void *a) { munmap(m, 4096); return 0; }`, `m = mmap(0, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0); pthread_t t; pthread_create(&t, 0, g, 0); usleep(5000); n = mprotect(m, 4096, PROT_READ); pthread_join(t, 0);`, []string{"munmap", "mprotect"}},
	{"a mapping of a descriptor that another thread closes", `static void *g(void *a) { close(two[0]); return 0; }`, `two[0] = open("/etc/passwd", O_RDONLY); pthread_t t; pthread_create(&t, 0, g, 0); n = mmap(0, 4096, PROT_READ, MAP_PRIVATE, two[0], 0) == MAP_FAILED; pthread_join(t, 0);`, []string{"a descriptor"}},
	{"a timer that runs out while the program computes", "#include <sys/time.h>", `signal(SIGALRM, handler); ualarm(900, 0); for (volatile int i = 0; i < 500000; i++) ;`, []string{"a timer's SIGALRM, set to 900µs", "what process 1000 does when it comes"}},
	{"a lock that may not be got", `THREADS(pthread_mutex_lock(&lock); if (k) for (;;) pause(); pthread_mutex_unlock(&lock))`, `alarm(1); threads();`, []string{"(task 1001)", "(task 1002)"}},
	{"fstat of a file that is written", `#include <sys/stat.h>`, `struct stat s; int f = open("order-f", O_CREAT | O_TRUNC | O_RDWR, 0600); CHILD { write(f, "abc", 3); _exit(0); } fstat(f, &s); n = s.st_size; wait(0);`, []string{"order-f by process 1000", "order-f by process 1001"}},
	{"fstat of a file that is written by another open file", `#include <sys/stat.h>`, `struct stat s; int f = open("order-f", O_CREAT | O_TRUNC | O_RDWR, 0600); CHILD { write(open("order-f", O_WRONLY | O_APPEND), "abc", 3); _exit(0); } fstat(f, &s); n = s.st_size; wait(0);`, []string{"order-f by process 1000", "order-f by process 1001"}},
	{"fstat of a file that is cut by another open", `#include <sys/stat.h>`, `struct stat s; int f = open("order-f", O_CREAT | O_TRUNC | O_RDWR, 0600); CHILD { open("order-f", O_WRONLY | O_TRUNC); _exit(0); } fstat(f, &s); n = s.st_size; wait(0);`, []string{"order-f by process 1000", "order-f by process 1001"}},
	{"fstat of a file that is given another mode", `#include <sys/stat.h>`, `struct stat s; int f = open("order-f", O_CREAT | O_TRUNC | O_RDWR, 0600); CHILD { chmod("order-f", 0640); _exit(0); } fstat(f, &s); n = s.st_size; wait(0);`, []string{"order-f by process 1000", "order-f by process 1001"}},
	{"fstat of a file that is given another name", `#include <sys/stat.h>`, `struct stat s; int f = open("order-f", O_CREAT | O_TRUNC | O_RDWR, 0600); CHILD { link("order-f", "order-g"); _exit(0); } fstat(f, &s); n = s.st_size; wait(0);`, []string{"order-f by process 1000", "order-f by process 1001"}},
	{"fstat of a file that is removed", `#include <sys/stat.h>`, `struct stat s; int f = open("order-f", O_CREAT | O_TRUNC | O_RDWR, 0600); CHILD { unlink("order-f"); _exit(0); } fstat(f, &s); n = s.st_size; wait(0);`, []string{"order-f by process 1000", "order-f by process 1001"}},
	{"fstat of a file that is given other times", `#include <sys/stat.h>`, `struct stat s; int f = open("order-f", O_CREAT | O_TRUNC | O_RDWR, 0600); CHILD { futimens(f, 0); _exit(0); } fstat(f, &s); n = s.st_size; wait(0);`, []string{"order-f by process 1000", "order-f by process 1001"}},
	{"fstat of a file that is made longer", `#include <sys/stat.h>`, `struct stat s; int f = open("order-f", O_CREAT | O_TRUNC | O_RDWR, 0600); CHILD { posix_fallocate(f, 0, 9); _exit(0); } fstat(f, &s); n = s.st_size; wait(0);`, []string{"order-f by process 1000", "order-f by process 1001"}},
	{"fstat of a file, one after the other", `#include <sys/stat.h>`, `struct stat s; int f = open("order-f", O_CREAT | O_TRUNC | O_RDWR, 0600); CHILD { write(f, "abc", 3); _exit(0); } wait(0); fstat(f, &s); n = s.st_size;`, nil},
	{"the flag of a descriptor that another thread closes", `static void *g(void *a) { close(5); return 0; }`, `dup2(0, 5); pthread_t t; pthread_create(&t, 0, g, 0); n = fcntl(5, F_GETFD); pthread_join(t, 0);`, []string{"close of a descriptor", "fcntl of a descriptor"}},
	{"the flag of a descriptor", `static void *g(void *a) { fcntl(p[0], F_SETFD, 1); return 0; }`, `p[0] = dup(0); pthread_t t; pthread_create(&t, 0, g, 0); n = fcntl(p[0], F_GETFD); pthread_join(t, 0);`, []string{"fcntl of a descriptor"}},
	{"what a descriptor stands for", `#include <sys/stat.h>
		static void *g(void *a) { dup2(p[1], 7); return 0; }`, `p[0] = open("order-o", O_CREAT | O_RDWR, 0600); dup2(p[0], 7); pipe(p); pthread_t t; pthread_create(&t, 0, g, 0); struct stat s; fstat(7, &s); n = S_ISFIFO(s.st_mode); pthread_join(t, 0);`, []string{"dup2 of a descriptor", "stat"}},
	{"a descriptor by its name in /proc", `static void *g(void *a) { dup2(0, 9); return 0; }`, `pthread_t t; pthread_create(&t, 0, g, 0); n = access("/proc/self/fd/9", 0); pthread_join(t, 0);`, []string{"dup2 of a descriptor", "access of a descriptor"}},
	{"what /proc says of memory", `#include <string.h>
		static void *g(void *a) { mmap((void *)0x10000000, 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0); return 0; }`, `pthread_t t; pthread_create(&t, 0, g, 0); static char b[16384]; int f = open("/proc/self/maps", O_RDONLY); for (int k; (k = read(f, b, sizeof b - 1)) > 0;) n |= strstr(b, "10000000-") != 0; pthread_join(t, 0);`, []string{"mmap of what is mapped", "of what is mapped"}},
	{"msync of memory that another thread has taken away", `static char *m; static void *g(void *a) { munmap(m, 4096); return 0; }`, `m = mmap(0, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0); pthread_t t; pthread_create(&t, 0, g, 0); n = msync(m, 4096, MS_ASYNC); pthread_join(t, 0);`, []string{"munmap", "msync"}},
	{"mincore of memory that another thread has taken away", `static char *m; static void *g(void *a) { munmap(m, 4096); return 0; }`, `m = mmap(0, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0); pthread_t t; pthread_create(&t, 0, g, 0); n = mincore(m, 4096, (unsigned char *)near); pthread_join(t, 0);`, []string{"munmap", "mincore"}},
	{"madvise of memory that another thread has taken away", `static char *m; static void *g(void *a) { munmap(m, 4096); return 0; }`, `m = mmap(0, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0); pthread_t t; pthread_create(&t, 0, g, 0); n = madvise(m, 4096, MADV_NORMAL); pthread_join(t, 0);`, []string{"munmap", "madvise"}},
	{"mlock of memory that another thread has taken away", `static char *m; static void *g(void *a) { munmap(m, 4096); return 0; }`, `m = mmap(0, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0); pthread_t t; pthread_create(&t, 0, g, 0); n = mlock(m, 4096); pthread_join(t, 0);`, []string{"munmap", "mlock"}},
	{"a timer that another thread sets", `#include <sys/time.h>
		static void *g(void *a) { struct itimerval v = {{0, 0}, {100, 0}}; setitimer(ITIMER_VIRTUAL, &v, 0); return 0; }`, `struct itimerval v; pthread_t t; pthread_create(&t, 0, g, 0); getitimer(ITIMER_VIRTUAL, &v); n = v.it_value.tv_sec; pthread_join(t, 0);`, []string{"setitimer", "getitimer"}},
	{"an option of a socket", "", `int v = 1; socklen_t l = sizeof v; socketpair(AF_UNIX, SOCK_STREAM, 0, p); CHILD { setsockopt(p[0], SOL_SOCKET, SO_KEEPALIVE, &v, sizeof v); _exit(0); } getsockopt(p[0], SOL_SOCKET, SO_KEEPALIVE, &v, &l); n = v; wait(0);`, []string{"setsockopt of a socket", "getsockopt of a socket"}},
	{"a socket that is asked for its type", "", `int v; socklen_t l = sizeof v; socketpair(AF_UNIX, SOCK_STREAM, 0, p); CHILD { write(p[1], "x", 1); _exit(0); } getsockopt(p[0], SOL_SOCKET, SO_TYPE, &v, &l); read(p[0], near, 1); wait(0);`, nil},
	{"what a thread returns", `static void *g(void *a) { return (void *)(long)(c + 1); }`, `pthread_t t; void *r; pthread_create(&t, 0, g, 0); pthread_join(t, &r); n = (long)r;`, nil},
	{"memory that two threads allocate", `THREADS(char *m = malloc(50); m[0] = k; free(m))`, `threads();`, nil},
	{"variables of threads", `static __thread int mine; THREADS(mine = k; two[k] = mine)`, `threads();`, nil},
	{"a pipe from thread to thread", `static void *g(void *a) { char b; read(p[0], &b, 1); n++; return 0; }`, `pipe(p); pthread_t t; pthread_create(&t, 0, g, 0); n = 4; write(p[1], "x", 1); pthread_join(t, 0); `, nil},
	{"three children, each waited for", "", `int k[3]; for (int i = 0; i < 3; i++) if (!(k[i] = fork())) _exit(i); for (int i = 0; i < 3; i++) { int s; waitpid(k[i], &s, 0); n += WEXITSTATUS(s); }`, nil},
	{"popen", "", `FILE *f = popen("echo hi", "r"); char b[10]; fgets(b, 10, f); pclose(f);`, nil},
	{"questions and answers by semaphores", `static sem_t s; static sem_t u; static void *g(void *a) { for (int i = 0; i < 3; i++) { sem_wait(&s); n *= 2; sem_post(&u); } return 0; }`, `sem_init(&s, 0, 0); sem_init(&u, 0, 0); pthread_t t; pthread_create(&t, 0, g, 0); for (int i = 0; i < 3; i++) { n++; sem_post(&s); sem_wait(&u); } pthread_join(t, 0); `, nil},
	{"a semaphore that was posted before it is waited for", `static sem_t s; static void *g(void *a) { n = 5; sem_post(&s); return 0; }`, `sem_init(&s, 0, 0); pthread_t t; pthread_create(&t, 0, g, 0); usleep(5000); sem_wait(&s); n++; pthread_join(t, 0); `, nil},
	{"a semaphore that counts two threads", `static sem_t s; THREADS(two[k] = 1; sem_post(&s))`, `sem_init(&s, 0, 0); pthread_t t[2]; for (long i = 0; i < 2; i++) pthread_create(&t[i], 0, f, (void *)i); usleep(5000); sem_wait(&s); sem_wait(&s); n = two[0] + two[1]; for (int i = 0; i < 2; i++) pthread_join(t[i], 0);`, nil},
	{"a semaphore of a detached thread", `static sem_t s; static void *g(void *a) { n = 5; sem_post(&s); for (;;) pause(); return 0; }`, `sem_init(&s, 0, 0); pthread_t t; pthread_create(&t, 0, g, 0); pthread_detach(t); sem_wait(&s); n++;`, nil},
	{"a semaphore of two processes", "", `sem_t *s = mmap(0, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0); int *m = (int *)(s + 1); sem_init(s, 1, 0); CHILD { *m = 7; sem_post(s); _exit(0); } sem_wait(s); n = *m; wait(0);`, nil},
	{"a queue with a semaphore", `static sem_t s; static int q[8]; static void *g(void *a) { for (int i = 0; i < 5; i++) { q[i] = i; sem_post(&s); } return 0; }`, `sem_init(&s, 0, 0); pthread_t t; pthread_create(&t, 0, g, 0); for (int i = 0; i < 5; i++) { sem_wait(&s); n += q[i]; } pthread_join(t, 0); `, nil},
	{"a semaphore that starts with one", `static sem_t s; static void *g(void *a) { n = 5; sem_post(&s); return 0; }`, `sem_init(&s, 0, 1); pthread_t t; pthread_create(&t, 0, g, 0); sem_wait(&s); n++; pthread_join(t, 0); `, []string{" main order.c:", " g order.c:"}},
	{"a write behind a semaphore", `static sem_t s; static void *g(void *a) { sem_post(&s); n = 5; return 0; }`, `sem_init(&s, 0, 0); pthread_t t; pthread_create(&t, 0, g, 0); sem_wait(&s); n++; pthread_join(t, 0); `, []string{" main order.c:", " g order.c:"}},
	{"a semaphore that is waited for in vain, for a time", `#include <time.h>
		static sem_t s; static void *g(void *a) { sem_post(&s); return 0; }`, `sem_init(&s, 0, 0); struct timespec d; clock_gettime(CLOCK_REALTIME, &d); pthread_t t; pthread_create(&t, 0, g, 0); n = sem_timedwait(&s, &d); pthread_join(t, 0); `, []string{"sem_post"}},
	{"the value of a semaphore", `static sem_t s; static void *g(void *a) { sem_post(&s); return 0; }`, `sem_init(&s, 0, 0); pthread_t t; pthread_create(&t, 0, g, 0); sem_getvalue(&s, (int *)&n); pthread_join(t, 0); `, []string{"sem_post", "sem_getvalue"}},
	{"a semaphore as a lock", `static sem_t s; THREADS(sem_wait(&s); n = 2 * n + k; sem_post(&s))`, `sem_init(&s, 0, 1); threads();`, []string{"sem_wait"}},
	{"the first of two that post", `static sem_t s; THREADS(two[k] = 1; sem_post(&s))`, `sem_init(&s, 0, 0); pthread_t t[2]; for (long i = 0; i < 2; i++) pthread_create(&t[i], 0, f, (void *)i); sem_wait(&s); n = two[0]; for (int i = 0; i < 2; i++) pthread_join(t[i], 0);`, []string{"(task 100"}},
	{"a condition variable", `static pthread_cond_t v = PTHREAD_COND_INITIALIZER; static int ready; static void *g(void *a) { pthread_mutex_lock(&lock); n = 5; ready = 1; pthread_cond_signal(&v); pthread_mutex_unlock(&lock); return 0; }`, `pthread_t t; pthread_create(&t, 0, g, 0); pthread_mutex_lock(&lock); while (!ready) pthread_cond_wait(&v, &lock); n++; pthread_mutex_unlock(&lock); pthread_join(t, 0); `, []string{"(task 1000)", "(task 1001)"}},
	{"a flag that is waited for", `static void *g(void *a) { n = 5; atomic_store(&shared, 1); return 0; }`, `pthread_t t; pthread_create(&t, 0, g, 0); while (!atomic_load(&shared)); n++; pthread_join(t, 0); `, []string{" main order.c:", " g order.c:"}},
	{"a barrier", `static pthread_barrier_t b; THREADS(two[k] = 1; pthread_barrier_wait(&b); near[k] = two[!k])`, `pthread_barrier_init(&b, 0, 2); threads();`, []string{"pthread_barrier_wait"}},
	{"what is done once", `static pthread_once_t o; static void init(void) { n = 3; } THREADS(pthread_once(&o, init); two[k] = n)`, `threads();`, []string{"(task 1001)"}},
	{"two pipes that are polled", "", `int q[2]; pipe(p); pipe(q); int k = fork(); if (!k) { write(p[1], "out", 3); write(q[1], "err", 3); _exit(0); } close(p[1]); close(q[1]); char b[8]; struct pollfd l[2] = {{p[0], POLLIN}, {q[0], POLLIN}}; for (int left = 2; left;) { poll(l, 2, -1); for (int i = 0; i < 2; i++) if (l[i].fd >= 0 && l[i].revents && read(l[i].fd, b, 8) <= 0) l[i].fd = -1, left--; } waitpid(k, 0, 0);`, []string{"poll of a pipe"}},
	{"how much a pipe may hold", "", `pipe(p); CHILD { fcntl(p[0], F_SETPIPE_SZ, 1 << 18); _exit(0); } n = fcntl(p[0], F_GETPIPE_SZ); wait(0);`, []string{"fcntl of a descriptor by process 1000", "fcntl of a descriptor by process 1001"}},
}

// What is said of programs with several tasks.
func TestOrder(t *testing.T) {
	for _, x := range orders {
		x.test(t)
	}
}

// test compiles and runs the program.
func (x ordering) test(t *testing.T) {
	t.Run(strings.ReplaceAll(x.name, " ", "-"), func(t *testing.T) {
		src := filepath.Join(t.TempDir(), "order.c")
		text := orderHead + x.before + "\nint main(void) {\n\tif (read(0, &c, 1) != 1) return 9;\n\t" + x.main + "\n\treturn c == 'x';\n}\n"
		if err := os.WriteFile(src, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		bin := compile(t, src, "-g", "-O1", "-pthread", "-w")
		e := runIt(t, Options{Program: []string{bin}, StdinLen: 1, NoReplay: true})
		why := strings.Join(e.summary.WhyNotExhausted, "\n")
		if len(x.want) == 0 {
			if !e.summary.Exhausted {
				t.Errorf("not exhausted: %s", why)
			}
			return
		}
		if !strings.Contains(why, "one schedule of several: ") || len(e.summary.WhyNotExhausted) != 1 {
			t.Errorf("%q", e.summary.WhyNotExhausted)
		}
		for _, part := range x.want {
			if !strings.Contains(why, part) {
				t.Errorf("no %q in %s", part, why)
			}
		}
	})
}

// The same of tests in Python: processes that are waited for are in order, threads take the interpreter's lock in the order of one schedule.
func TestOrderPython(t *testing.T) {
	needPython(t)
	for name, x := range map[string]struct{ body, want string }{
		"fork":       {"    r, w = os.pipe()\n    if os.fork() == 0:\n        os.write(w, b'child'); os._exit(0)\n    got = os.read(r, 5); os.wait()\n", ""},
		"subprocess": {"    got = subprocess.run(['/bin/echo', 'x'], stdout=subprocess.PIPE).stdout\n", ""},
		"captured":   {"    got = subprocess.run(['/bin/echo', 'x'], capture_output=True).stdout\n", "poll of a pipe"}, // which of the two pipes has something first
		"system":     {"    os.system('true')\n", ""},
		"popen":      {"    p = os.popen('echo a'); p.read(); p.close()\n", ""},
		"metadata":   {"    f = open('order-py', 'w')\n    if os.fork() == 0:\n        os.write(f.fileno(), b'abc'); os._exit(0)\n    got = os.fstat(f.fileno()).st_size; os.wait()\n", "order-py"},
		"asked for":  {"    p = subprocess.Popen(['true'])\n    while p.poll() is None: pass\n", "wait for a child"},
		"two write":  {"    a, b = subprocess.Popen(['echo', 'a']), subprocess.Popen(['echo', 'b']); a.wait(); b.wait()\n", "write of standard output"},
		"output":     {"    if os.fork() == 0:\n        os.write(1, b'child'); os._exit(0)\n    os.write(1, b'parent'); os.wait()\n", "write of standard output by process 1001"},
		"threads":    {"    l = []\n    ts = [threading.Thread(target=l.append, args=(i,)) for i in range(2)]\n    for x in ts: x.start()\n    for x in ts: x.join()\n", "(task 1001)"},
	} {
		t.Run(name, func(t *testing.T) {
			file := filepath.Join(t.TempDir(), "test_order.py")
			text := "import os, subprocess, threading\nfrom symchef import Str\ndef test_order(s: Str(1)):\n" + x.body + "    assert s != 'x'\n"
			if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
				t.Fatal(err)
			}
			e := runIt(t, Options{Test: file, NoReplay: true})
			why := strings.Join(e.summary.WhyNotExhausted, "\n")
			if (x.want == "") != e.summary.Exhausted || !strings.Contains(why, x.want) || x.want != "" && !strings.Contains(why, "one schedule of several: ") {
				t.Errorf("exhausted: %v: %s", e.summary.Exhausted, why)
			}
		})
	}
}

// R's system blocks SIGCHLD, and nobody looks for it.
func TestOrderR(t *testing.T) {
	needR(t)
	file := filepath.Join(t.TempDir(), "test_order.R")
	text := "test_order <- function() {\n  s <- symchef$string(\"s\", 1L)\n  system(\"true\")\n  if (s == \"x\") stop(\"x\")\n}\n"
	if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	if e := runIt(t, Options{Interpreter: stockR, Test: file, NoReplay: true}); !e.summary.Exhausted {
		t.Errorf("%s", e.summary.WhyNotExhausted)
	}
}
