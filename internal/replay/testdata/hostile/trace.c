// reaches into other processes
#include "hostile.h"
int main() {
	int v = num("VICTIM");
	if (ptrace(PTRACE_ATTACH, v, 0, 0) == 0) escaped("ptrace");
	if (ptrace(PTRACE_SEIZE, getppid(), 0, 0) == 0) escaped("ptrace of the parent");
	char text[8] = "owned";
	struct iovec here = {text, 8}, there = {(void *)0x400000, 8};
	if (process_vm_readv(v, &here, 1, &there, 1, 0) > 0 || process_vm_writev(v, &here, 1, &there, 1, 0) > 0) escaped("process_vm");
	int fd = syscall(SYS_pidfd_open, v, 0);
	if (fd >= 0 && syscall(438 /* pidfd_getfd */, fd, 1, 0) >= 0) escaped("pidfd_getfd");
	const char *names[] = {"mem", "environ", "maps", "fd/0", "auxv"};
	for (int i = 0; i < 5; i++) {
		char path[64];
		snprintf(path, sizeof path, "/proc/%d/%s", v, names[i]);
		if (v != getpid() && open(path, O_RDONLY) >= 0) escaped(path);
		snprintf(path, sizeof path, "/proc/%d/%s", getppid(), names[i]);
		if (getppid() && open(path, O_RDONLY) >= 0) escaped(path);
	}
	return 0;
}
