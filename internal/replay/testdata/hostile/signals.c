// signals the processes of the host
#include "hostile.h"
int main() {
	int v = num("VICTIM");
	siginfo_t info = {.si_signo = SIGKILL, .si_code = SI_QUEUE};
	kill(v, SIGSTOP);
	syscall(SYS_tkill, v, SIGKILL);
	syscall(SYS_tgkill, v, v, SIGKILL);
	syscall(SYS_rt_sigqueueinfo, v, SIGKILL, &info);
	syscall(SYS_rt_tgsigqueueinfo, v, v, SIGKILL, &info);
	int fd = syscall(SYS_pidfd_open, v, 0);
	syscall(SYS_pidfd_send_signal, fd, SIGKILL, 0, 0);
	int p[2];
	if (pipe(p) == 0) { fcntl(p[0], F_SETOWN, v); fcntl(p[0], F_SETSIG, SIGKILL); fcntl(p[0], F_SETFL, O_ASYNC); if (write(p[1], "x", 1) < 0) {} }
	return 0;
}
