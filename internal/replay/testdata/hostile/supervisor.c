// ends, limits and slows whoever watches it: the process that started it, and, where numbers are those of a namespace, its threads
#include "hostile.h"
int main() {
	int parent = getppid(), last = parent == 1 ? 64 : parent;
	for (int p = parent; p <= last; p++) {
		if (p == getpid()) continue;
		struct rlimit none = {0, 0};
		struct sched_param zero = {0};
		for (int sig = 1; sig <= 64; sig++) {
			kill(p, sig);
			syscall(SYS_tkill, p, sig);
			syscall(SYS_tgkill, parent, p, sig);
		}
		if (prlimit(p, RLIMIT_NOFILE, &none, 0) == 0) escaped("a limit of another process");
		if (setpriority(PRIO_PROCESS, p, 19) == 0) escaped("the priority of another process");
		if (syscall(SYS_ioprio_set, 1, p, 3 << 13) == 0) escaped("the priority of another process's input");
		if (sched_setscheduler(p, SCHED_IDLE, &zero) == 0) escaped("the scheduler of another process");
	}
	setpriority(PRIO_USER, 0, 19);
	int fd = syscall(SYS_pidfd_open, parent, 0);
	for (int sig = 1; sig <= 64; sig++) syscall(SYS_pidfd_send_signal, fd, sig, 0, 0);
	printf("done\n");
	return 7;
}
