/* a write beyond an array changes its neighbour */
#include "bomb.h"

int main(void)
{
	volatile struct { char a[8]; int key; } s = {{0}, 0};
	uint32_t x = word();
	s.a[x % 12] = x >> 8;
	if (s.key == 0x5a00)
		bomb();
}
