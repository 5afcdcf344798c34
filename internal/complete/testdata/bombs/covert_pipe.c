/* the value goes through a pipe to another process and back as its exit status */
#include "bomb.h"

#include <sys/wait.h>

int main(void)
{
	int32_t x = word(), y, status, p[2];
	pipe(p);
	if (fork() == 0) {
		read(p[0], &y, 4);
		_exit((y ^ 0x1234) == 0x7ace9 ? 42 : 0);
	}
	write(p[1], &x, 4);
	wait(&status);
	if (WEXITSTATUS(status) == 42)
		bomb();
}
