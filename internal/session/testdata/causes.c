// What argv[1] names is printed. See TestCausesInC.
#define _GNU_SOURCE
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <locale.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/sysinfo.h>
#include <sys/times.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

static void show(const char *path)
{
	char buf[4096];
	int fd = open(path, O_RDONLY);
	if (fd < 0) {
		printf("%s: %s\n", path, strerror(errno));
		return;
	}
	for (ssize_t n; (n = read(fd, buf, sizeof buf)) > 0;)
		fwrite(buf, 1, n, stdout);
	close(fd);
}

static void list(const char *path)
{
	DIR *d = opendir(path);
	for (struct dirent *e; d && (e = readdir(d));)
		puts(e->d_name);
}

static struct stat of(const char *path)
{
	struct stat st = {0};
	stat(path, &st);
	return st;
}

static const char *made(void)
{
	static char name[] = "made";
	close(creat(name, 0644));
	return name;
}

// limited sets both limits.
static void limited(int resource, rlim_t n)
{
	struct rlimit l = {n, n};
	printf("set %d\n", setrlimit(resource, &l));
	getrlimit(resource, &l);
	printf("%ld %ld\n", (long)l.rlim_cur, (long)l.rlim_max);
}

static void onSignal(int n) { printf("signal %d\n", n); }

int main(int argc, char **argv)
{
	struct statvfs vfs;
	struct utsname name;
	struct rusage usage;
	struct rlimit lim;
	struct tms tms;
	struct sysinfo info;
	struct timespec ts;
	cpu_set_t set;
	char buf[256] = "";
	switch (argv[1][0]) {
	case 'a': statvfs(".", &vfs); printf("%ld %ld\n", (long)vfs.f_blocks, (long)vfs.f_bavail); break;
	case 'b': show("/proc/self/maps"); break;
	case 'c': show("/proc/self/stat"); break;
	case 'd': show("/proc/meminfo"); break;
	case 'e': show("/proc/cpuinfo"); break;
	case 'f': show("/proc/loadavg"); break;
	case 'g': show("/proc/uptime"); break;
	case 'h': sched_getaffinity(0, sizeof set, &set); printf("%d %ld\n", CPU_COUNT(&set), sysconf(_SC_NPROCESSORS_ONLN)); break;
	case 'i': getrusage(RUSAGE_SELF, &usage); printf("%ld\n", usage.ru_maxrss); break;
	case 'j': printf("%ld\n", (long)times(&tms)); break;
	case 'k': uname(&name); printf("%s %s\n", name.release, name.version); break;
	case 'l': printf("%ld\n", (long)of(made()).st_ino); break;
	case 'm': printf("%ld\n", (long)of(made()).st_dev); break;
	case 'n': printf("%ld\n", (long)of(made()).st_mtime); break;
	case 'o': list("/etc"); break;
	case 'p': getrlimit(RLIMIT_NPROC, &lim); printf("%ld\n", (long)lim.rlim_cur); break;
	case 'q': printf("%o\n", umask(0)); break;
	case 'r': printf("%d %d %d\n", isatty(0), isatty(1), isatty(2)); break;
	case 's': printf("%d\n", getppid()); break;
	case 't': printf("%p\n", (void *)&vfs); break;
	case 'u': printf("%llx\n", *(unsigned long long *)getauxval(AT_RANDOM)); break;
	case 'v': show("/proc/self/mounts"); break;
	case 'w': show("/proc/self/cgroup"); break;
	case 'x': printf("%d\n", getgroups(0, NULL)); break;
	case 'y': // descriptors
		limited(RLIMIT_NOFILE, 20);
		for (int fd; (fd = dup(1)) >= 0;)
			if (fd >= 18)
				printf("%d\n", fd);
		printf("%s %d %s\n", strerror(errno), dup2(1, 20), strerror(errno));
		break;
	case 'z': // the size of a file
		signal(SIGXFSZ, onSignal);
		limited(RLIMIT_FSIZE, 100);
		argc = open("limited", O_CREAT | O_RDWR, 0644);
		for (int i = 0; i < 3; i++)
			printf("%ld\n", (long)write(argc, buf, 60));
		printf("%d\n", ftruncate(argc, 200));
		break;
	case 'A': // address space
		limited(RLIMIT_AS, 64 << 20);
		printf("%d\n", mmap(NULL, 128 << 20, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) == MAP_FAILED);
		printf("%d\n", malloc(128 << 20) == NULL);
		break;
	case 'B': printf("%d\n", socket(AF_NETLINK, SOCK_RAW, 0) >= 0); break;
	case 'C': printf("%ld\n", (long)of("/etc/passwd").st_atime); break;
	case 'D': printf("%ld\n", (long)time(NULL)); break;
	case 'E': printf("%d\n", getpid()); break;
	case 'F': printf("%p\n", malloc(10)); break;
	case 'G': sysinfo(&info); printf("%ld %d\n", (long)info.totalram, info.procs); break;
	case 'H': list("/proc/sys/kernel"); break;
	case 'I': show("/proc/sys/kernel/random/boot_id"); break;
	case 'J': show("/proc/sys/kernel/random/uuid"); break;
	case 'K': printf("%s %s\n", setlocale(LC_ALL, ""), ttyname(0)); break;
	case 'L': strcpy(buf, "madeXXXXXX"); mkstemp(buf); puts(buf); break;
	case 'M': show("/proc/self/statm"); break;
	case 'N': readlink("/proc/self/fd/1", buf, sizeof buf); puts(buf); break;
	case 'O': clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &ts); printf("%ld\n", ts.tv_nsec); break;
	case 'P': show("/proc/self/limits"); break;
	case 'Q': list("/sys/class/net"); break;
	case 'R': printf("%ld %ld %ld\n", sysconf(_SC_PAGESIZE), sysconf(_SC_CLK_TCK), (long)getauxval(AT_CLKTCK)); break;
	case 'S': gethostname(buf, sizeof buf); puts(buf); break;
	case 'T': printf("%d\n", fork()); break;
	case 'U': mkdir("dir", 0755); close(creat("dir/b", 0644)); close(creat("dir/a", 0644)); list("dir"); break;
	case 'V': show("/proc/self/status"); break;
	case 'W': list("/dev"); break;
	case 'X': list("/proc/self/fd"); break;
	case 'Y': printf("%ld %o\n", (long)of("/etc/passwd").st_ino, of("/etc/passwd").st_mode); break;
	case 'Z': printf("%ld\n", (long)of("/etc/passwd").st_mtime); break;
	}
}
