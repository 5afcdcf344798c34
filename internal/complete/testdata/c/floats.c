/* Floating point on a small range. */
#include <math.h>
#include <stdio.h>
#include "test.h"

void test(unsigned char *in)
{
	int n = in[0] % 24;
	double x = (n - 8) / 4.0;
	float y = (float)n * 0.1f;
	printf("%.3f %g %d %d %ld\n", sqrt(fabs(x)), y, x < y, (int)x, lrint(x * 2.5));
}
