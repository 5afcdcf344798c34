// Sorts eight bytes and looks whether they are then a row of neighbours.
#include <stdio.h>
int main() {
	unsigned char b[8];
	fread(b, 1, 8, stdin);
	for (int i = 1; i < 8; i++)
		for (int k = i; k > 0 && b[k - 1] > b[k]; k--) {
			unsigned char t = b[k];
			b[k] = b[k - 1];
			b[k - 1] = t;
		}
	for (int i = 1; i < 8; i++)
		if (b[i] != b[i - 1] + 1) return 1;
	return 0;
}
