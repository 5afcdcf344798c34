// takes shared memory that has no name
#include "hostile.h"
int main() {
	for (int i = 0; i < 30; i++) {
		char *p = mmap(0, 32 << 20, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
		if (p != MAP_FAILED && fork() == 0) { memset(p, 1, 32 << 20); sleep(60); _exit(0); }
		if (p != MAP_FAILED) munmap(p, 32 << 20);
	}
	sleep(60);
	return 0;
}
