/* the value goes into the path of the program, and from there into another variable */
#include "bomb.h"

int main(void)
{
	uint32_t x = word(), y = 0;
	for (int i = 0; i < 12; i++)
		if (x >> i & 1)
			y |= 1u << (11 - i);
	if (y == 0xa53)
		bomb();
}
