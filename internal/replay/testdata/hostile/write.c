// writes through every door to a file
#include "hostile.h"
int main() {
	const char *f = canary("file");
	put(f, "owned");
	char path[64];
	snprintf(path, sizeof path, "/proc/self/fd/%d", open(f, O_RDONLY));
	put(path, "owned");
	snprintf(path, sizeof path, "/proc/self/fd/%d", open(f, O_PATH));
	put(path, "owned");
	put(in("/proc/self/root", f), "owned");
	put(in("/proc/self/cwd/../../../../../../..", f), "owned");
	put(in("/proc/1/root", f), "owned");
	char *p = mmap(0, 5, PROT_READ | PROT_WRITE, MAP_SHARED, open(f, O_RDWR), 0);
	if (p != MAP_FAILED) memcpy(p, "owned", 5);
	symlink(f, "alias");
	put("alias", "owned");
	if (link(f, "hard") == 0) put("hard", "owned");
	return 0;
}
