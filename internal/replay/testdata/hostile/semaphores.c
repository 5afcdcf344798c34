// takes the kernel's memory with System V semaphores
#include "hostile.h"
int main() {
	for (int i = 0; i < 1000; i++) { // 2 MiB each
		if (semget(IPC_PRIVATE, 32000, 0600) < 0) break;
		if (i == 999) escaped("2 GiB of semaphores");
	}
	sleep(60);
	return 0;
}
