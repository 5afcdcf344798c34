/* the target of a jump is computed from the input by arithmetic */
#include "bomb.h"

int main(void)
{
	uint64_t x = (uint32_t)word() % 64;
	__asm__ volatile(
		"lea 1f(%%rip), %%rax\n"
		"lea (%%rax,%0,8), %%rax\n"
		"jmp *%%rax\n"
		".balign 8\n"
		"1: .rept 51\n"
		"jmp 2f\n"
		".balign 8\n"
		".endr\n"
		"jmp 3f\n"
		".balign 8\n"
		".rept 12\n"
		"jmp 2f\n"
		".balign 8\n"
		".endr\n"
		"3: call abort\n"
		"2:\n" : : "r"(x) : "rax", "memory");
}
