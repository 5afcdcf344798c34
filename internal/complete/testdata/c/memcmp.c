/* memcmp, strcmp, strcasecmp and memchr. */
#include <stdio.h>
#include <string.h>
#include <strings.h>
#include "test.h"

static int sign(int n)
{
	return (n > 0) - (n < 0);
}

void test(unsigned char *in)
{
	char s[] = {'K', in[0], 'y', 0};
	printf("%d %d %d %d\n", sign(memcmp(s, "Key", 3)), sign(strcmp(s, "Kz")), sign(strcasecmp(s, "kEY")), memchr(s, 0, 3) != 0);
}
