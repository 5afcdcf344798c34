// takes memory with System V segments and /dev/shm
#include "hostile.h"
int main() {
	signal(SIGXFSZ, SIG_IGN);
	for (int i = 0; i < 60; i++) {
		int id = shmget(IPC_PRIVATE, 16 << 20, IPC_CREAT | 0600);
		char *p = id < 0 ? (void *)-1 : shmat(id, 0, 0);
		if (p == (void *)-1) break;
		memset(p, 1, 16 << 20);
		shmdt(p);
	}
	static char block[1 << 20];
	int fd = open(in("/dev/shm", var("MARK")), O_CREAT | O_RDWR, 0600);
	if (fd < 0) return 0;
	for (int k = 0; k < 400; k++) if (write(fd, block, sizeof block) < 0) {}
	sleep(60);
	return 0;
}
