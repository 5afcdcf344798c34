// writes to every descriptor that it inherited
#include "hostile.h"
int main() {
	for (int fd = 3; fd < 1024; fd++) {
		if (fcntl(fd, F_GETFD) < 0) continue;
		escaped("a descriptor");
		if (write(fd, "owned", 5) < 0) {}
	}
	return 0;
}
