// writes the sysctls of the host
#include "hostile.h"
int main() {
	const char *names[] = {"/proc/sys/vm/swappiness", "/proc/sys/kernel/panic_on_oops", "/proc/sys/kernel/domainname", "/proc/sys/fs/protected_hardlinks"};
	const char *values[] = {"61", "1", "owned", "0"};
	for (int i = 0; i < 4; i++) {
		int fd = open(names[i], O_WRONLY);
		if (fd >= 0 && write(fd, values[i], strlen(values[i])) > 0) escaped(names[i]);
		char path[200];
		snprintf(path, sizeof path, "/proc/1/root%s", names[i]);
		fd = open(path, O_WRONLY);
		if (fd >= 0 && write(fd, values[i], strlen(values[i])) > 0) escaped(path);
	}
	if (mount("none", "/proc/sys", 0, MS_REMOUNT | MS_BIND, 0) == 0) escaped("remount");
	if (mount("proc", "/tmp", "proc", 0, 0) == 0) escaped("proc");
	return 0;
}
