// leaves files in the places of the host
#include "hostile.h"
int main() {
	const char *dirs[] = {"/", "/tmp", "/var/tmp", "/etc", "/root", "/home", "/usr", "/run", "/dev", "/dev/shm", "/opt", "/var", "/boot", "/srv", "/run/lock", "/var/spool/cron", "/etc/cron.d"};
	for (int i = 0; i < 17; i++) put(in(dirs[i], var("MARK")), "owned");
	put(in(var("HOME"), var("MARK")), "owned");
	put(in(var("HOME"), ".profile"), "owned");
	return 0;
}
