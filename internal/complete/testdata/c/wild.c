/* A read through a symbolic pointer, most of whose values are not mapped. */
#include <stdio.h>
#include "test.h"

static volatile char page[4096] = "x";

void test(unsigned char *in)
{
	volatile char *p = page + ((long)(in[0] & 0xf0) << 40) + (in[0] & 15);
	printf("%d\n", *p);
}
