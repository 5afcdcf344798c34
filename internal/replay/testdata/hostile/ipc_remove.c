// removes System V objects of the host
#include "hostile.h"
int main() {
	shmctl(num("SHM"), IPC_RMID, 0);
	semctl(num("SEM"), 0, IPC_RMID);
	msgctl(num("MSG"), IPC_RMID, 0);
	shmctl(shmget(num("IPCKEY"), 0, 0), IPC_RMID, 0);
	msgctl(msgget(num("IPCKEY"), 0), IPC_RMID, 0);
	return 0;
}
