// What argv[1] names is done, and how it went is printed. See TestConfined.
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <netinet/in.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static void told(long v) { printf("%s\n", v < 0 ? strerrorname_np(errno) : "done"); }

// made is a file of a mode.
static const char *made(mode_t mode)
{
	int fd = creat("made", 0600);
	if (write(fd, "a", 1) < 0)
		abort();
	close(fd);
	chmod("made", mode);
	return "made";
}

static int opened(void)
{
	return open("made", O_CREAT | O_RDWR, 0600);
}

static void port(int n)
{
	struct sockaddr_in a = {.sin_family = AF_INET, .sin_port = htons(n), .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	told(bind(socket(AF_INET, SOCK_STREAM, 0), (void *)&a, sizeof a));
}

// child waits for the end of the one that it makes.
static pid_t child(void)
{
	pid_t p = fork();
	if (!p) {
		pause();
		_exit(0);
	}
	return p;
}

static void copied(const char *from, const char *to)
{
	told(copy_file_range(open(from, O_RDONLY), 0, open(to, O_CREAT | O_WRONLY, 0600), 0, 6, 0));
}

int main(int argc, char **argv)
{
	struct stat st;
	struct rlimit l;
	char name[64];
	pid_t p;
	int v = 0;
	FILE *f;

	signal(SIGXFSZ, SIG_IGN);
	switch (argv[1][0]) {
	// rights of the superuser
	case 'a': told(open(made(0444), O_WRONLY | O_APPEND)); break;
	case 'b': told(open(made(0), O_RDONLY)); break;
	case 'c': mkdir("dir", 0700); close(creat("dir/f", 0600)); chmod("dir", 0); told(stat("dir/f", &st)); chmod("dir", 0700); break;
	case 'd': told(chown(made(0600), 1, 1)); break;
	case 'e': errno = 0; told(nice(-5) == -1 && errno ? -1 : 0); break;
	case 'f': port(80); break;
	case 'g': told(setuid(1000)); break;
	case 'h': told(setgroups(0, 0)); break;
	case 'i': told(chroot(".")); break;
	case 'j': getrlimit(RLIMIT_NOFILE, &l); l.rlim_max++; told(setrlimit(RLIMIT_NOFILE, &l)); break;
	case 'k': told(truncate(made(0444), 3)); break;
	case 'l': told(access(made(0), W_OK)); break;
	case 'm': told(mknod("device", S_IFCHR | 0600, 0x103)); break;
	case 'n': told(chmod("foreign", 0600)); break;
	case 'o': told(open("foreign", O_WRONLY)); break;
	case 'p': told(rename("sticky/f", "sticky/g")); break;
	// bounds
	case 'q': told(ftruncate(opened(), 100000000)); break;
	case 'r': told(pwrite(opened(), "x", 1, 100000000)); break;
	case 's': for (v = 0; v < 5; v++) {
			snprintf(name, sizeof name, "made%d", v);
			int fd = open(name, O_CREAT | O_RDWR, 0600);
			static char block[1 << 20];
			for (int i = 0; i < 60; i++)
				if (write(fd, block, sizeof block) < 0)
					told(-1);
		}
		puts("written");
		break;
	case 't': for (v = 0; v < 300; v++)
			if ((p = fork()) == 0)
				_exit(0);
			else if (p < 0)
				break;
		printf("%d\n", v);
		while (wait(0) > 0);
		break;
	case 'R': told(ftruncate(opened(), 3000000000)); break;
	case 'S': puts(malloc(5000000000) ? "done" : "ENOMEM"); break;
	case 'T': puts(malloc(1L << 40) ? "done" : "ENOMEM"); break;
	// attributes of processes
	case 'u': prctl(PR_SET_DUMPABLE, 0); printf("%d\n", prctl(PR_GET_DUMPABLE)); break;
	case 'v': prctl(PR_SET_PDEATHSIG, SIGUSR1); prctl(PR_GET_PDEATHSIG, &v); printf("%d\n", v); break;
	case 'w': prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); printf("%d\n", prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0)); break;
	case 'x': printf("%d\n", prctl(PR_GET_SECCOMP)); break;
	case 'y': printf("%d\n", prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0)); break;
	case 'z': printf("%d %d %d %d\n", prctl(PR_GET_DUMPABLE), prctl(PR_GET_KEEPCAPS), prctl(PR_GET_TIMERSLACK), prctl(PR_GET_TIMING)); break;
	case 'A': prctl(PR_SET_CHILD_SUBREAPER, 1); prctl(PR_GET_CHILD_SUBREAPER, &v); printf("%d ", v);
		prctl(PR_SET_TIMERSLACK, 77); printf("%d ", prctl(PR_GET_TIMERSLACK));
		prctl(PR_SET_KEEPCAPS, 1); printf("%d\n", prctl(PR_GET_KEEPCAPS)); break;
	// files of the host
	case 'B': copied("given", "new"); break;
	case 'C': copied(made(0600), "new"); break;
	// process ids
	case 'D': printf("%d\n", getppid() > 1); break;
	case 'E': printf("%d\n", getsid(0) == getpid()); break;
	case 'F': told(kill(1, 0)); break;
	case 'G': told(kill(getppid(), 0)); break;
	case 'H': p = child(); snprintf(name, sizeof name, "/proc/%d", p); told(access(name, F_OK)); kill(p, SIGKILL); wait(0); break;
	case 'I': p = child(); snprintf(name, sizeof name, "/proc/%d/comm", p); f = fopen(name, "r"); puts(f && fgets(name, sizeof name, f) ? name : "?"); kill(p, SIGKILL); wait(0); break;
	case 'J': p = child(); kill(p, SIGKILL); wait(0); snprintf(name, sizeof name, "/proc/%d", p); told(access(name, F_OK)); break;
	case 'K': f = fopen("/proc/mounts", "r"); while (f && fgets(name, sizeof name, f)) v++; printf("%d\n", v); break;
	// as whom a file belongs to says
	case 'L': told(open(made(0444), O_RDONLY)); break;
	case 'M': told(link("given", "linked")); break;
	case 'N': told(utimensat(AT_FDCWD, "given", 0, 0)); break;
	case 'O': port(8080); break;
	case 'P': told(stat("foreign", &st)); printf("%d\n", st.st_uid); break;
	// one schedule of several
	case 'Q': if (!(p = fork())) {
			if (write(1, "child\n", 6) < 0)
				abort();
			_exit(0);
		}
		for (v = 100000; v; v--)
			__asm__ volatile("");
		if (write(1, "parent\n", 7) < 0)
			abort();
		wait(0);
		break;
	}
	return 0;
}
