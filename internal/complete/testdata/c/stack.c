/* The stack protector's SIGABRT for long copies. */
#include <stdio.h>
#include <string.h>
#include "test.h"

static void __attribute__((noinline)) copy(volatile char *to, int n)
{
	for (int i = 0; i < n; i++)
		to[i] = 'A';
}

void test(unsigned char *in)
{
	volatile char small[24];
	copy(small, in[0] % 40);
	printf("%c\n", small[0] == 'A' ? 'A' : '-');
}
