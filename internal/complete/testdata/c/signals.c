/* A handler returns from SIGFPE by siglongjmp, one of raise by itself. */
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include "test.h"

static sigjmp_buf out;

static void caught(int n)
{
	siglongjmp(out, n);
}

static volatile int counted;

static void count(int n)
{
	counted = n;
}

void test(unsigned char *in)
{
	volatile int zero = in[0] & 0x18;
	signal(SIGFPE, caught);
	signal(SIGUSR2, count);
	int n = sigsetjmp(out, 1);
	if (n == 0)
		printf("%d\n", 100 / zero);
	else
		printf("signal %d\n", n);
	signal(SIGFPE, SIG_DFL);
	counted = 0;
	n = in[0];
	if (n > 99)
		raise(SIGUSR2);
	printf("%d %d\n", n > 199, counted);
	fflush(stdout);
	signal(SIGUSR1, SIG_DFL);
	if (in[0] == 200)
		raise(SIGUSR1);
}
