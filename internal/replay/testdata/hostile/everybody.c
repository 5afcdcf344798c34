// slows everybody who has the same user
#include "hostile.h"
int main() {
	setpriority(PRIO_USER, getuid(), 3);
	setpriority(PRIO_USER, 0, 3);
	syscall(SYS_ioprio_set, 3, getuid(), (3 << 13));
	return 0;
}
