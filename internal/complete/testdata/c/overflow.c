/* Overflow of signed and unsigned arithmetic, found by the flags. */
#include <limits.h>
#include <stdio.h>
#include "test.h"

void test(unsigned char *in)
{
	int sum, product;
	unsigned rest;
	int a = __builtin_add_overflow(INT_MAX - 100, in[0], &sum);
	int b = __builtin_mul_overflow(in[0] << 20, in[0], &product);
	int c = __builtin_sub_overflow(130u, (unsigned)in[0], &rest);
	printf("%d %d %d %d\n", a, b, c, (sum < 0) + (product < 0) + (rest > 255));
}
