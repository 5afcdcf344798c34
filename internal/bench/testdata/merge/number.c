// A decimal number with a sign.
#include <stdio.h>
__attribute__((noinline)) static int number(const char *p) {
	int v = 0, neg = 0;
	if (*p == '-') neg = 1, p++;
	while (*p >= '0' && *p <= '9') v = v * 10 + (*p++ - '0');
	return neg ? -v : v;
}
int main() {
	char b[9] = {0};
	fread(b, 1, 8, stdin);
	int v = number(b);
	return v == 12345 ? 2 : v < 0;
}
