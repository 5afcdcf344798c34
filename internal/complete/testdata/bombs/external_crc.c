/* a table-driven CRC-32 of four bytes has one value */
#include "bomb.h"

int main(void)
{
	uint32_t x = word(), c = ~0u, table[256];
	for (uint32_t i = 0; i < 256; i++) {
		table[i] = i;
		for (int k = 0; k < 8; k++)
			table[i] = table[i] >> 1 ^ (table[i] & 1 ? 0xedb88320 : 0);
	}
	for (int i = 0; i < 4; i++)
		c = table[(c ^ x >> 8 * i) & 255] ^ c >> 8;
	if (~c == 0x9be3e0a3)
		bomb();
}
