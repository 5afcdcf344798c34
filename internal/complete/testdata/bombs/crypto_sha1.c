/* the SHA-1 of four bytes has one value */
#include "bomb.h"

static uint32_t rol(uint32_t x, int n)
{
	return x << n | x >> (32 - n);
}

int main(void)
{
	uint32_t w[80] = {__builtin_bswap32(word()), 0x80000000}, h[5] = {0x67452301, 0xefcdab89, 0x98badcfe, 0x10325476, 0xc3d2e1f0};
	w[15] = 32;
	for (int i = 16; i < 80; i++)
		w[i] = rol(w[i - 3] ^ w[i - 8] ^ w[i - 14] ^ w[i - 16], 1);
	uint32_t a = h[0], b = h[1], c = h[2], d = h[3], e = h[4];
	for (int i = 0; i < 80; i++) {
		uint32_t f = i < 20 ? (b & c) | (~b & d) : i < 40 || i >= 60 ? b ^ c ^ d : (b & c) | (b & d) | (c & d);
		uint32_t k = (uint32_t[]){0x5a827999, 0x6ed9eba1, 0x8f1bbcdc, 0xca62c1d6}[i / 20];
		uint32_t t = rol(a, 5) + f + e + k + w[i];
		e = d, d = c, c = rol(b, 30), b = a, a = t;
	}
	if (h[0] + a == 0xa94a8fe5) /* "test" */
		bomb();
}
