/* the value goes to another process through shared memory */
#include "bomb.h"

#include <sys/mman.h>
#include <sys/wait.h>

int main(void)
{
	volatile int32_t *p = mmap(0, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	*p = word();
	if (fork() == 0) {
		*p *= 3;
		_exit(0);
	}
	wait(0);
	if (*p == 30003)
		bomb();
}
