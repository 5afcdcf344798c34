/* printf of a byte in many forms. */
#include <stdio.h>
#include "test.h"

void test(unsigned char *in)
{
	int n = in[0] - 100;
	printf("%d|%5x|%-6o|%+.4d|%c|%u\n", n, n & 0xfff, in[0], n, 'a' + in[0] % 26, in[0] * 1000003u);
}
