/* loop N: calls test on every value of N bytes, in order, and writes for each the status of
   wait(2), the length of its output, both in 32 bits, and the output. A child runs one value
   after the other until one ends it. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>
#include "test.h"

static int results;

/* record writes what is on standard output, a memory file, and empties it. */
static void record(uint32_t status)
{
	char text[1 << 16];
	uint32_t head[2] = {status, lseek(1, 0, SEEK_END)};
	pread(1, text, head[1], 0);
	if (ftruncate(1, 0) || lseek(1, 0, SEEK_SET) || write(results, head, 8) != 8 || write(results, text, head[1]) != head[1])
		abort();
}

int main(int argc, char **argv)
{
	int size = atoi(argv[1]), status;
	uint32_t n = 1u << 8 * size;
	uint32_t *at = mmap(0, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	results = dup(1);
	dup2(memfd_create("output", 0), 1);
	dup2(open("/dev/null", O_WRONLY), 2);
	for (; *at < n; ++*at) {
		if (fork() == 0) {
			for (; *at < n; ++*at) {
				unsigned char in[16] = {0};
				for (int i = 0; i < size; i++)
					in[i] = *at >> 8 * (size - 1 - i);
				test(in);
				fflush(stdout);
				record(0);
			}
			_exit(0);
		}
		wait(&status);
		if (*at < n)
			record(status);
	}
	return 0;
}
