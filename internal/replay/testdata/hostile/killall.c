// signals everybody
#include "hostile.h"
int main() {
	signal(SIGTERM, SIG_IGN);
	signal(SIGUSR1, SIG_IGN);
	kill(-1, SIGUSR1);
	kill(-1, SIGTERM);
	if (getppid() > 1) kill(getppid(), SIGSTOP);
	kill(1, SIGKILL);
	kill(0, SIGUSR1);
	return 0;
}
