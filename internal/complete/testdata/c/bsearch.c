/* bsearch in a sorted table. */
#include <stdio.h>
#include <stdlib.h>
#include "test.h"

static int order(const void *a, const void *b)
{
	return *(int *)a - *(int *)b;
}

void test(unsigned char *in)
{
	static const int primes[] = {2, 3, 5, 7, 11, 13, 17, 19, 23, 29, 31};
	int key = in[0];
	int *p = bsearch(&key, primes, 11, sizeof key, order);
	printf("%ld\n", p ? p - primes : -1);
}
