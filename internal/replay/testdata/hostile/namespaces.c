// makes namespaces, in which it would be the superuser
#include "hostile.h"
int main() {
	const int kinds[] = {CLONE_NEWUSER, CLONE_NEWNS, CLONE_NEWPID, CLONE_NEWNET, CLONE_NEWIPC, CLONE_NEWUTS, CLONE_NEWCGROUP, 0x80 /* time */};
	for (int i = 0; i < 8; i++) {
		if (unshare(kinds[i]) == 0) escaped("unshare");
		if (i == 7) continue;
		long pid = syscall(SYS_clone, kinds[i] | SIGCHLD, 0, 0, 0, 0);
		if (pid == 0) _exit(0);
		if (pid > 0) escaped("clone");
	}
	uint64_t args[11] = {CLONE_NEWUSER, 0, 0, 0, SIGCHLD};
	long pid = syscall(SYS_clone3, args, 64);
	if (pid == 0) _exit(0);
	if (pid > 0) escaped("clone3");
	char path[64];
	snprintf(path, sizeof path, "/proc/%d/ns/mnt", num("VICTIM"));
	if (setns(open(path, O_RDONLY), 0) == 0) escaped("setns");
	return 0;
}
