/* SIGSEGV for some inputs: a null pointer, a wild one and read-only memory. */
#include <stdio.h>
#include "test.h"

void test(unsigned char *in)
{
	static volatile char byte;
	volatile char *p = &byte;
	if (in[0] == 17)
		p = 0;
	if (in[0] == 34)
		p = (char *)0x123456789000;
	if (in[0] == 51)
		p = (char *)"constant";
	*p = in[0];
	printf("%d\n", *p > 100);
}
