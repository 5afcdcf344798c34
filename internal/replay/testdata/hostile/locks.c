// locks a file that others wait for, until it is ended
#include "hostile.h"
int main() {
	int fd = open(canary("file"), O_RDONLY);
	flock(fd, LOCK_EX | LOCK_NB);
	struct flock l = {.l_type = F_RDLCK};
	fcntl(fd, F_SETLK, &l);
	fcntl(fd, F_SETLEASE, F_RDLCK);
	sleep(60);
	return 0;
}
