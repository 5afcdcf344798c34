// is a few hundred sleeping processes
#include "hostile.h"
int main() {
	for (int n = 0; n < 400; n++) if (fork() == 0) { sleep(60); _exit(0); }
	sleep(60);
	return 0;
}
