// empties a file that it may only read
#include "hostile.h"
int main() {
	const char *f = canary("file");
	open(f, O_RDONLY | O_TRUNC);
	open(f, O_ACCMODE | O_TRUNC);
	if (truncate(f, 0)) {}
	creat(f, 0644);
	struct { uint64_t flags, mode, resolve; } how = {O_RDONLY | O_TRUNC, 0, 0};
	syscall(SYS_openat2, AT_FDCWD, f, &how, sizeof how);
	return 0;
}
