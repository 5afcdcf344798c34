/* an exception of the processor tells the value */
#include "bomb.h"

#include <signal.h>

static void caught(int n)
{
	bomb();
}

int main(void)
{
	signal(SIGFPE, caught);
	return 1000 / (word() - 77777) > 3;
}
