/* A dense switch, which becomes a jump table, and a sparse one. */
#include <stdio.h>
#include "test.h"

void test(unsigned char *in)
{
	switch (in[0] - 'a') {
	case 0: puts("alpha"); break;
	case 1: puts("beta"); break;
	case 2: case 3: puts("gamma or delta"); break;
	case 4: puts("epsilon"); /* and on */
	case 5: puts("zeta"); break;
	case 6: puts("eta"); break;
	case 7: puts("theta"); break;
	}
	switch (in[0] * 257) {
	case 257 * 9: puts("nine"); break;
	case 257 * 99: puts("ninety-nine"); break;
	case 257 * 199: puts("one hundred and ninety-nine"); break;
	}
}
