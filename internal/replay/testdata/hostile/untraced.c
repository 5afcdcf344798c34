// starts processes that nobody is told of, which live on
#include "hostile.h"
int main() {
	for (int i = 0; i < 4; i++) {
		long pid = syscall(SYS_clone, CLONE_UNTRACED | SIGCHLD, 0, 0, 0, 0);
		if (pid == 0) { setsid(); if (fork() == 0) { sleep(90); _exit(0); } sleep(90); _exit(0); }
	}
	return 0;
}
