// removes, renames and links files
#include "hostile.h"
int main() {
	const char *f = canary("file");
	rename(f, canary("renamed"));
	syscall(SYS_renameat2, AT_FDCWD, f, AT_FDCWD, canary("sub"), 2 /* exchange */);
	unlink(canary("second"));
	if (link(f, canary("linked")) || symlink("/etc/passwd", canary("symlinked"))) {}
	rmdir(canary("empty"));
	mkdir(canary("made"), 0755);
	mknod(canary("fifo2"), S_IFIFO | 0644, 0);
	return 0;
}
