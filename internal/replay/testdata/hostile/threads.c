// makes threads without end
#include "hostile.h"
int main() {
	pthread_attr_t a;
	pthread_attr_init(&a);
	pthread_attr_setstacksize(&a, PTHREAD_STACK_MIN);
	pthread_t t;
	int n = 0;
	while (pthread_create(&t, &a, (void *(*)(void *))pause, 0) == 0) n++;
	if (n > 1000) escaped("1000 threads");
	return 0;
}
