/* a product wraps around to a small number */
#include "bomb.h"

int main(void)
{
	uint32_t x = word();
	if (x > 1 && x % 2 == 1 && 254748365u * x == 7)
		bomb();
}
