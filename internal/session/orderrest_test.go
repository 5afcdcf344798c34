package session

import "testing"

// restHead is what all programs of TestOrderRests begin with.
const restHead = `#include <sys/epoll.h>
#include <sys/select.h>
static int k, q[2];
static struct epoll_event v = {EPOLLIN};
static siginfo_t info;
static sigset_t set, old;
static int watch(int f) { int e = epoll_create1(0); epoll_ctl(e, EPOLL_CTL_ADD, f, &v); return e; }
static void block(int s) { sigemptyset(&set); sigaddset(&set, s); sigprocmask(SIG_BLOCK, &set, &old); }
#define FORK k = fork(); if (!k)
`

// rests are programs whose processes wait for one thing, or send signals to one that does nothing.
var rests = []ordering{
	// In order.
	{"epoll of a pipe that is written once", "", `pipe(p); int e = watch(p[0]); FORK { write(p[1], "x", 1); _exit(0); } n = epoll_wait(e, &v, 1, -1); read(p[0], near, 1); waitpid(k, 0, 0);`, nil},
	{"ppoll of a pipe that is written once", "", `pipe(p); struct pollfd l = {p[0], POLLIN}; FORK { write(p[1], "x", 1); _exit(0); } n = ppoll(&l, 1, 0, 0); read(p[0], near, 1); waitpid(k, 0, 0);`, nil},
	{"select of a pipe that is written once", "", `pipe(p); fd_set r; FD_ZERO(&r); FD_SET(p[0], &r); FORK { write(p[1], "x", 1); _exit(0); } n = select(p[0] + 1, &r, 0, 0, 0); read(p[0], near, 1); waitpid(k, 0, 0);`, nil},
	{"poll of a pipe of which one keeps both ends", "", `pipe(p); struct pollfd l = {p[0], POLLIN}; FORK { write(p[1], "x", 1); _exit(0); } poll(&l, 1, -1); n = l.revents; read(p[0], near, 1); waitpid(k, 0, 0);`, nil},
	{"poll of an end", "", `pipe(p); struct pollfd l = {p[0], POLLIN}; FORK { _exit(0); } close(p[1]); poll(&l, 1, -1); n = l.revents; waitpid(k, 0, 0);`, nil},
	{"SIGKILL of a child that pauses after it has said so", "", `pipe(p); FORK { write(p[1], "x", 1); for (;;) pause(); } read(p[0], near, 1); kill(k, SIGKILL); waitpid(k, &n, 0);`, nil},
	{"SIGTERM of a child that pauses after it has said so", "", `pipe(p); FORK { write(p[1], "x", 1); for (;;) pause(); } read(p[0], near, 1); kill(k, SIGTERM); waitpid(k, &n, 0);`, nil},
	{"a child that stops and is continued", "", `FORK { raise(SIGSTOP); _exit(3); } waitpid(k, &n, WUNTRACED); kill(k, SIGCONT); waitpid(k, &n, 0);`, nil},
	{"a child that stops twice and is continued", "", `FORK { raise(SIGSTOP); write(1, "a", 1); raise(SIGSTOP); _exit(3); } for (int i = 0; i < 2; i++) { waitpid(k, &n, WUNTRACED); write(1, "b", 1); kill(k, SIGCONT); } waitpid(k, &n, 0);`, nil},
	{"a child that stops and is killed", "", `FORK { raise(SIGSTOP); _exit(3); } waitpid(k, &n, WUNTRACED); kill(k, SIGKILL); waitpid(k, &n, 0);`, nil},
	{"a child that is killed has closed a pipe", "", `pipe(p); FORK { raise(SIGSTOP); _exit(3); } close(p[1]); waitpid(k, &n, WUNTRACED); kill(k, SIGKILL); n = read(p[0], near, 1); waitpid(k, 0, 0);`, nil},
	{"SIGCHLD that is waited for", "", `block(SIGCHLD); FORK _exit(3); sigwaitinfo(&set, &info); n = info.si_status; waitpid(k, 0, 0);`, nil},
	{"SIGCHLD of one child after the other", "", `block(SIGCHLD); for (int i = 0; i < 2; i++) { FORK _exit(3); sigwaitinfo(&set, &info); waitpid(k, &n, 0); }`, nil},
	{"SIGCHLD that is waited for with a program", "", `block(SIGCHLD); FORK { execl("/bin/true", "true", (char *)0); _exit(1); } int s; sigwait(&set, &s); waitpid(k, &n, 0);`, nil},
	{"three threads with memory of their own", `static void *g(void *a) { for (int i = 0; i < 3; i++) { char *m = malloc(100 + i); m[0] = i; free(m); } return 0; }`, `pthread_t t[3]; for (int i = 0; i < 3; i++) pthread_create(&t[i], 0, g, 0); for (int i = 0; i < 3; i++) pthread_join(t[i], 0);`, nil},
	// Not in order.
	{"epoll of a pipe that is written twice, all read", "", `pipe(p); int e = watch(p[0]); FORK { write(p[1], "x", 1); write(p[1], "y", 1); _exit(0); } epoll_wait(e, &v, 1, -1); n = read(p[0], near, 2); waitpid(k, 0, 0);`, []string{"write of a pipe", "read of a pipe"}},
	{"epoll of two pipes", "", `pipe(p); pipe(q); int e = watch(p[0]); epoll_ctl(e, EPOLL_CTL_ADD, q[0], &v); FORK { write(p[1], "x", 1); write(q[1], "y", 1); _exit(0); } n = epoll_wait(e, &v, 2, -1); waitpid(k, 0, 0);`, []string{"write of a pipe", "epoll_wait of a pipe"}},
	{"epoll of a pipe for a time", "", `pipe(p); int e = watch(p[0]); FORK { write(p[1], "x", 1); _exit(0); } n = epoll_wait(e, &v, 1, 9); waitpid(k, 0, 0);`, []string{"write of a pipe", "epoll_wait of a pipe"}},
	{"epoll of a pipe and its end", "", `pipe(p); int e = watch(p[0]); FORK { write(p[1], "x", 1); _exit(0); } close(p[1]); epoll_wait(e, &v, 1, -1); n = v.events; waitpid(k, 0, 0);`, []string{"close of a pipe", "epoll_wait of a pipe"}},
	{"epoll of a pipe that tells of edges", "", `pipe(p); v.events |= EPOLLET; int e = watch(p[0]); FORK { write(p[1], "x", 1); write(p[1], "y", 1); _exit(0); } epoll_wait(e, &v, 1, -1); n = epoll_wait(e, &v, 1, 0); waitpid(k, 0, 0);`, []string{"write of a pipe", "epoll_wait of a pipe"}},
	{"poll of a socket that can be written", "", `socketpair(AF_UNIX, SOCK_STREAM, 0, p); struct pollfd l = {p[0], POLLIN | POLLOUT}; FORK { write(p[1], "x", 1); _exit(0); } poll(&l, 1, -1); n = l.revents; waitpid(k, 0, 0);`, []string{"write of a socket", "poll of a socket"}},
	{"poll of a socket that can be written and may be closed", "", `socketpair(AF_UNIX, SOCK_STREAM, 0, p); struct pollfd l = {p[0], POLLOUT}; FORK { close(p[0]); close(p[1]); _exit(0); } close(p[1]); poll(&l, 1, -1); n = l.revents; waitpid(k, 0, 0);`, []string{"close of a socket", "poll of a socket"}},
	{"a poll of a pipe that another reads", "", `pipe(p); write(p[1], "x", 1); struct pollfd l = {p[0], POLLIN}; FORK { read(p[0], near, 1); _exit(0); } n = poll(&l, 1, -1); write(p[1], "x", 1); waitpid(k, 0, 0);`, []string{"read of a pipe", "poll of a pipe"}},
	{"SIGKILL of a child that pauses and has not said so", "", `FORK { write(1, "x", 1); for (;;) pause(); } usleep(1000); kill(k, SIGKILL); waitpid(k, &n, 0);`, []string{"SIGKILL from process 1000", "what process 1001 does then"}},
	{"SIGKILL of a child that does something after it has said so", "", `pipe(p); FORK { write(p[1], "x", 1); write(1, "x", 1); for (;;) pause(); } read(p[0], near, 1); usleep(1000); kill(k, SIGKILL); waitpid(k, &n, 0);`, []string{"SIGKILL from process 1000", "what process 1001 does then"}},
	{"SIGKILL of a child that sleeps", "", `pipe(p); FORK { write(p[1], "x", 1); sleep(1); write(1, "x", 1); _exit(0); } read(p[0], near, 1); kill(k, SIGKILL); waitpid(k, &n, 0);`, []string{"SIGKILL from process 1000", "what process 1001 does then"}},
	{"a signal with a handler of a child that pauses", "", `signal(SIGUSR1, handler); pipe(p); FORK { write(p[1], "x", 1); pause(); _exit(n); } read(p[0], near, 1); usleep(1000); kill(k, SIGUSR1); waitpid(k, &n, 0);`, []string{"SIGUSR1 from process 1000", "what process 1001 does then"}},
	{"SIGCONT of a child that may not have stopped", "", `FORK { raise(SIGSTOP); _exit(3); } usleep(1000); kill(k, SIGCONT); waitpid(k, &n, 0);`, []string{"SIGCONT from process 1000", "what process 1001 does then"}},
	{"a child that is asked whether it has stopped", "", `FORK { raise(SIGSTOP); _exit(3); } usleep(1000); n = waitpid(k, 0, WUNTRACED | WNOHANG); waitpid(k, 0, WUNTRACED); kill(k, SIGCONT); waitpid(k, 0, 0);`, []string{"the end of process 1001", "wait for a child"}},
	{"a child that is continued and waited for", "", `FORK { raise(SIGSTOP); _exit(3); } waitpid(k, 0, WUNTRACED); kill(k, SIGCONT); waitpid(k, &n, WCONTINUED); waitpid(k, 0, 0);`, []string{"wait for a child", "process 1001"}},
	{"a child that stops and one that ends", "", `FORK { raise(SIGSTOP); _exit(3); } int j = k; FORK { setpgid(0, 0); _exit(2); } usleep(1000); n = waitpid(-1, 0, WUNTRACED); kill(j, SIGKILL); while (wait(0) > 0);`, []string{"wait for a child", "the end of process"}},
	{"a child that one stops and another waits for", "", `FORK { for (;;) pause(); } kill(k, SIGSTOP); waitpid(k, &n, WUNTRACED); kill(k, SIGKILL); waitpid(k, 0, 0);`, []string{"SIGSTOP from process 1000", "what process 1001 does then"}},
	{"SIGCHLD that is blocked too late", "", `FORK _exit(3); block(SIGCHLD); struct timespec d = {1, 0}; n = sigtimedwait(&set, &info, &d); waitpid(k, 0, 0);`, []string{"SIGCHLD"}},
	{"SIGCHLD that is waited for, blocked too late", "", `pipe(p); FORK { read(p[0], near, 1); _exit(3); } usleep(1); block(SIGCHLD); write(p[1], "x", 1); sigwaitinfo(&set, &info); waitpid(k, 0, 0);`, nil},
	{"SIGCHLD of one of two", "", `block(SIGCHLD); int j = k; FORK _exit(3); FORK _exit(4); sigwaitinfo(&set, &info); n = info.si_status; waitpid(k, 0, 0); wait(0);`, []string{"rt_sigtimedwait of SIGCHLD"}},
	{"SIGCHLD of a child that stops first", "", `block(SIGCHLD); FORK { raise(SIGSTOP); _exit(3); } waitpid(k, 0, WUNTRACED); kill(k, SIGCONT); sigwaitinfo(&set, &info); n = info.si_status; waitpid(k, 0, 0);`, []string{"SIGCHLD"}},
	{"SIGCHLD that is waited for for a time", "", `struct timespec d = {1, 0}; block(SIGCHLD); FORK _exit(3); n = sigtimedwait(&set, &info, &d); waitpid(k, 0, 0);`, []string{"rt_sigtimedwait of SIGCHLD", "SIGCHLD from process 1001"}},
}

// What is said of programs whose processes wait for one thing, or send signals to one that does nothing.
func TestOrderRests(t *testing.T) {
	for _, x := range rests {
		x.before = restHead + x.before
		x.test(t)
	}
}
