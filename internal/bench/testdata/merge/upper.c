// Changes the case of letters in place, and counts classes of characters.
#include <stdio.h>
int main() {
	char b[12];
	int letters = 0, digits = 0;
	fread(b, 1, 12, stdin);
	for (int i = 0; i < 12; i++)
		if (b[i] >= 'a' && b[i] <= 'z') b[i] -= 32, letters++;
		else if (b[i] >= '0' && b[i] <= '9') digits++;
	fwrite(b, 1, 12, stdout);
	return letters == 4 && digits == 3;
}
