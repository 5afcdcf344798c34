/* a value is stored through a symbolic index and loaded through another */
#include "bomb.h"

int main(void)
{
	uint32_t x = word();
	unsigned char a[64] = {0};
	a[x % 64] = 1;
	a[x >> 8 & 63] += 2;
	if (a[40] == 3 && a[x >> 16 & 63] == 3)
		bomb();
}
