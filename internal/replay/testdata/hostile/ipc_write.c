// writes to System V objects of the host
#include "hostile.h"
int main() {
	char *p = shmat(num("SHM"), 0, 0);
	if (p != (void *)-1) strcpy(p, "owned");
	struct sembuf up = {0, 1, IPC_NOWAIT};
	semop(num("SEM"), &up, 1);
	struct { long type; char text[8]; } m = {1, "owned"};
	msgsnd(num("MSG"), &m, sizeof m.text, IPC_NOWAIT);
	return 0;
}
