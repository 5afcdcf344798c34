// The length of a string, byte by byte; what follows asks for it twice.
#include <stdio.h>
__attribute__((noinline)) static unsigned length(const char *s) { const char *p = s; while (*p) p++; return p - s; }
int main() {
	char b[33] = {0};
	fread(b, 1, 32, stdin);
	unsigned n = length(b);
	if (n == 7) puts("seven");
	return n > 20;
}
