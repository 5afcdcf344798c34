// Functions of libc that look through memory, for which it has code of AVX2, on symbolic bytes.
#include <stdio.h>
#include <string.h>
#include <unistd.h>

int main(void)
{
	char b[41];
	int n = read(0, b, 40);
	b[n < 0 ? 0 : n] = 0;
	char *at = memchr(b, '@', 40);
	if (at && at - b == 5)
		puts("at");
	if (strlen(b) == 7)
		puts("seven");
	if (memcmp(b + 20, "0123456789", 10) == 0)
		puts("digits");
	return 0;
}
