// enters the kernel by the calls of x32
#include "hostile.h"
int main() {
	const long x32 = 0x40000000;
	syscall(x32 | SYS_chmod, canary("file"), 0777);
	syscall(x32 | SYS_kill, num("VICTIM"), 9);
	if (syscall(x32 | SYS_getpid) > 0) escaped("an x32 call");
	return 0;
}
