/* snprintf cuts off at a symbolic size. */
#include <stdio.h>
#include "test.h"

void test(unsigned char *in)
{
	char out[20] = "-------------------";
	int n = snprintf(out, in[0] % 16, "%s:%d", "key", 4096 + (in[0] & 15));
	printf("%d %s\n", n, out);
}
