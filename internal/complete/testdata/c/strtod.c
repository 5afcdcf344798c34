/* strtod of text with one free character. */
#include <stdio.h>
#include <stdlib.h>
#include "test.h"

void test(unsigned char *in)
{
	char text[] = {'2', in[0], '5', 0}, *end;
	double x = strtod(text, &end);
	printf("%g %d\n", x, (int)(end - text));
}
