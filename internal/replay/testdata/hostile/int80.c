// enters the kernel by the calls of i386
#include "hostile.h"
int main() {
	char *low = mmap(0, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_32BIT, -1, 0);
	strcpy(low, canary("file"));
	int r;
	__asm__ volatile("int $0x80" : "=a"(r) : "a"(15 /* chmod */), "b"((int)(long)low), "c"(0777) : "memory");
	__asm__ volatile("int $0x80" : "=a"(r) : "a"(92 /* truncate */), "b"((int)(long)low), "c"(0) : "memory");
	__asm__ volatile("int $0x80" : "=a"(r) : "a"(37 /* kill */), "b"(num("VICTIM")), "c"(9) : "memory");
	__asm__ volatile("int $0x80" : "=a"(r) : "a"(20 /* getpid */) : "memory");
	if (r > 0) escaped("an i386 call");
	return 0;
}
