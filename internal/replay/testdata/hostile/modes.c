// changes mode, owner and times of a file
#include "hostile.h"
int main() {
	const char *f = canary("file");
	int fd = open(f, O_RDONLY);
	chmod(f, 0777);
	fchmod(fd, 0700);
	syscall(452 /* fchmodat2 */, AT_FDCWD, f, 0711, 0);
	if (chown(f, getuid(), getgid()) || fchown(fd, getuid(), getgid()) || lchown(f, 0, 0)) {}
	struct timespec t[2] = {{1, 0}, {1, 0}};
	utimensat(AT_FDCWD, f, t, 0);
	futimens(fd, t);
	syscall(SYS_utime, f, 0);
	syscall(SYS_futimesat, AT_FDCWD, f, 0);
	return 0;
}
