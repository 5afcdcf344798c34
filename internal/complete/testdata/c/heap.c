/* malloc and realloc of a symbolic size, and a double free that glibc finds. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "test.h"

void test(unsigned char *in)
{
	char *p = malloc(in[0] % 7 * 100 + 1);
	p = realloc(p, in[0] % 3 * 1000 + 10);
	strcpy(p, "heap");
	printf("%s %d\n", p, in[0] % 3);
	free(p);
	if (in[0] == 0x5a)
		free(p);
}
