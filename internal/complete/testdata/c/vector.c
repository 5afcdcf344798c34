/* Loops that the compiler turns into vector code. */
#include <stdint.h>
#include <stdio.h>
#include "test.h"

void test(unsigned char *in)
{
	uint8_t a[16], b[16];
	uint32_t sum = 0, most = 0;
	for (int i = 0; i < 16; i++)
		a[i] = in[0] + i;
	for (int i = 0; i < 16; i++)
		b[i] = a[i] > 128 ? a[i] - in[1] : 255 - a[i];
	for (int i = 0; i < 16; i++)
		sum += b[i];
	for (int i = 0; i < 16; i++)
		most = most > b[i] ? most : b[i];
	printf("%d %d\n", sum > 1900, most == 255);
}
