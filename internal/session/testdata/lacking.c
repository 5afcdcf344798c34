// What argv[1] names is printed: what a host has and neither the machine nor a replay does. See TestLacking.
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysinfo.h>
#include <unistd.h>

static void tell(long r) { printf("%ld %d\n", r, r < 0 ? errno : 0); }

static int object(struct dl_phdr_info *o, size_t size, void *p) { return puts(o->dlpi_name), 0; }

int main(int argc, char **argv)
{
	struct sockaddr_in sa = {AF_INET, htons(7), {htonl(0x08080808)}};
	struct sched_param low = {0}, high = {1};
	struct stat st;
	struct sysinfo si;
	char buf[400] = "";
	socklen_t len = sizeof buf;
	int f;
	switch (argv[1][0]) {
	case 'a': tell(syscall(SYS_io_uring_setup, 4, buf)); break;
	case 'b': tell(syscall(SYS_landlock_create_ruleset, 0, 0, 1)); break;
	case 'c': tell(syscall(SYS_modify_ldt, 0, buf, 100)); break;
	case 'd': tell(socket(AF_PACKET, SOCK_RAW, 0)); break;
	case 'e': tell(connect(socket(AF_INET, SOCK_STREAM, 0), (void *)&sa, sizeof sa)); break;
	case 'f': tell(connect(socket(AF_INET, SOCK_DGRAM, 0), (void *)&sa, sizeof sa)); break;
	case 'g': tell(prctl(PR_CAPBSET_READ, 21)); tell(prctl(PR_GET_THP_DISABLE, 0, 0, 0, 0)); break;
	case 'h': tell(syscall(SYS_arch_prctl, 0x1011, 0)); break;
	case 'i': tell(getpriority(PRIO_PROCESS, 0)); break;
	case 'j': tell(getsockopt(socket(AF_INET, SOCK_STREAM, 0), IPPROTO_TCP, TCP_CONGESTION, buf, &len)); puts(buf); break;
	case 'k': mkdir("d", 0777); stat("d", &st); tell(st.st_size); break;
	case 'l': sysinfo(&si); tell(si.procs); break;
	case 'm': f = open("x", O_CREAT | O_RDWR, 0600); tell(ioctl(f, 0x80086601, buf)); break;
	case 'n': tell(sysconf(_SC_LEVEL2_CACHE_SIZE)); break;
	case 'o': tell(sysconf(_SC_MINSIGSTKSZ)); break;
	case 'p': tell(sched_setscheduler(0, SCHED_FIFO, &high)); break;
	case 'q': tell(socket(AF_INET, SOCK_RAW, 1)); break;
	case 'r': tell(mmap(0, 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) != 0); break;
	case 's': f = open("/proc/net/route", O_RDONLY); tell(read(f, buf, 300)); break;
	case 't': tell(open("/proc/1/comm", O_RDONLY)); break;
	case 'u': f = open("/etc", O_RDONLY | O_DIRECTORY); tell(syscall(SYS_getdents64, f, buf, 300)); break;
	case 'v': f = open("/proc/cpuinfo", O_RDONLY); tell(read(f, buf, 60)); puts(buf); break;
	case 'w': tell(gethostid()); break;
	case 'x': dl_iterate_phdr(object, 0); break;
	// and what they have in common
	case 'A': f = open(".", O_TMPFILE | O_RDWR, 0600); tell(f); tell(write(f, "abc", 3)); fstat(f, &st); printf("%d %d\n", (int)st.st_size, (int)st.st_nlink); break;
	case 'B': f = open("x", O_CREAT | O_RDWR, 0600); write(f, "abcdef", 6); tell(fallocate(f, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, 2, 2)); pread(f, buf, 6, 0); fwrite(buf, 1, 6, stdout); break;
	case 'C': tell(sched_setscheduler(0, SCHED_BATCH, &low)); break;
	case 'D': tell(access("/dev/none", F_OK)); tell(access("/dev/null", R_OK)); break;
	case 'E': sa.sin_addr.s_addr = htonl(INADDR_LOOPBACK); tell(connect(socket(AF_INET, SOCK_STREAM, 0), (void *)&sa, sizeof sa)); break;
	}
}
