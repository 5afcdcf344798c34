// Threads, signals and timers while a program starts.
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t cond = PTHREAD_COND_INITIALIZER;
static sem_t never;
static int turns, done;
static char order[64];
static volatile int rang;
static double sum;
static __thread int own;

static void bell(int sig) { rang = rang * 31 + sig; }

static void *worker(void *arg) {
	char name = *(char *)arg;
	char *m = malloc(1000 + name);
	memset(m, name, 1000);
	for (int i = 0; i < 5; i++) {
		pthread_mutex_lock(&lock);
		order[turns++] = name;
		own += i;
		sum += 1.0 / (own + name);
		pthread_cond_broadcast(&cond);
		if (i < 4) {
			struct timespec t;
			clock_gettime(CLOCK_REALTIME, &t);
			t.tv_nsec += 2000000;
			if (t.tv_nsec >= 1000000000) t.tv_sec++, t.tv_nsec -= 1000000000;
			pthread_cond_timedwait(&cond, &lock, &t);
		}
		pthread_mutex_unlock(&lock);
	}
	pthread_mutex_lock(&lock);
	done++;
	pthread_mutex_unlock(&lock);
	return m;
}

static void *idle(void *arg) {
	sem_wait(&never); // alive when the test begins
	order[turns++] = '!';
	return arg;
}

int main(int argc, char **argv) {
	struct itimerval often = {{0, 300}, {0, 500}}, off = {{0, 0}, {0, 0}};
	struct sigaction sa = {.sa_handler = bell};
	pthread_t t[4], waits;
	char *left[4];
	sigset_t set;
	int sig = 0;
	sigaction(SIGALRM, &sa, NULL);
	sigaction(SIGUSR1, &sa, NULL);
	sem_init(&never, 0, 0);
	pthread_create(&waits, NULL, idle, "x");
	for (int i = 0; i < 4; i++) pthread_create(&t[i], NULL, worker, "abcd" + i);
	raise(SIGUSR1);
	setitimer(ITIMER_REAL, &often, NULL);
	pause();
	for (int i = 0; i < 2000; i++) getppid();
	struct timespec nap = {0, 3000000};
	while (nanosleep(&nap, &nap) && errno == EINTR);
	setitimer(ITIMER_REAL, &off, NULL);
	for (int i = 0; i < 4; i++) pthread_join(t[i], (void **)&left[i]);
	sigemptyset(&set);
	sigaddset(&set, SIGUSR2);
	sigprocmask(SIG_BLOCK, &set, NULL);
	kill(getpid(), SIGUSR2);
	sigwait(&set, &sig);
	int f = open("/dev/symchef", O_RDWR);
	printf("%d %s %d %d %d %g %s\n", f >= 0, order, done, rang, sig, sum, left[2] + 995);
	sem_post(&never);
	pthread_join(waits, NULL);
	printf("%s\n", order);
	return turns;
}
