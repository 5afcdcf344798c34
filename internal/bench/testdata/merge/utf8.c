// Counts the code points of eight bytes, or says that they are not UTF-8.
#include <stdio.h>
__attribute__((noinline)) static int decode(const unsigned char *s, int n, unsigned *sum) {
	int points = 0;
	for (int i = 0; i < n; points++) {
		unsigned c = s[i++], more = 0;
		if (c >= 0xf0 && c < 0xf5) more = 3, c &= 7;
		else if (c >= 0xe0 && c < 0xf0) more = 2, c &= 15;
		else if (c >= 0xc2 && c < 0xe0) more = 1, c &= 31;
		else if (c >= 0x80) return -1;
		while (more--) {
			if (i == n || (s[i] & 0xc0) != 0x80) return -1;
			c = c << 6 | (s[i++] & 63);
		}
		*sum += c;
	}
	return points;
}
int main() {
	unsigned char b[8];
	unsigned sum = 0;
	fread(b, 1, 8, stdin);
	int n = decode(b, 8, &sum);
	if (n < 0) return 1;
	return n == 5 && sum == 1000 ? 2 : 0;
}
