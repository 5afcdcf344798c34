/* Look-ups with a symbolic index in tables of several sizes, one after the other. */
#include <stdio.h>
#include "test.h"

static const unsigned char box[16] = {12, 5, 6, 11, 9, 0, 10, 13, 3, 14, 15, 8, 4, 7, 1, 2};
static const int wide[8] = {7, 70, 700, 7000, -7, -70, -700, -7000};

void test(unsigned char *in)
{
	unsigned char c = box[in[0] & 15] << 4 | box[in[0] >> 4];
	printf("%c%c %d\n", 'A' + box[c & 15], 'a' + box[c >> 4], wide[c & 7] > 60);
}
