// executes a program that belongs to another and has the set-user-ID bit
#include "hostile.h"
int main() {
	if (fork() == 0) { execl(canary("asowner"), "id", "-u", (char *)0); _exit(1); }
	wait(0);
	execl("/usr/bin/su", "su", "-c", "echo ESCAPED su", "daemon", (char *)0);
	return 0;
}
