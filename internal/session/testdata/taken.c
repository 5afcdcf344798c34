// Its outcome is a part of what argv[1] names, of what a process takes. See TestTaken.
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <sys/times.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static struct timespec at(clockid_t id)
{
	struct timespec t = {0};
	clock_gettime(id, &t);
	return t;
}

static struct rusage of(int who)
{
	struct rusage r;
	getrusage(who, &r);
	return r;
}

// child makes one and waits for it.
static struct rusage child(void)
{
	struct rusage r;
	if (!fork()) {
		for (volatile int i = 0; i < 1000; i++)
			;
		_exit(0);
	}
	wait4(-1, NULL, 0, &r);
	return r;
}

// field is a number in /proc/self/stat, as proc(5) counts.
static long field(int n)
{
	char buf[2000] = "", *p;
	read(open("/proc/self/stat", O_RDONLY), buf, sizeof buf - 1);
	for (p = strrchr(buf, ')') + 2, n -= 3; n > 0; n--)
		p = strchr(p, ' ') + 1;
	return atol(p);
}

int main(int argc, char **argv)
{
	struct rusage r;
	struct tms tms;
	struct timespec t;
	struct itimerval it = {{0, 0}, {10, 0}};
	clock_t c;
	clockid_t id;
	int n = 0;
	switch (argv[1][0]) {
	case 'a': n = at(CLOCK_PROCESS_CPUTIME_ID).tv_nsec >> 14 & 1; break;
	case 'b': n = at(CLOCK_THREAD_CPUTIME_ID).tv_nsec >> 10 & 1; break;
	case 'c': n = clock() % 2; break;
	case 'd': n = of(RUSAGE_SELF).ru_minflt > 90; break;
	case 'e': n = of(RUSAGE_SELF).ru_utime.tv_usec % 3 == 0; break;
	case 'f': n = of(RUSAGE_SELF).ru_nivcsw > 0; break;
	case 'g': n = of(RUSAGE_SELF).ru_nvcsw % 2; break;
	case 'h': n = __builtin_ia32_rdtsc() >> 8 & 1; break;
	case 'i': times(&tms); n = tms.tms_utime % 2; break;
	case 'j': n = of(RUSAGE_THREAD).ru_utime.tv_usec % 2; break;
	case 'k': child(); r = of(RUSAGE_CHILDREN); n = r.ru_minflt % 2; break;
	case 'l': n = child().ru_minflt > 10; break;
	case 'm': n = field(14) % 2; break;
	case 'n': n = field(10) > 90; break;
	case 'o': clock_getcpuclockid(0, &id); n = at(id).tv_nsec >> 4 & 1; break;
	case 'p': t = at(CLOCK_MONOTONIC); n = (at(CLOCK_MONOTONIC).tv_nsec - t.tv_nsec) % 2; break;
	case 'q': c = clock(); for (volatile int i = 0; i < 1000; i++); n = (clock() - c) % 2; break;
	case 'r': setitimer(ITIMER_PROF, &it, NULL); getitimer(ITIMER_PROF, &it); n = it.it_value.tv_usec % 2; break;
	case 's': setitimer(ITIMER_REAL, &it, NULL); getitimer(ITIMER_REAL, &it); n = it.it_value.tv_usec % 2; break;
	case 'u': n = of(RUSAGE_SELF).ru_maxrss & 4; break;
	case 'v': child(); times(&tms); n = tms.tms_cutime % 2; break;
	case 'w': n = field(23) >> 13 & 1; break;
	case 'x': n = field(22) & 1; break;
	case 'y': clock_getres(CLOCK_REALTIME_COARSE, &t); n = t.tv_nsec; break;
	case 'A': at(CLOCK_PROCESS_CPUTIME_ID); of(RUSAGE_SELF); times(&tms); __builtin_ia32_rdtsc(); break;
	case 'B': c = clock(); n = clock() - c > CLOCKS_PER_SEC || clock() > 60 * CLOCKS_PER_SEC || at(CLOCK_PROCESS_CPUTIME_ID).tv_sec > 60; break;
	case 'C': n = of(RUSAGE_CHILDREN).ru_minflt; break;
	case 'D': clock_getres(CLOCK_PROCESS_CPUTIME_ID, &t); n = t.tv_nsec; break;
	}
	printf("%d\n", n);
}
