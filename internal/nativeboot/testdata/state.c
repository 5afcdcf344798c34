// Sets unusual state, opens the device, and tells what is left of the state.
#define _GNU_SOURCE
#include <fcntl.h>
#include <fenv.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/utsname.h>
#include <sys/auxv.h>
#include <time.h>
#include <unistd.h>
#include <cpuid.h>
#include <x86intrin.h>

static void handler(int sig) {
	stack_t ss;
	sigaltstack(NULL, &ss);
	printf("signal %d on the alternate stack: %d\n", sig, ss.ss_flags & SS_ONSTACK);
}

static char alt[65536];
static long double deep[8];

int main(int argc, char **argv) {
	stack_t ss = {.ss_sp = alt, .ss_size = sizeof alt};
	sigaltstack(&ss, NULL);
	struct sigaction sa = {.sa_handler = handler, .sa_flags = SA_ONSTACK | SA_RESTART};
	sigaddset(&sa.sa_mask, SIGUSR2);
	sigaction(SIGUSR1, &sa, NULL);
	signal(SIGPIPE, SIG_IGN);
	sigset_t set;
	sigemptyset(&set);
	sigaddset(&set, SIGTERM);
	sigprocmask(SIG_BLOCK, &set, NULL);
	umask(0137);
	struct rlimit rl = {100, 200};
	setrlimit(RLIMIT_NOFILE, &rl);
	int fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
	lseek(fd, 100, SEEK_SET);
	int dup = fcntl(fd, F_DUPFD, 20);
	int p[2];
	pipe(p);
	write(p[1], "through a pipe", 14);
	unsigned a, b, c, d;
	__cpuid_count(4, 2, a, b, c, d);
	printf("cpuid %x %x %x %x\n", a, b, c, d);
	__cpuid(1, a, b, c, d);
	printf("cpuid %x %x %x %x\n", a, b, c, d);
	char *heap = malloc(300000), *big = mmap(0, 1 << 20, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	for (int i = 0; i < 300000; i++) heap[i] = i * 7;
	big[4096] = 'x';
	big = mremap(big, 1 << 20, 4 << 20, MREMAP_MAYMOVE);
	big[3 << 20] = 'y';
	madvise(heap + 8192 - (long)heap % 4096, 8192, MADV_DONTNEED);
	printf("tsc grows: %d\n", __rdtsc() < __rdtsc());
	fesetround(FE_UPWARD);
	unsigned csr = _mm_getcsr();
	_mm_setcsr(csr | 0x8040); // flush to zero, denormals are zero
	volatile double tiny = 1e-310;
	long double x = 1.0L / 3;
	unsigned short cw;
	// Something is left on the x87 stack across the call.
	unsigned short before, after;
	long double top;
	int dev;
	static const char path[] = "/dev/symchef";
	__asm__ volatile("fldpi\n\tfldl2e\n\tfnstsw %1\n\tsyscall\n\tfnstsw %2\n\tfstpt %3\n\tfstp %%st(0)"
		: "=a"(dev), "=m"(before), "=m"(after), "=m"(top)
		: "a"(SYS_open), "D"(path), "S"(O_RDWR), "d"(0) : "rcx", "r11", "memory");
	__asm__("fnstcw %0" : "=m"(cw));
	printf("device %d, x87 %x %x %x, top %.20Lf, a third %.20Lf, mxcsr %x, denormal %g\n", dev, cw, before, after, top, x, _mm_getcsr(), tiny * 2);
	fesetround(FE_TONEAREST);
	_mm_setcsr(csr);
	printf("umask %o", umask(0));
	getrlimit(RLIMIT_NOFILE, &rl);
	printf(" limit %ld; ", (long)rl.rlim_cur);
	printf("offset %ld %ld, flags %d %d\n", (long)lseek(fd, 0, SEEK_CUR), (long)lseek(dup, 0, SEEK_CUR), fcntl(fd, F_GETFD), fcntl(dup, F_GETFD));
	char buf[20] = "";
	read(p[0], buf, 14);
	struct sigaction old;
	sigaction(SIGUSR1, NULL, &old);
	printf("%s; handler %d, flags %x, mask %lx; ", buf, old.sa_handler == handler, old.sa_flags, *(long *)&old.sa_mask);
	sigaction(SIGPIPE, NULL, &old);
	sigprocmask(SIG_BLOCK, NULL, &set);
	printf("ignored %d, blocked %lx\n", old.sa_handler == SIG_IGN, *(long *)&set);
	raise(SIGUSR1);
	unsigned long sum = 0;
	for (int i = 0; i < 300000; i++) sum = sum * 31 + (unsigned char)heap[i];
	printf("heap %lx at %p, big %d %d at %p, stack %p, code %p\n", sum, heap, big[4096], big[3 << 20], big, &sum, main);
	struct utsname u;
	uname(&u);
	struct timespec ts, cpu;
	clock_gettime(CLOCK_REALTIME, &ts);
	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &cpu);
	printf("%s %s, pid %d, time %ld.%09ld %ld.%09ld\n", u.release, u.nodename, getpid(), ts.tv_sec, ts.tv_nsec, cpu.tv_sec, cpu.tv_nsec);
	printf("hwcap %lx %lx, vdso %lx, random %lx\n", getauxval(AT_HWCAP), getauxval(AT_HWCAP2), getauxval(AT_SYSINFO_EHDR), *(long *)getauxval(AT_RANDOM));
	char line[400];
	FILE *maps = fopen("/proc/self/maps", "r");
	while (fgets(line, sizeof line, maps)) fputs(line, stdout);
	return 7;
}
