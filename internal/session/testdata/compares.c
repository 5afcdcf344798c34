// Functions for which glibc has code of SSE4.2, on symbolic strings.
#include <stdio.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

int main(void)
{
	char b[17];
	int n = read(0, b, 12);
	b[n < 0 ? 0 : n] = 0;
	if (strcspn(b, "@#") == 5)
		puts("five");
	else if (strspn(b, "abc") > 3)
		puts("abc");
	if (strncmp(b, "hello", 5) == 0)
		puts("hello");
	if (!strcasecmp(b, "Quit"))
		puts("quit");
	return 0;
}
