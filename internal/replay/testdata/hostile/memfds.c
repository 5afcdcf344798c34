// takes memory with files of memory that it does not map
#include "hostile.h"
int main() {
	static char block[1 << 20];
	memset(block, 1, sizeof block);
	for (int i = 0; i < 60; i++) {
		int fd = memfd_create(var("MARK"), 0);
		for (int k = 0; k < 16; k++) if (write(fd, block, sizeof block) < 0) {}
	}
	sleep(60);
	return 0;
}
