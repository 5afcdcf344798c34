/* Signed division with both of its faults: by zero, and of the least int by -1. */
#include <limits.h>
#include <stdio.h>
#include "test.h"

void test(unsigned char *in)
{
	volatile int a = in[0] == 7 ? INT_MIN : in[0], b = (signed char)in[0] - 6;
	if (in[0] == 7)
		b = -1;
	printf("%d\n", a / b * 1000 + a % b);
}
