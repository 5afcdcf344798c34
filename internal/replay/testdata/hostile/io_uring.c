// works through io_uring, which no filter of calls sees
#include "hostile.h"
int main() {
	char params[120] = {0};
	if (syscall(SYS_io_uring_setup, 8, params) >= 0) escaped("io_uring");
	if (syscall(SYS_io_uring_register, -1, 0, 0, 0) < 0 && errno == EBADF) escaped("io_uring_register");
	return 0;
}
