// changes the attributes of a file by the newest call alone
#include "hostile.h"
int main() {
	struct { uint64_t value; uint32_t size, flags; } a = {(uintptr_t)"owned", 5, 0};
	syscall(463 /* setxattrat */, AT_FDCWD, canary("file"), 0, "user.canary", &a, sizeof a);
	return 0;
}
