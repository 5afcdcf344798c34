/* the number of steps of a loop nobody can predict (3n+1, n below 2^12) */
#include "bomb.h"

int main(void)
{
	uint32_t n = (uint32_t)word() % 4096, steps = 0;
	for (; n > 1; steps++)
		n = n % 2 ? 3 * n + 1 : n / 2;
	if (steps == 237)
		bomb();
}
