/* Shifts and rotations by a symbolic count, beyond the width too. */
#include <stdint.h>
#include <stdio.h>
#include "test.h"

void test(unsigned char *in)
{
	volatile uint32_t x = 0x80c00351, n = in[0];
	uint32_t l = x << (n & 31), r = x >> (n & 31), s = (int32_t)x >> (n & 31);
	uint32_t rot = x << (n & 31) | x >> (-n & 31);
	uint64_t wide = (uint64_t)x << (n & 63);
	printf("%d %d %d %d %d\n", l == 0x351 << 8, r == 3, s == 0xffffffff, rot == 0x351 << 16 | 0x80c0, wide >> 40 == 0x351);
}
