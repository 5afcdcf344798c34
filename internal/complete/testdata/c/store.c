/* Stores through a symbolic index, then look-ups of both kinds. */
#include <stdio.h>
#include "test.h"

void test(unsigned char *in)
{
	unsigned char a[32] = {0};
	a[in[0] & 31] = 1;
	a[in[0] >> 3] += 2;
	printf("%d %d %d\n", a[5], a[in[0] & 31] == 3, a[31 - (in[0] & 31)]);
}
