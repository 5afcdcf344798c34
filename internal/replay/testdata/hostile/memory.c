// takes memory with many processes, none of which takes much
#include "hostile.h"
int main() {
	for (int i = 0; i < 30; i++)
		if (fork() == 0) { memset(malloc(32 << 20), 1, 32 << 20); sleep(60); _exit(0); }
	sleep(60);
	return 0;
}
