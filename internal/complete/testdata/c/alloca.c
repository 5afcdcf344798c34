/* A frame of symbolic size, and calls above it. */
#include <alloca.h>
#include <stdio.h>
#include <string.h>
#include "test.h"

static int __attribute__((noinline)) sum(const unsigned char *p, int n)
{
	return n > 0 ? *p + sum(p + 1, n - 1) : 0;
}

void test(unsigned char *in)
{
	int n = in[0] % 50;
	unsigned char *p = alloca(n + 1);

	memset(p, n, n + 1);
	p[n] = in[0];
	printf("%d\n", sum(p, n + 1));
}
