/* Calls through a table of functions. */
#include <stdio.h>
#include "test.h"

static int one(int n) { return n + 1; }
static int two(int n) { return n * 2; }
static int three(int n) { return n ^ 0x33; }

void test(unsigned char *in)
{
	static int (*const table[])(int) = {one, two, three, two};
	printf("%d\n", table[in[0] & 3](table[in[0] >> 6](in[0] & 0x3c)));
}
