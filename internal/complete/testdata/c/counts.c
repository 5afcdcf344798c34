/* A histogram: read, add, write through symbolic indices. */
#include <stdio.h>
#include "test.h"

void test(unsigned char *in)
{
	int count[16] = {0}, most = 0;
	for (int i = 0; i < 2; i++) {
		count[in[i] & 15]++;
		count[in[i] >> 4]++;
	}
	for (int i = 0; i < 16; i++)
		most = most > count[i] ? most : count[i];
	printf("%d\n", most);
}
