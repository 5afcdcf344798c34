// keeps its orphans from the supervisor, and stops
#include "hostile.h"
int main() {
	prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0);
	for (int i = 0; i < 20; i++)
		if (fork() == 0) { setsid(); if (fork()) _exit(0); signal(SIGHUP, SIG_IGN); sleep(1000); }
	raise(SIGSTOP);
	sleep(1000);
	return 0;
}
