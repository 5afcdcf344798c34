// takes pages that no limit of memory knows
#include "hostile.h"
int main() {
	if (mmap(0, 2 << 20, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_HUGETLB, -1, 0) != MAP_FAILED) escaped("mmap");
	if (memfd_create("x", MFD_HUGETLB) >= 0) escaped("memfd");
	char *p = malloc(100 << 20);
	if (p && mlock(p, 100 << 20) == 0) escaped("mlock");
	return 0;
}
