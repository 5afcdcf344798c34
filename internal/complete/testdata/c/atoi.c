/* atoi and strtoul at the edge of their range. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include "test.h"

void test(unsigned char *in)
{
	char text[] = "1844674407370955161?";
	text[19] = in[0];
	errno = 0;
	unsigned long n = strtoul(text, 0, 10);
	printf("%d %lu %d\n", atoi((char *)in), n, errno == ERANGE);
}
