// leaves System V objects behind
#include "hostile.h"
int main() {
	shmget(num("IPCKEY") + 1, 4096, IPC_CREAT | 0666);
	semget(num("IPCKEY") + 1, 1, IPC_CREAT | 0666);
	msgget(num("IPCKEY") + 1, IPC_CREAT | 0666);
	return 0;
}
