// takes the kernel's memory with System V messages of one byte
#include "hostile.h"
int main() {
	struct { long type; char b[1]; } m = {1, {0}};
	long n = 0;
	for (int i = 0; i < 2000; i++) {
		int q = msgget(IPC_PRIVATE, 0600);
		if (q < 0) break;
		while (msgsnd(q, &m, 1, IPC_NOWAIT) == 0) n++;
		if (n > 24000000) { escaped("1.5 GiB of messages"); break; }
	}
	sleep(60);
	return 0;
}
