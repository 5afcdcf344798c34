/* two threads change the value one after the other */
#include "bomb.h"

#include <pthread.h>

static uint32_t x;

static void *twice(void *p)
{
	x = x * 2 + 1;
	return p;
}

static void *plus(void *p)
{
	x += 1000;
	return p;
}

int main(void)
{
	pthread_t a, b;
	x = word();
	pthread_create(&a, 0, twice, 0);
	pthread_join(a, 0);
	pthread_create(&b, 0, plus, 0);
	pthread_join(b, 0);
	if (x == 0x12345679)
		bomb();
}
