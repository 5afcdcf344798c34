// Four comparisons with early exit, and how many of them agree.
#include <stdio.h>
__attribute__((noinline)) static int compare(const unsigned char *a, const unsigned char *b, int n) {
	for (int i = 0; i < n; i++)
		if (a[i] != b[i]) return a[i] - b[i];
	return 0;
}
int main() {
	unsigned char b[16];
	int same = 0;
	fread(b, 1, 16, stdin);
	for (int i = 0; i < 16; i += 4) same += compare(b + i, (const unsigned char *)"GET ", 4) == 0;
	return same > 2;
}
