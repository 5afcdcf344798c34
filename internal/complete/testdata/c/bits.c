/* Bit tricks: population count, leading zeros, byte swap, isolated bits. */
#include <stdint.h>
#include <stdio.h>
#include "test.h"

void test(unsigned char *in)
{
	uint32_t x = in[0] * 0x01010301u;
	int n = __builtin_popcount(x), lz = x ? __builtin_clz(x) : 32, tz = x ? __builtin_ctz(x) : 32;
	printf("%d %d %d %d %d\n", n, lz, tz, __builtin_bswap32(x) == x, (x & -x) == (x & ~(x - 1)));
}
