/* Division of 64 bits, signed and unsigned, and by constants. */
#include <stdio.h>
#include "test.h"

void test(unsigned char *in)
{
	long a = (long)in[0] * 0x123456789abcdL - 0x7fffffffffffL, b = in[0] % 5 - 2;
	unsigned long u = a;
	if (b != 0)
		printf("%d ", a / b > a % 1000);
	printf("%d %d %d\n", u / 10 > 1844674407370955161u, (int)(a % 7), (int)(u / 3 % 11));
}
