/* A table-driven checksum, made at run time and compared with a constant. */
#include <stdint.h>
#include <stdio.h>
#include "test.h"

void test(unsigned char *in)
{
	uint32_t table[256], c = ~0u;
	for (uint32_t i = 0; i < 256; i++) {
		table[i] = i;
		for (int k = 0; k < 8; k++)
			table[i] = table[i] >> 1 ^ (table[i] & 1 ? 0xedb88320 : 0);
	}
	for (int i = 0; i < 2; i++)
		c = table[(c ^ in[i]) & 255] ^ c >> 8;
	printf("%d %d\n", ~c == 0x8aed5826, ~c >> 31);
}
