// Tasks that do what the arguments say, for TestOrderOracle: MODE SCRIPT..., a script for each task. MODE t: threads, f: processes; T, F: that
// nobody waits for; h: processes, and a handler of SIGCHLD that changes memory.
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <poll.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <stdint.h>
#include <sys/eventfd.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

static volatile int v[4], *shared;
static volatile unsigned char bytes[8];
static pthread_mutex_t m[2] = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_MUTEX_INITIALIZER};
static int pipes[3][2];
static int events[2], sockets[2], words[2];
static unsigned result[8];
static volatile char *pages;
static pthread_t first;

static void handler(int s) { v[3] = 2 * v[3] + 1; }
static void *sub(void *p) { v[(long)p]++; return 0; }

static unsigned task(int me, const char *p) {
	unsigned acc = 1;
	char b[4], much[3000];
	uint64_t n;
	pthread_t t;
	pid_t pid;
	int st;
	for (int i = 0; p[0] && p[1]; p += 2, i++) {
		int k = p[1] - '0';
		switch (p[0]) {
		case 'w': v[k & 3] = 16 * me + i; break;
		case 'r': acc = acc * 31 + v[k & 3]; break;
		case 'b': bytes[k & 7] = 16 * me + i; break; // neighbours
		case 'c': acc = acc * 31 + bytes[k & 7]; break;
		case 's': shared[k & 3] = 16 * me + i; break;
		case 'z': acc = acc * 31 + shared[k & 3]; break;
		case 'a': __atomic_fetch_add(&v[k & 3], 1, __ATOMIC_SEQ_CST); break;
		case 'x': acc = acc * 31 + __atomic_fetch_add(&v[k & 3], 1, __ATOMIC_SEQ_CST); break;
		case 'l': pthread_mutex_lock(&m[k & 1]); v[k & 3]++; pthread_mutex_unlock(&m[k & 1]); break;
		case 't': if (!pthread_mutex_trylock(&m[k & 1])) { for (volatile int d = 0; d < 20; d++); pthread_mutex_unlock(&m[k & 1]); acc++; } break;
		case 'o': b[0] = 'A' + me; acc += write(1, b, 1); break;
		case 'p': b[0] = 'a' + i; b[1] = '.'; acc += write(pipes[k % 3][1], b, 2); break;
		case 'q': b[0] = 0; acc = acc * 31 + read(pipes[k % 3][0], b, 1) + b[0]; break;
		case 'Q': acc = acc * 31 + read(pipes[k % 3][0], b, 4); break;
		case 'f': { char n[] = "f0"; n[1] += k & 1; int f = open(n, O_CREAT | O_WRONLY | O_APPEND, 0644); b[0] = 'A' + me; write(f, b, 1); close(f); } break;
		case 'g': { char n[] = "f0"; n[1] += k & 1; int f = open(n, O_RDONLY); b[0] = 0; acc = acc * 31 + (f >= 0 ? read(f, b, 1) : 7) + b[0]; if (f >= 0) close(f); } break;
		case 'P': { struct pollfd f = {pipes[k % 3][0], POLLIN}; acc = acc * 31 + poll(&f, 1, 0) + f.revents; } break;
		case 'E': { struct pollfd f[2] = {{pipes[k % 3][0], POLLIN}, {pipes[(k + 1) % 3][0], POLLIN}}; acc = acc * 31 + poll(f, 2, -1) + f[0].revents; } break;
		case 'X': acc = acc * 31 + close(pipes[k % 3][1]); break;
		case 'C': acc = acc * 31 + close(pipes[k % 3][0]); break;
		case 'D': acc = acc * 31 + dup(1); break;
		case 'S': sem_post((sem_t *)shared + 8 + (k & 1)); break;
		case 'W': sem_wait((sem_t *)shared + 8 + (k & 1)); break;
		case 'h': { char n[] = "f0"; n[1] += k & 1; int f = open(n, O_RDONLY); acc = acc * 31 + flock(f, LOCK_EX | LOCK_NB); close(f); } break;
		case 'u': { char n[] = "f0"; n[1] += k & 1; acc = acc * 31 + unlink(n); } break;
		case 'y': { char b[9] = "0"; acc = acc * 31 + chdir("/"); } break;
		case 'B': acc = acc * 31 + write(pipes[k % 3][1], much, 3000); break;
		case 'R': acc = acc * 31 + read(pipes[k % 3][0], much, 2000); break;
		case 'H': { struct pollfd f = {pipes[k % 3][1], POLLOUT}; acc = acc * 31 + poll(&f, 1, 0) + f.revents; } break;
		case 'L': acc += fcntl(pipes[k % 3][0], F_SETFL, O_NONBLOCK); break;
		case 'e': n = 1 + k; acc += write(events[k & 1], &n, 8); break;
		case 'i': n = 0; acc = acc * 31 + read(events[k & 1], &n, 8) + n; break;
		case 'I': acc += write(sockets[k & 1], "ab", 2); break;
		case 'k': b[0] = 0; acc = acc * 31 + recv(sockets[k & 1], b, 1, k & 2 ? MSG_DONTWAIT : 0) + b[0]; break;
		case 'm': acc += munmap((void *)(pages + 4096 * (k & 3)), 4096); break;
		case 'M': acc += mprotect((void *)(pages + 4096 * (k & 3)), 4096, PROT_READ); break;
		case 'v': acc += madvise((void *)(pages + 4096 * (k & 3)), 4096, MADV_DONTNEED); break;
		case 'j': acc = acc * 31 + pages[4096 * (k & 3)]; break;
		case 'J': pages[4096 * (k & 3)] = i + 1; break;
		case 'A': acc = acc * 31 + sem_trywait((sem_t *)shared + 8 + (k & 1)); break;
		case 'F': acc = acc * 31 + syscall(SYS_futex, &words[k & 1], FUTEX_WAKE, 1, 0, 0, 0); break;
		case 'G': syscall(SYS_futex, &words[k & 1], FUTEX_WAIT, 0, 0, 0, 0); break;
		case 'n': if (!(pid = fork())) _exit(k); acc = acc * 31 + (waitpid(pid, &st, WNOHANG) != 0); waitpid(pid, &st, 0); break;
		case 'N': if (!(pid = fork())) _exit(v[k & 3]); waitpid(pid, &st, 0); acc = acc * 31 + st; break;
		case 'T': pthread_create(&t, 0, sub, (void *)(long)(k & 3)); if (pthread_tryjoin_np(t, 0)) pthread_join(t, 0), acc++; break;
		case 'U': pthread_create(&t, 0, sub, (void *)(long)(k & 3)); pthread_join(t, 0); break;
		case 'K': kill(getppid(), SIGUSR1); break; // of threads nobody's
		case 'V': acc = acc * 31 + (k & 1 ? rmdir("d0") : mkdir("d0", 0755)); break;
		case 'Y': { struct stat s; stat(k & 1 ? "d0" : ".", &s); acc = acc * 31 + s.st_nlink; } break;
		case 'O': acc = acc * 31 + (k & 1 ? link("f0", "f1") : rename("f0", "f1")); break;
		case 'Z': _exit(k);
		case 'd': for (volatile int d = 0; d < 10 * (k + 1); d++); break;
		}
	}
	return acc;
}

static char **scripts;
static void *thread(void *p) { long k = (long)p; result[k] = task(k, scripts[k]); return 0; }

int main(int argc, char **argv) {
	int n = argc - 2, threads = (argv[1][0] | 32) == 't', wait = argv[1][0] > 'Z';
	scripts = argv + 2;
	shared = mmap(0, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	pages = mmap(0, 4 * 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	events[0] = eventfd(0, 0);
	events[1] = eventfd(0, EFD_SEMAPHORE);
	socketpair(AF_UNIX, SOCK_STREAM, 0, sockets);
	signal(SIGPIPE, SIG_IGN);
	signal(SIGUSR1, handler);
	if (argv[1][0] == 'h')
		signal(SIGCHLD, handler);
	for (int i = 0; i < 2; i++)
		sem_init((sem_t *)shared + 8 + i, 1, 0);
	for (int i = 0; i < 3; i++)
		pipe(pipes[i]), fcntl(pipes[i][1], F_SETPIPE_SZ, 4096);
	fcntl(pipes[2][1], F_SETFL, O_NONBLOCK);
	pthread_t t[8];
	pid_t pid[8];
	for (long i = 0; i < n; i++) {
		if (threads)
			pthread_create(&t[i], 0, thread, (void *)i);
		else if ((pid[i] = fork()) == 0)
			_exit(task(i, scripts[i]) & 0x7f);
	}
	for (volatile int i = 0; !wait && i < 3000; i++)
		;
	for (int i = 0; wait && i < n; i++) {
		if (threads) {
			pthread_join(t[i], 0);
		} else {
			int st = 0;
			waitpid(pid[i], &st, 0);
			result[i] = st;
		}
	}
	char out[400];
	int k = 0;
	for (int i = 0; i < n; i++)
		k += sprintf(out + k, "%u ", result[i]);
	for (int i = 0; i < 4; i++)
		k += sprintf(out + k, "%d %d ", v[i], shared[i]);
	for (int i = 0; i < 2; i++) {
		char name[] = "f0", b[40];
		name[1] += i;
		int f = open(name, O_RDONLY), c = f < 0 ? 0 : read(f, b, 40);
		k += sprintf(out + k, "%d %.*s ", c, c, b);
	}
	write(1, out, k);
	return 0;
}
