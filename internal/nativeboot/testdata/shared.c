// Shared memory while a program starts: without a name, of files, of System V; left mapped when the test begins.
#define _GNU_SOURCE
#include <fcntl.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/shm.h>
#include <unistd.h>

struct common {
	pthread_mutex_t lock;
	sem_t turn;
	int n;
	void *self;
};

static struct common *c;

static void *adder(void *arg) {
	for (int i = 0; i < 100; i++) {
		pthread_mutex_lock(&c->lock);
		c->n += *(char *)arg;
		pthread_mutex_unlock(&c->lock);
		sem_post(&c->turn);
	}
	return arg;
}

static unsigned sum(void *p, int n) {
	unsigned s = n;
	for (int i = 0; i < n; i++) s = s * 31 + ((unsigned char *)p)[i];
	return s;
}

int main(int argc, char **argv) {
	const int rw = PROT_READ | PROT_WRITE;
	c = mmap(0, 5000, rw, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	pthread_mutexattr_t attr;
	pthread_mutexattr_init(&attr);
	pthread_mutexattr_setpshared(&attr, PTHREAD_PROCESS_SHARED);
	pthread_mutex_init(&c->lock, &attr);
	sem_init(&c->turn, 1, 0);
	c->self = c;
	pthread_t t;
	pthread_create(&t, NULL, adder, "a");
	for (int i = 0; i < 100; i++) sem_wait(&c->turn);
	pthread_join(t, NULL);

	// A file that grows, by two mappings, read(2) and write(2).
	int f = open("/dev/shm/one", O_RDWR | O_CREAT, 0600);
	ftruncate(f, 10000);
	char *p = mmap(0, 12288, rw, MAP_SHARED, f, 0), *q = mmap(0, 4096, rw, MAP_SHARED, f, 8192), text[12] = "";
	strcpy(p + 8200, "by p");
	strcat(q + 8, ", q");
	pwrite(f, "W", 1, 8202);
	char seen = p[8202];
	pread(f, text, 11, 8200);
	p[8203]++;
	pread(f, text, 11, 8200);
	ftruncate(f, 20000);
	pwrite(f, "behind", 6, 15000);
	char *r = mmap(0, 8192, PROT_READ, MAP_SHARED, f, 12288);
	unlink("/dev/shm/one");
	mprotect(q, 4096, PROT_READ);
	char *private = mmap(0, 8192, rw, MAP_PRIVATE, f, 8192);
	private[0] = 'x';
	munmap(p, 4096);

	// One that shrinks and grows again.
	int g = open("/dev/shm/two", O_RDWR | O_CREAT, 0600);
	ftruncate(g, 8192);
	char *u = mmap(0, 8192, rw, MAP_SHARED, g, 0);
	u[5000] = u[100] = 'u';
	munmap(u, 8192);
	ftruncate(g, 4096);
	ftruncate(g, 8192);
	u = mmap(0, 8192, rw, MAP_SHARED, g, 0);

	// One of the host's, changed.
	int h = open(argv[1], O_RDWR);
	char *old = mmap(0, 8192, rw, MAP_SHARED, h, 4096);
	memset(old + 100, 'h', 300);
	memset(old + 4096, 0, 4096);

	int id = shmget(IPC_PRIVATE, 9000, IPC_CREAT | 0600), gone = shmget(IPC_PRIVATE, 9000, IPC_CREAT | 0600);
	char *v = shmat(id, NULL, 0), *w = shmat(gone, NULL, 0);
	memset(v + 3000, 'v', 5000);
	memset(w, 'w', 9000);
	shmdt(w);
	shmctl(gone, IPC_RMID, NULL);
	char *again = mmap(0, 9000, rw, MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	int d = open("/dev/symchef", O_RDWR);
	printf("%c %d %d\n", seen, u[5000], u[100]);
	printf("%d %d %d %s %s %s %.6s %c\n", d >= 0, c->n, c->self == c, text, p + 8200, q + 8, r + 15000 - 12288, private[0]);
	printf("%u %u %u %u\n", sum(old, 8192), sum(v, 9000), sum(again, 9000), sum(private, 8192));
	pthread_create(&t, NULL, adder, "b");
	pthread_join(t, NULL);
	strcpy(p + 8200, "later");
	if (fork() == 0) {
		c->n++;
		v[0] = '!';
		_exit(0);
	}
	usleep(1000);
	printf("%d %s %c\n", c->n, q + 8, v[0]);
	ftruncate(f, 1);
	return c->n & 63;
}
