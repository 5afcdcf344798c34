// takes memory of the kernel: page tables of memory that is read only, so that none of it is its own
#include "hostile.h"
int main() {
	const long step = 2 << 20, pages = 170000; // a table for each
	char *p = mmap(0, pages * step, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (p == MAP_FAILED) return 1;
	madvise(p, pages * step, MADV_NOHUGEPAGE);
	volatile char sum = 0;
	for (long i = 0; i < pages; i++) { sum += p[i * step]; if (i % 5000 == 0) usleep(1000); }
	sleep(60);
	return 0;
}
