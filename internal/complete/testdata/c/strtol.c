/* strtol in three bases, with its end pointer. */
#include <stdio.h>
#include <stdlib.h>
#include "test.h"

void test(unsigned char *in)
{
	char text[] = {'-', '1', in[0], 'z', 0}, *end;
	long n = strtol(text, &end, 0);
	printf("%ld %ld %d %ld\n", n, strtol(text + 1, 0, 16), (int)(end - text), strtol(text + 2, 0, 36));
}
