// Copies the words of a line to places of their own: where a word starts decides what is written where.
#include <stdio.h>
#include <string.h>
int main() {
	char b[8], out[8][9];
	int n = 0, k = 0;
	memset(out, 0, sizeof out);
	fread(b, 1, 8, stdin);
	for (int i = 0; i < 8; i++)
		if (b[i] != ' ') out[n][k++] = b[i];
		else if (k > 0) n++, k = 0;
	for (int i = 0; i <= n && i < 8; i++)
		if (strcmp(out[i], "if") == 0) return 2;
	return n > 2;
}
