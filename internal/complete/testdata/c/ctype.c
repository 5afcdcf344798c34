/* Character classes, which are tables of the C library. */
#include <ctype.h>
#include <stdio.h>
#include "test.h"

void test(unsigned char *in)
{
	int c = in[0];
	printf("%d%d%d%d%d %c\n", !!isalpha(c), !!isdigit(c), !!isspace(c), !!ispunct(c), !!isxdigit(c), toupper(c));
}
