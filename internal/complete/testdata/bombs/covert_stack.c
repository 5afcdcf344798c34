/* the value goes through the stack by push and pop */
#include "bomb.h"

int main(void)
{
	uint64_t x = (uint32_t)word(), y;
	__asm__ volatile("push %1\n rolw $3, (%%rsp)\n pop %0" : "=r"(y) : "r"(x));
	if (y == 0x0badcafe)
		bomb();
}
