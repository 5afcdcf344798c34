/* strtok, and the length of what strcpy and strcat build. */
#include <stdio.h>
#include <string.h>
#include "test.h"

void test(unsigned char *in)
{
	char s[16] = {'x', in[0], 'y', in[1], 'z', 0}, t[32] = "";
	int n = 0;
	for (char *p = strtok(s, ",;"); p; p = strtok(0, ",;"), n++)
		strcat(strcat(t, p), "-");
	printf("%d %zu\n", n, strlen(t));
}
