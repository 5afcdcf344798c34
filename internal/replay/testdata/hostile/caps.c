// takes back rights
#include "hostile.h"
int main() {
	if (getuid() != 0 && setuid(0) == 0) escaped("setuid");
	if (setresuid(4321, 4321, 4321) == 0) escaped("setresuid");
	gid_t g[] = {0, 5, 6};
	if (syscall(SYS_setgroups, 3, g) == 0) escaped("setgroups");
	uint32_t header[2] = {0x20080522, 0}, data[6] = {~0u, ~0u, ~0u, ~0u, ~0u, ~0u};
	if (syscall(SYS_capset, header, data) == 0) escaped("capset");
	if (syscall(SYS_capget, header, data) == 0 && (data[0] | data[1])) escaped("capabilities");
	for (int cap = 0; cap < 41; cap++) {
		// Whoever has no rights at all may not drop it either, and gains nothing from it.
		if (strcmp(var("KIND"), "namespaces") == 0 && prctl(PR_CAPBSET_READ, cap, 0, 0, 0) == 1) escaped("the bounding set");
		if (prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_RAISE, cap, 0, 0) == 0) escaped("ambient");
	}
	prctl(PR_SET_NO_NEW_PRIVS, 0, 0, 0, 0);
	if (prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0) != 1) escaped("no_new_privs");
	if (prctl(PR_GET_SECCOMP, 0, 0, 0, 0) != 2) escaped("seccomp");
	return 0;
}
