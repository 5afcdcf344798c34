/* a jump goes to a computed label */
#include "bomb.h"

int main(void)
{
	static void *const labels[] = {&&a, &&b, &&c, &&d};
	uint32_t x = word();
	goto *labels[(x ^ x >> 7) % 4];
a:	return 1;
b:	return 2;
c:	if (x > 0x7fffff00)
		bomb();
d:	return 3;
}
