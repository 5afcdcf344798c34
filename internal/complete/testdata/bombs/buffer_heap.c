/* a copy with a symbolic length reaches the next object of the heap */
#include "bomb.h"

static void *(*volatile copy)(void *, const void *, size_t) = memcpy;

int main(void)
{
	char *a = malloc(16), *volatile b = malloc(16), source[64];
	uint32_t x = word();
	strcpy(b, "safe");
	memset(source, x >> 8, sizeof source);
	copy(a, source, x % 48);
	if (b[0] == '!')
		bomb();
	_exit(0);
}
