// What argv[1] names is printed: things of a host that the machine or a replay has otherwise. See TestBeyond.
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <cpuid.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <sched.h>
#include <stdio.h>
#include <sys/auxv.h>
#include <sys/resource.h>
#include <sys/rseq.h>
#include <sys/socket.h>
#include <sys/statvfs.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

static void show(const char *path)
{
	char buf[300];
	int f = open(path, O_RDONLY), n = read(f, buf, sizeof buf);
	printf("%d ", n);
	fwrite(buf, 1, n > 0 ? n : 0, stdout);
}

int main(int argc, char **argv)
{
	struct statvfs vfs;
	struct sockaddr_in sa = {.sin_family = AF_INET};
	socklen_t len = sizeof sa;
	struct rlimit l;
	struct rusage r;
	unsigned a, b, c, d;
	int s, n;
	switch (argv[1][0]) {
	case 'a': statvfs(".", &vfs); printf("%lu %lu\n", vfs.f_flag, vfs.f_namemax); break;
	case 'b':
		sa.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
		s = socket(AF_INET, SOCK_STREAM, 0);
		bind(s, (void *)&sa, len);
		getsockname(s, (void *)&sa, &len);
		printf("%d\n", ntohs(sa.sin_port) & 1);
		break;
	case 'c': show("/proc/cpuinfo"); break;
	case 'd': show("/proc/sys/kernel/pid_max"); show("/proc/sys/vm/overcommit_memory"); show("/proc/sys/kernel/randomize_va_space"); break;
	case 'e': printf("%lx %lx\n", getauxval(AT_HWCAP), getauxval(AT_HWCAP2)); break;
	case 'f': printf("%ld %d %ld %d\n", syscall(SYS_userfaultfd, 0), errno, syscall(SYS_memfd_secret, 0), errno); break;
	case 'g': if (!(n = fork())) _exit(0); waitpid(n, NULL, 0); printf("%d\n", n - getpid()); break;
	case 'h': __cpuid(1, a, b, c, d); printf("%x %x %x\n", a, b >> 24, d); break;
	case 'i': printf("%d %d\n", (int)((struct rseq *)((char *)__builtin_thread_pointer() + __rseq_offset))->cpu_id, sched_getcpu()); break;
	case 'j': getrlimit(RLIMIT_NOFILE, &l); printf("%ld %ld\n", (long)l.rlim_cur, (long)l.rlim_max); break;
	case 'k': getrusage(RUSAGE_SELF, &r); printf("%ld %ld\n", r.ru_nvcsw, r.ru_nivcsw); break;
	case 'l': getrlimit(RLIMIT_STACK, &l); printf("%d\n", l.rlim_cur > 1 << 20); break;
	case 'm': getrlimit(RLIMIT_MEMLOCK, &l); printf("%ld %ld\n", (long)l.rlim_cur, (long)l.rlim_max); getrlimit(RLIMIT_CORE, &l); printf("%ld %ld\n", (long)l.rlim_cur, (long)l.rlim_max); break;
	}
}
