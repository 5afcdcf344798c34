// A product of what bytes choose: without a choice each path has constants, merged the solver has a product of eight variables.
#include <stdio.h>
int main() {
	unsigned char b[8];
	unsigned v = 1;
	fread(b, 1, 8, stdin);
	for (int i = 0; i < 8; i++)
		if (b[i] > 100) v *= 2 * i + 3;
		else v = v * v + i;
	return v % 17 == 5;
}
