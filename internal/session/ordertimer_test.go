package session

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// timerHead is what all programs of timers begin with.
const timerHead = `#include <string.h>
#include <sys/resource.h>
#include <sys/select.h>
#include <sys/time.h>
#include <sys/un.h>
#include <time.h>
#define US(us) struct itimerval v = {{0, 0}, {(us) / 1000000, (us) % 1000000}}; setitimer(ITIMER_REAL, &v, 0)
#define BLOCK sigset_t set, old; sigemptyset(&set); sigaddset(&set, SIGALRM); sigprocmask(SIG_BLOCK, &set, &old)
#define WORK(n) for (volatile int i = 0; i < n; i++)
static timer_t made(int s) { timer_t t; struct sigevent e = {.sigev_signo = s}; timer_create(CLOCK_MONOTONIC, &e, &t); return t; }
static void arm(timer_t t, int us) { struct itimerspec v = {{0, 0}, {0, us * 1000}}; timer_settime(t, 0, &v, 0); }
static void said(union sigval v) { n = 1; }
static void another(int s) { n = n * 10 + s; }
`

// timers are programs in which a timer may come earlier or later.
var timers = []ordering{
	// In order.
	{"a timer that is blocked and suspended for", "", `signal(SIGALRM, handler); BLOCK; US(900); sigsuspend(&old);`, nil},
	{"a timer that is blocked, comes and is suspended for", "", `signal(SIGALRM, handler); BLOCK; US(900); WORK(500000); sigsuspend(&old);`, nil},
	{"a timer that is blocked and waited for", "", `BLOCK; US(900); int s; sigwait(&set, &s); n = s;`, nil},
	{"a timer that is blocked and waited for by ppoll", "", `signal(SIGALRM, handler); BLOCK; US(900); ppoll(0, 0, 0, &old);`, nil},
	{"a timer that comes again and again, each waited for", "", `signal(SIGALRM, handler); BLOCK; struct itimerval v = {{0, 900}, {0, 900}}; setitimer(0, &v, 0); for (int i = 0; i < 3; i++) sigsuspend(&old);`, nil},
	{"a timer that is blocked, gets a handler and is suspended for", "", `BLOCK; US(900); signal(SIGALRM, handler); sigsuspend(&old);`, nil},
	{"a timer of timer_create that is waited for", "", `BLOCK; arm(made(SIGALRM), 900); int s; sigwait(&set, &s);`, nil},
	{"a timer that is ignored", "", `signal(SIGALRM, SIG_IGN); US(900); WORK(500000) if (i == 4) write(1, "x", 1);`, nil},
	{"a timer that is blocked and never looked at", "", `BLOCK; alarm(1); WORK(1000); alarm(0); write(1, "x", 1);`, nil},
	{"a timer that ends a process that waits", "", `alarm(1); for (;;) pause();`, nil},
	{"a timer that ends a process that computes", "", `US(900); for (;;) n++;`, nil},
	{"a timer that ends a child that waits", "", `CHILD { alarm(1); for (;;) pause(); } wait(&n);`, nil},
	{"a timer of no signal", "", `timer_t t; struct sigevent e = {.sigev_notify = SIGEV_NONE}; timer_create(CLOCK_MONOTONIC, &e, &t); arm(t, 900); WORK(500000);`, nil},
	{"sleeps", "", `usleep(1000); struct timespec d = {0, 1000}; nanosleep(&d, 0); poll(0, 0, 4); sleep(1);`, nil},
	{"a timer that is set and not made", "", `alarm(0); struct itimerval v = {{0, 0}, {0, 0}}; setitimer(0, &v, 0);`, nil},
	{"a reader that waits as long as it takes", "", `socketpair(AF_UNIX, SOCK_STREAM, 0, p); CHILD { usleep(2000); write(p[1], "x", 1); _exit(0); } n = read(p[0], near, 1); wait(0);`, nil},
	{"a limit of processor time that there is not", "", `struct rlimit l; getrlimit(RLIMIT_CPU, &l); setrlimit(RLIMIT_CPU, &l);`, nil},
	// Not in order.
	{"a time-out that comes before the timer", "", `signal(SIGALRM, handler); US(5000); n = poll(0, 0, 4);`, []string{"a timer's SIGALRM, set to 5ms", "what process 1000 does when it comes"}},
	{"a timer that is paused for", "", `signal(SIGALRM, handler); US(900); pause();`, []string{"a timer's SIGALRM, set to 900µs", "what process 1000 does when it comes"}},
	{"two timers", "", `signal(SIGALRM, another); signal(SIGUSR1, another); arm(made(SIGUSR1), 1000); US(1050); pause(); pause();`, []string{"a timer's SIGUSR1"}},
	{"two timers that are blocked", "", `signal(SIGALRM, another); signal(SIGUSR1, another); BLOCK; sigaddset(&set, SIGUSR1); sigprocmask(SIG_BLOCK, &set, 0); arm(made(SIGUSR1), 1000); US(1050); sigsuspend(&old); sigsuspend(&old);`, []string{"a wait of process 1000 for it and for something else"}},
	{"a timer that has not come by the end of a loop", "", `signal(SIGALRM, handler); US(200000); WORK(3000); near[0] = n;`, []string{"a timer's SIGALRM"}},
	{"a timer that comes or not in a loop of calls", "", `signal(SIGALRM, handler); US(2000); for (int i = 0; i < 3000; i++) getppid(); near[0] = n;`, []string{"a timer's SIGALRM"}},
	{"a timer that would have ended the process", "", `alarm(1); WORK(3000);`, []string{"a timer's SIGALRM, set to 1s", "exit_group by process 1000"}},
	{"a timer that would have ended the process, taken away", "", `alarm(60); WORK(3000); alarm(0);`, []string{"a timer's SIGALRM, set to 1m0s", "alarm by process 1000"}},
	{"a timer that ends a process that has written", "", `US(900); write(1, "x", 1); for (;;) pause();`, []string{"a timer's SIGALRM", "write by process 1000"}},
	{"a timer that would have ended a process that a fault ends", "", `US(900000); *(volatile int *)0 = 0;`, []string{"a timer's SIGALRM", "the end of process 1000"}},
	{"a timer of processor time", "", `struct itimerval v = {{0, 0}, {0, 500}}; signal(SIGPROF, handler); setitimer(ITIMER_PROF, &v, 0); WORK(3000); near[0] = n;`, []string{"a timer's SIGPROF"}},
	{"a limit of processor time", "", `struct rlimit l = {1, 2}; setrlimit(RLIMIT_CPU, &l); WORK(3000);`, []string{"a limit of processor time of 1 s"}},
	{"a timer that is pending or not", "", `BLOCK; US(900); WORK(500000); sigpending(&set); n = sigismember(&set, SIGALRM);`, []string{"a timer's SIGALRM", "rt_sigpending"}},
	{"a timer that is not pending yet", "", `BLOCK; US(900000); sigpending(&set); n = sigismember(&set, SIGALRM);`, []string{"a timer's SIGALRM", "rt_sigpending"}},
	{"a timer that has been taken away in time or not", "", `BLOCK; US(900000); alarm(0); sigpending(&set); n = sigismember(&set, SIGALRM);`, []string{"the SIGALRM of a timer, that has come by then or not", "rt_sigpending"}},
	{"a timer that is blocked for a while", "", `signal(SIGALRM, handler); BLOCK; US(900000); WORK(1000); sigprocmask(SIG_SETMASK, &old, 0);`, []string{"a timer's SIGALRM", "what process 1000 does when it comes"}},
	{"a timer that is ignored for a while", "", `signal(SIGALRM, SIG_IGN); US(900); WORK(500000); signal(SIGALRM, handler);`, []string{"a timer's SIGALRM"}},
	{"a timer that is blocked and waited for, but not long", "", `struct timespec d = {0, 2000000}; BLOCK; US(900); n = sigtimedwait(&set, 0, &d);`, []string{"a timer's SIGALRM", "rt_sigtimedwait"}},
	{"a timer that is blocked and not waited for", "", `struct timespec d = {0, 0}; BLOCK; US(900); n = sigtimedwait(&set, 0, &d);`, []string{"a timer's SIGALRM", "rt_sigtimedwait"}},
	{"a wait with another mask and a time-out", "", `struct timespec d = {0, 2000000}; signal(SIGALRM, handler); BLOCK; US(900); n = ppoll(0, 0, &d, &old);`, []string{"a timer's SIGALRM"}},
	{"a wait with another mask that ends before the timer", "", `struct timespec d = {0, 2000000}; signal(SIGALRM, handler); BLOCK; US(90000); n = ppoll(0, 0, &d, &old);`, []string{"a timer's SIGALRM", "a wait with another mask"}},
	{"a wait with another mask for a timer and a child", "", `pipe(p); signal(SIGALRM, handler); BLOCK; CHILD { usleep(2000); write(p[1], "x", 1); _exit(0); } US(900); fd_set r; FD_ZERO(&r); FD_SET(p[0], &r); n = pselect(p[0] + 1, &r, 0, 0, 0, &old); wait(0);`, []string{"a timer's SIGALRM"}},
	{"ualarm and nanosleep", "", `struct timespec d = {0, 2000000}; signal(SIGALRM, handler); ualarm(900, 0); n = nanosleep(&d, 0);`, []string{"a timer's SIGALRM, set to 900µs"}},
	{"a timer's thread", "", `timer_t t; struct sigevent e = {.sigev_notify = SIGEV_THREAD, .sigev_notify_function = said}; timer_create(CLOCK_MONOTONIC, &e, &t); arm(t, 900000); near[0] = n;`, []string{"one schedule of several"}},
	{"a timer of a program that is executed", "", `alarm(1); execl("/bin/true", "true", (char *)0);`, []string{"a timer's SIGALRM"}},
	{"a timer that has a handler set too late", "", `alarm(1); signal(SIGALRM, handler); pause();`, []string{"a timer's SIGALRM", "rt_sigaction"}},
	{"a reader that waits for a time, data first", "", `struct timeval d = {0, 3000}; socketpair(AF_UNIX, SOCK_STREAM, 0, p); setsockopt(p[0], SOL_SOCKET, SO_RCVTIMEO, &d, sizeof d);
		CHILD { usleep(2000); write(p[1], "x", 1); _exit(0); } n = read(p[0], near, 1); wait(0);`, []string{"read of a socket", "write of a socket"}},
	{"a reader that waits for a time, its end first", "", `struct timeval d = {0, 1000}; socketpair(AF_UNIX, SOCK_STREAM, 0, p); setsockopt(p[0], SOL_SOCKET, SO_RCVTIMEO, &d, sizeof d);
		CHILD { usleep(2000); write(p[1], "x", 1); _exit(0); } n = read(p[0], near, 1); wait(0);`, []string{"read of a socket", "write of a socket"}},
	{"a connection that is waited for for a time", "", `struct timeval d = {0, 3000}; struct sockaddr_un a = {AF_UNIX, "\0order-t"}; int l = socket(AF_UNIX, SOCK_STREAM, 0); bind(l, (void *)&a, 10); listen(l, 5);
		setsockopt(l, SOL_SOCKET, SO_RCVTIMEO, &d, sizeof d); CHILD { usleep(2000); connect(socket(AF_UNIX, SOCK_STREAM, 0), (void *)&a, 10); _exit(0); } n = accept(l, 0, 0); wait(0);`, []string{"accept of a socket", "connect of a socket"}},
}

// What is said of programs with timers.
func TestOrderTimers(t *testing.T) {
	for _, x := range timers {
		x.before = timerHead + x.before
		x.test(t)
	}
}

// A handler in Python runs between any two instructions.
func TestOrderTimersPython(t *testing.T) {
	needPython(t)
	for name, x := range map[string]struct{ body, want string }{
		"handled": {"    signal.signal(signal.SIGALRM, lambda *a: None)\n    signal.setitimer(signal.ITIMER_REAL, 0.004)\n    sum(range(20000))\n", "a timer's SIGALRM, set to 4ms"},
		"waited":  {"    signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGALRM})\n    signal.setitimer(signal.ITIMER_REAL, 0.004)\n    signal.sigwait({signal.SIGALRM})\n", ""},
	} {
		t.Run(name, func(t *testing.T) {
			file := filepath.Join(t.TempDir(), "test_timer.py")
			text := "import signal\nfrom symchef import Str\ndef test_timer(s: Str(1)):\n" + x.body + "    assert s != 'x'\n"
			if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
				t.Fatal(err)
			}
			e := runIt(t, Options{Test: file, NoReplay: true})
			why := strings.Join(e.summary.WhyNotExhausted, "\n")
			if (x.want == "") != e.summary.Exhausted || !strings.Contains(why, x.want) {
				t.Errorf("exhausted: %v: %s", e.summary.Exhausted, why)
			}
		})
	}
}
