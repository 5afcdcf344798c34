// leaves a process behind that belongs to nobody
#include "hostile.h"
int main() {
	if (fork()) return 0;
	setsid();
	if (fork()) return 0;
	for (int fd = 0; fd < 1024; fd++) close(fd);
	for (int s = 1; s < 65; s++) signal(s, SIG_IGN);
	prctl(PR_SET_PDEATHSIG, 0, 0, 0, 0);
	prctl(PR_SET_DUMPABLE, 0, 0, 0, 0);
	sleep(1000);
	return 0;
}
