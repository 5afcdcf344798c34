// Reads lines "FUNCTION HEX HEX BYTE N" and prints what the C library returns: pointers as offsets in the first
// operand, -1 for NULL.
#define _GNU_SOURCE
#include <stdio.h>
#include <string.h>

static int unhex(const char *s, unsigned char *to) {
	int n = 0;
	for (unsigned v; sscanf(s + 2 * n, "%2x", &v) == 1; n++)
		to[n] = v;
	return n;
}

int main(void) {
	char f[16], x[4096], y[4096];
	static unsigned char a[4096], b[4096];
	int k;
	size_t n;
	while (scanf("%15s %4095s %4095s %d %zu", f, x, y, &k, &n) == 5) {
		unhex(x, a);
		unhex(y, b);
		void *volatile p = NULL;
		long v = 0, where = 0;
		if (!strcmp(f, "memcmp")) v = memcmp(a, b, n);
		else if (!strcmp(f, "strcmp")) v = strcmp((char *)a, (char *)b);
		else if (!strcmp(f, "strncmp")) v = strncmp((char *)a, (char *)b, n);
		else if (!strcmp(f, "strlen")) v = strlen((char *)a);
		else if (!strcmp(f, "strnlen")) v = strnlen((char *)a, n);
		else if (!strcmp(f, "strspn")) v = strspn((char *)a, (char *)b);
		else if (!strcmp(f, "strcspn")) v = strcspn((char *)a, (char *)b);
		else if (!strcmp(f, "strpbrk")) p = strpbrk((char *)a, (char *)b), where = 1;
		else if (!strcmp(f, "memchr")) p = memchr(a, k, n), where = 1;
		else if (!strcmp(f, "memrchr")) p = memrchr(a, k, n), where = 1;
		else if (!strcmp(f, "strchr")) p = strchr((char *)a, k), where = 1;
		else return 1;
		printf("%ld\n", where ? p ? (unsigned char *)p - a : -1 : v);
	}
}
