/* assert, abort and exit. */
#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include "test.h"

void test(unsigned char *in)
{
	assert(in[0] % 101 != 100);
	if (in[0] == 'A')
		abort();
	printf("%d\n", in[0] > 'A');
	if (in[0] < 3)
		exit(in[0]);
}
