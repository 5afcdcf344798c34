/* strstr, strchr, strrchr and strspn. */
#include <stdio.h>
#include <string.h>
#include "test.h"

static int at(const char *s, const char *p)
{
	return p ? p - s : -1;
}

void test(unsigned char *in)
{
	char s[] = {'a', in[0], 'a', 'b', in[1], 0};
	printf("%d %d %d %zu\n", at(s, strstr(s, "ab")), at(s, strchr(s, 'b')), at(s, strrchr(s, 'a')), strspn(s, "ab"));
}
