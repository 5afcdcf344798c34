// changes the flags of a file
#include "hostile.h"
int main() {
	int fd = open(canary("file"), O_RDONLY);
	int flags = 0x40; // nodump, which any owner may set
	ioctl(fd, 0x40086602 /* FS_IOC_SETFLAGS */, &flags);
	struct { uint32_t flags, extsize, nextents, projid, cow; char pad[8]; } x = {0x80};
	ioctl(fd, 0x401c5820 /* FS_IOC_FSSETXATTR */, &x);
	syscall(469 /* file_setattr */, AT_FDCWD, canary("file"), &x, sizeof x, 0);
	return 0;
}
