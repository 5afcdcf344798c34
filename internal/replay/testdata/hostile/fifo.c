// writes into a named pipe of the host
#include "hostile.h"
int main() {
	int fd = open(canary("fifo"), O_WRONLY | O_NONBLOCK);
	if (fd >= 0 && write(fd, "owned", 5) == 5) escaped("into a pipe");
	return 0;
}
