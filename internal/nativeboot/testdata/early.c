// Programs that a native boot leaves early, by name.
#define _GNU_SOURCE
#include <fcntl.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

static sigjmp_buf back;
static volatile int rang;

static void segv(int sig) { siglongjmp(back, sig); }
static void bell(int sig) { rang = sig; }

static void *thread(void *arg) {
	*(int *)arg += 1;
	return NULL;
}

// Code that a compiler knows nothing of: no unwind table tells where it begins. Its page is walked through.
__asm__(".pushsection .text\n.balign 4096\nhidden: xor %ecx, %ecx\nmov $1, %eax\npush %rbx\ncpuid\nmov %edx, %eax\npop %rbx\nret\n.balign 4096\n.popsection");
extern unsigned hidden(void);

int main(int argc, char **argv) {
	char *what = argv[1];
	int n = 41;
	if (!strcmp(what, "thread")) {
		pthread_t t;
		pthread_create(&t, NULL, thread, &n);
		pthread_join(t, NULL);
	} else if (!strcmp(what, "child")) {
		if (fork() == 0) _exit(17);
		wait(&n);
	} else if (!strcmp(what, "fault")) {
		signal(SIGSEGV, segv);
		if ((n = sigsetjmp(back, 1)) == 0) *(volatile int *)8 = 1;
	} else if (!strcmp(what, "divide")) {
		signal(SIGFPE, segv);
		if ((n = sigsetjmp(back, 1)) == 0) {
			__asm__ volatile("div %0" : : "r"((long)(argc - 3)) : "rax", "rdx");
		}
	} else if (!strcmp(what, "timer")) {
		signal(SIGALRM, bell);
		alarm(1);
		while (!rang) pause();
		n = rang;
	} else if (!strcmp(what, "raise")) {
		signal(SIGUSR1, bell);
		raise(SIGUSR1);
		n = rang;
	} else if (!strcmp(what, "generated")) {
		char *code = mmap(0, 4096, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
		memcpy(code, "\xb8\x07\0\0\0\xc3", 6);
		n = ((int (*)(void))code)();
	} else if (!strcmp(what, "protected")) { // code that is written, then executed
		char *code = mmap(0, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
		memcpy(code, "\xb8\x08\0\0\0\xc3", 6);
		mprotect(code, 4096, PROT_READ | PROT_EXEC);
		n = ((int (*)(void))code)();
		mprotect(code, 4096, PROT_READ | PROT_WRITE);
		memcpy(code, "\xb8\x09\0\0\0\xc3", 6);
		mprotect(code, 4096, PROT_READ | PROT_EXEC);
		n += ((int (*)(void))code)();
	} else if (!strcmp(what, "written")) { // the same, with an instruction that depends on the processor
		char *code = mmap(0, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
		memcpy(code, "\x53\x31\xc9\xb8\x01\0\0\0\x0f\xa2\x89\xd0\x5b\xc3", 14);
		mprotect(code, 4096, PROT_READ | PROT_EXEC);
		n = ((int (*)(void))code)();
	} else if (!strcmp(what, "hidden")) {
		n = hidden();
	} else if (!strcmp(what, "behind") || !strcmp(what, "shrunk")) { // a page of a file that is not there
		int f = open("/dev/shm/x", O_RDWR | O_CREAT, 0600);
		ftruncate(f, *what == 's' ? 8192 : 4096);
		char *p = mmap(0, 8192, PROT_READ | PROT_WRITE, MAP_SHARED, f, 0);
		ftruncate(f, 4096);
		signal(SIGBUS, segv);
		p[1] = 5;
		if ((n = sigsetjmp(back, 1)) == 0) p[4096] = 1;
		n += p[1];
	} else if (!strcmp(what, "wait")) {
		int p[2];
		struct timeval tv = {0, 1000};
		pipe(p);
		n = select(0, NULL, NULL, NULL, &tv);
	} else if (!strcmp(what, "breakpoint")) {
		signal(SIGTRAP, segv);
		if ((n = sigsetjmp(back, 1)) == 0) __asm__ volatile("int3");
	} else if (!strcmp(what, "int3")) { // by its long form
		signal(SIGTRAP, segv);
		if ((n = sigsetjmp(back, 1)) == 0) __asm__ volatile(".byte 0xcd, 3");
	} else if (!strcmp(what, "huge")) { // a reservation
		n = mmap(0, 1L << 42, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0) != MAP_FAILED;
	} else if (!strcmp(what, "int80")) {
		signal(SIGSEGV, segv);
		if ((n = sigsetjmp(back, 1)) == 0) __asm__ volatile("int $0x80" : : "a"(20));
	} else if (!strcmp(what, "vsyscall")) { // time(2); Linux answers it without a system call
		signal(SIGSEGV, segv);
		if ((n = sigsetjmp(back, 1)) == 0) n = ((long (*)(long *))0xffffffffff600400)(NULL);
	} else if (!strcmp(what, "gate")) { // where only the host's process has something
		signal(SIGSEGV, segv);
		if ((n = sigsetjmp(back, 1)) == 0) ((int (*)(void))strtoul(argv[2], NULL, 0))();
	} else if (!strcmp(what, "memory")) {
		char *p = malloc(600 << 20);
		p[12345678] = 5;
		n = p[12345678];
	} else if (!strcmp(what, "loop")) {
		for (n = 0; argc > 1 && access("/dev/null", 0) == 0 && n < atoi(argv[2]); n++);
	} else if (!strcmp(what, "exec")) {
		execl("/proc/self/exe", "again", "protected", NULL);
	}
	printf("%s: %d\n", what, n);
	return n & 127;
}
