/* only another order of two threads than the scheduler's leads to the bomb */
#include "bomb.h"

#include <pthread.h>

static volatile int turn;

static void *other(void *p)
{
	turn = 1;
	return p;
}

int main(void)
{
	pthread_t a;
	pthread_create(&a, 0, other, 0);
	int before = turn;
	for (volatile int i = 0; i < 1000; i++)
		;
	int after = turn;
	pthread_join(a, 0);
	if (!before && after && word() == 7)
		bomb();
}
