/* the bound of a loop is symbolic */
#include "bomb.h"

int main(void)
{
	uint32_t n = (uint32_t)word() % 10000, sum = 0;
	for (uint32_t i = 0; i < n; i++)
		sum += i;
	if (sum == 499500)
		bomb();
}
