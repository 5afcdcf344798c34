// The naive search for a word of three letters in ten bytes.
#include <stdio.h>
__attribute__((noinline)) static int find(const char *s, int n, const char *w, int m) {
	for (int i = 0; i + m <= n; i++) {
		int k = 0;
		while (k < m && s[i + k] == w[k]) k++;
		if (k == m) return i;
	}
	return -1;
}
int main() {
	char b[10];
	fread(b, 1, 10, stdin);
	return find(b, 10, "abc", 3) == 4;
}
