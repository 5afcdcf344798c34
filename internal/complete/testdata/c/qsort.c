/* qsort of bytes by a comparison function. */
#include <stdio.h>
#include <stdlib.h>
#include "test.h"

static int order(const void *a, const void *b)
{
	return *(unsigned char *)a - *(unsigned char *)b;
}

void test(unsigned char *in)
{
	unsigned char l[] = {in[0], 0x40, in[1], 0x80};
	qsort(l, 4, 1, order);
	for (int i = 0; i < 4; i++)
		if (l[i] == 0x40)
			printf("%d %d\n", i, l[0] <= l[1] && l[1] <= l[2] && l[2] <= l[3]);
}
