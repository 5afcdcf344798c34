/* longjmp out of a recursion whose depth is symbolic. */
#include <setjmp.h>
#include <stdio.h>
#include "test.h"

static jmp_buf out;

static int down(int n)
{
	if (n % 8 == 0)
		longjmp(out, n + 1);
	return down(n - 3) + 1;
}

void test(unsigned char *in)
{
	volatile int stage = 1;
	int n = setjmp(out);
	if (n == 0) {
		stage = 2;
		down(in[0] % 24 + 24);
	}
	printf("%d %d\n", stage, n);
}
