// Programs that mean harm, or have a disease: argv[1] says which. Run only inside the machine.
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static int is(char **argv, const char *s) { return !strcmp(argv[1], s); }

static volatile int depth;
__attribute__((noinline)) static int deep(int n) {
	volatile char frame[256];
	frame[n & 255] = n;
	depth = n;
	return deep(n + 1) + frame[n & 255];
}

static void *code(int prot) { return mmap(0, 4096, prot, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0); }

// write_all writes n blocks of 1 MiB and returns how many could be written.
static long write_all(int fd, long n) {
	static char block[1 << 20];
	memset(block, 'x', sizeof block);
	long i;
	for (i = 0; i < n; i++)
		for (size_t at = 0; at < sizeof block;) {
			ssize_t k = write(fd, block + at, sizeof block - at);
			if (k <= 0)
				return i;
			at += k;
		}
	return i;
}

int main(int argc, char **argv) {
	char *end = argc > 2 ? argv[2] : "0";
	long n = strtol(end, 0, 0);
	if (is(argv, "bomb")) // every process forks for ever
		for (;;)
			fork();
	if (is(argv, "forks")) { // as many children as there may be; then they are killed
		int k = 0, status, killed = 0;
		pid_t p;
		while ((p = fork()) > 0)
			k++;
		if (p == 0)
			for (;;)
				pause();
		int e = errno;
		signal(SIGTERM, SIG_IGN);
		kill(0, SIGTERM);
		kill(-1, SIGKILL);
		while ((p = wait(&status)) > 0)
			killed += WIFSIGNALED(status) != 0;
		printf("%d children, then %s; %d killed\n", k, strerrorname_np(e), killed);
		return 0;
	}
	if (is(argv, "zombies")) {
		int k = 0;
		pid_t p;
		while ((p = fork()) > 0)
			k++;
		if (p == 0)
			_exit(0);
		printf("%d zombies, then %s\n", k, strerrorname_np(errno));
		return 0;
	}
	if (is(argv, "memory")) // allocate and use for ever
		for (long k = 0;; k++) {
			char *p = malloc(1 << 20);
			if (!p)
				return 7;
			memset(p, 1, 1 << 20);
		}
	if (is(argv, "pages")) // the same without malloc, one byte of a page each
		for (;;) {
			char *p = mmap(0, 1 << 30, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
			if (p == MAP_FAILED)
				return 7;
			for (long i = 0; i < 1 << 30; i += 4096)
				p[i] = 1;
		}
	if (is(argv, "shared")) { // many processes, each with memory of its own
		for (int k = 0; k < 100; k++)
			if (fork() == 0) {
				volatile char *p = malloc(20 << 20);
				for (int i = 0; i < 20 << 20; i += 64)
					p[i] = k;
				for (;;)
					pause();
			}
		for (;;)
			pause();
	}
	if (is(argv, "zero")) { // one call reads much
		int fd = open("/dev/zero", O_RDONLY);
		for (;;)
			if (read(fd, mmap(0, 1 << 30, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0), 1 << 30) <= 0)
				return 7;
	}
	if (is(argv, "huge")) {
		void *p = mmap(0, 1ul << 47, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
		void *q = malloc(1ul << 62);
		printf("%s, %s\n", p == MAP_FAILED ? "refused" : "mapped", q ? "allocated" : "refused");
		return 0;
	}
	if (is(argv, "file")) { // n MiB to one file
		int fd = open("big", O_CREAT | O_WRONLY, 0644);
		long k = write_all(fd, n);
		printf("%s after some\n", k == n ? "no error" : strerrorname_np(errno));
		return k != n;
	}
	if (is(argv, "files")) { // n MiB to files of 16 MiB
		for (long k = 0; k < n; k += 16) {
			char name[32];
			sprintf(name, "big%ld", k);
			int fd = open(name, O_CREAT | O_WRONLY, 0644);
			if (fd < 0 || write_all(fd, 16) < 16) {
				printf("%s after some\n", strerrorname_np(errno));
				return 1;
			}
			close(fd);
		}
		return 0;
	}
	if (is(argv, "reuse")) { // n times a file of 16 MiB that is removed again
		for (; n > 0; n--) {
			int fd = open("tmp", O_CREAT | O_EXCL | O_WRONLY, 0644);
			if (fd < 0 || write_all(fd, 16) < 16)
				return 7;
			close(fd);
			if (unlink("tmp"))
				return 8;
		}
		return 0;
	}
	if (is(argv, "sparse")) { // the end of many large files
		for (int k = 0; k < 4000; k++) {
			char name[32];
			sprintf(name, "sparse%d", k);
			int fd = open(name, O_CREAT | O_WRONLY, 0644);
			if (fd < 0 || pwrite(fd, "x", 1, (1 << 30) - 1) != 1) {
				printf("%s after some\n", strerrorname_np(errno));
				return 1;
			}
			close(fd);
		}
		return 0;
	}
	if (is(argv, "holes")) { // n files of a gigabyte in which nothing was written
		for (int k = 0; k < n; k++) {
			char name[32];
			sprintf(name, "holes%d", k);
			if (ftruncate(open(name, O_CREAT | O_WRONLY, 0644), 1 << 30) != 0)
				return 1;
		}
		return 0;
	}
	if (is(argv, "shown")) { // a file of 64 MiB, mapped n times, with other content each time
		int fd = open("shown", O_CREAT | O_RDWR, 0644);
		char *full = memset(malloc(1 << 20), 5, 1 << 20);
		for (int k = 0; k < 64; k++)
			if (write(fd, full, 1 << 20) != 1 << 20)
				return 1;
		for (int k = 0; k < n; k++) {
			char *p = mmap(0, 64 << 20, PROT_READ, MAP_PRIVATE, fd, 0);
			if (p == MAP_FAILED || p[5 << 20] != 5 || pwrite(fd, "x", 1, k) != 1)
				return 1;
		}
		return 0;
	}
	if (is(argv, "output")) // n MiB to standard output
		return write_all(1, n) != n;
	if (is(argv, "recursion"))
		return deep(0);
	if (is(argv, "wild"))
		((void (*)(void))0xdeadbeef000)();
	if (is(argv, "noncanonical"))
		((void (*)(void))0xdeadbeef00000000)();
	if (is(argv, "data")) { // data is no code
		static unsigned char ret[] = {0xc3};
		((void (*)(void))ret)();
	}
	if (is(argv, "divide")) {
		volatile int zero = 0;
		return 100 / zero;
	}
	if (is(argv, "overflow")) {
		volatile int least = -2147483647 - 1, minus = -1;
		return least / minus;
	}
	if (is(argv, "illegal"))
		__asm__("ud2");
	if (is(argv, "privileged"))
		__asm__("cli");
	if (is(argv, "trap"))
		__asm__("int3");
	if (is(argv, "abort"))
		abort();
	if (is(argv, "selfmod")) { // code that is written and run, written and run
		unsigned char *p = code(PROT_READ | PROT_WRITE | PROT_EXEC);
		unsigned sum = 0;
		for (unsigned i = 0; i < 2000; i++) {
			unsigned char body[] = {0xb8, i, i >> 8, 0, 0, 0x05, 1, 0, 0, 0, 0xc3}; // mov $i, %eax; add $1, %eax; ret
			memcpy(p + i % 7, body, sizeof body);
			sum += ((unsigned (*)(void))(p + i % 7))();
		}
		// The next instruction is patched just before it runs.
		unsigned char patch[] = {
			0xc6, 0x05, 0x01, 0, 0, 0, 42, // movb $42, 1(%rip)
			0xb8, 7, 0, 0, 0, 0xc3         // mov $7, %eax; ret
		};
		memcpy(p, patch, sizeof patch);
		printf("%u %d\n", sum, ((int (*)(void))p)());
		return 0;
	}
	if (is(argv, "churn")) { // code that changes n times, with much code around it
		unsigned char *p = code(PROT_READ | PROT_WRITE | PROT_EXEC);
		char buf[64];
		unsigned sum = 0;
		for (long i = 0; i < n; i++) {
			unsigned char body[] = {0xb8, i, 0, 0, 0, 0xc3};
			memcpy(p, body, sizeof body);
			sprintf(buf, "%ld %g", i, i / 3.0);
			sum += ((unsigned (*)(void))p)();
		}
		printf("%u\n", sum);
		return 0;
	}
	if (is(argv, "jit")) { // written, protected, run, and again
		unsigned char *p = code(PROT_READ | PROT_WRITE);
		unsigned sum = 0;
		for (unsigned i = 0; i < 200; i++) {
			unsigned char body[] = {0xb8, i, 0, 0, 0, 0xc3};
			mprotect(p, 4096, PROT_READ | PROT_WRITE);
			memcpy(p, body, sizeof body);
			mprotect(p, 4096, PROT_READ | PROT_EXEC);
			sum += ((unsigned (*)(void))p)();
		}
		printf("%u\n", sum);
		fflush(stdout);
		p[0] = 0; // not writable now
	}
	if (is(argv, "sharedcode")) { // code that another process writes
		unsigned char *p = mmap(0, 8192, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0), *q = p + 4096;
		unsigned sum = 0;
		for (unsigned i = 0; i < 50; i++) {
			unsigned char body[] = {0xb8, i, 0, 0, 0, 0xc3};
			if (i == 5)
				mprotect(q, 4096, PROT_READ | PROT_WRITE | PROT_EXEC);
			if (i % 2) {
				int status;
				pid_t c = fork();
				if (c == 0) {
					memcpy(q, body, sizeof body);
					_exit(0);
				}
				waitpid(c, &status, 0);
			} else
				memcpy(q, body, sizeof body);
			if (i >= 5)
				sum += ((unsigned (*)(void))q)();
		}
		printf("%u\n", sum);
		return 0;
	}
	if (is(argv, "children")) { // how each child died
		int signals[] = {SIGKILL, SIGSEGV, SIGTERM, SIGFPE, SIGABRT};
		for (int k = 0; k < 5; k++) {
			int status;
			pid_t p = fork();
			if (p == 0) {
				if (signals[k] == SIGSEGV)
					*(volatile int *)8 = 1;
				if (signals[k] == SIGFPE)
					__asm__ volatile("xorl %%ecx, %%ecx; divl %%ecx" ::: "eax", "ecx", "edx");
				raise(signals[k]);
				_exit(1);
			}
			if (waitpid(p, &status, 0) != p || !WIFSIGNALED(status) || WTERMSIG(status) != signals[k])
				return 10 + k;
		}
		pid_t p = fork(); // killed from outside, while it runs
		int status;
		if (p == 0)
			for (;;)
				;
		usleep(1000);
		kill(p, SIGKILL);
		if (waitpid(p, &status, 0) != p || WTERMSIG(status) != SIGKILL)
			return 20;
		printf("all as expected\n");
		return 0;
	}
	if (is(argv, "host")) { // argv[2]: a process of the host, argv[3]: a file of the host
		printf("kill %d", kill(n, SIGKILL));
		kill(-1, SIGKILL);
		kill(getppid(), SIGKILL);
		int fd = open(argv[3], O_WRONLY | O_TRUNC);
		write(fd, "mine", 4);
		close(fd);
		chmod(argv[3], 0);
		rename(argv[3], "taken");
		unlink("taken");
		symlink("/etc/passwd", argv[3]);
		mkdir("made", 0755);
		fd = open("/dev/kmsg", O_WRONLY);
		write(fd, "x", 1);
		printf(", file %s\n", access(argv[3], F_OK) ? "gone" : "replaced");
		return 0;
	}
	return 99;
}
