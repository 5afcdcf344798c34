// makes control groups
#include "hostile.h"
int main() {
	const char *trees[] = {"", "/memory", "/pids", "/cpu", "/unified", "/systemd", "/devices", "/freezer"};
	for (int i = 0; i < 8; i++) {
		char path[300];
		snprintf(path, sizeof path, "/sys/fs/cgroup%s/%s", trees[i], var("MARK"));
		mkdir(path, 0755);
		snprintf(path, sizeof path, "/sys/fs/cgroup%s/release_agent", trees[i]);
		if (open(path, O_WRONLY) >= 0) escaped(path);
		snprintf(path, sizeof path, "/sys/fs/cgroup%s/cgroup.procs", trees[i]);
		if (open(path, O_WRONLY) >= 0) escaped(path);
	}
	return 0;
}
