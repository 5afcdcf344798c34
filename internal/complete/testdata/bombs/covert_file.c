/* the value goes through a file */
#include "bomb.h"

int main(void)
{
	int32_t x = word(), y = 0;
	FILE *f = tmpfile();
	fprintf(f, "%c%c", x & 255, x >> 8 & 255);
	rewind(f);
	y = fgetc(f);
	y = y * 256 + fgetc(f);
	if (y == 0x4c42)
		bomb();
}
