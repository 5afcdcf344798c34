// changes the attributes of a file
#include "hostile.h"
int main() {
	const char *f = canary("file");
	int fd = open(f, O_RDONLY);
	setxattr(f, "user.mark", "owned", 5, 0);
	lsetxattr(f, "user.mark1", "owned", 5, 0);
	fsetxattr(fd, "user.mark2", "owned", 5, 0);
	struct { uint64_t value; uint32_t size, flags; } a = {(uintptr_t)"owned", 5, 0};
	syscall(463 /* setxattrat */, AT_FDCWD, f, 0, "user.mark3", &a, sizeof a);
	removexattr(f, "user.canary");
	syscall(466 /* removexattrat */, AT_FDCWD, f, 0, "user.canary");
	return 0;
}
