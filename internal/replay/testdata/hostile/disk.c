// fills the disk with files, named and nameless
#include "hostile.h"
int main() {
	static char block[1 << 20], name[4096];
	memset(block, 1, sizeof block);
	const char *dirs[] = {".", var("HOME"), getenv("TMPDIR") ? getenv("TMPDIR") : "/tmp", "/var/tmp", var("DIR")};
	long written = 0;
	for (int i = 0; i < 200; i++) {
		snprintf(name, sizeof name, "%s/%s%d", dirs[i % 5], var("MARK"), i);
		int fd = open(name, O_CREAT | O_RDWR, 0600);
		for (int k = 0; k < 4 && fd >= 0; k++) { long n = write(fd, block, sizeof block); if (n > 0) written += n; usleep(1000); }
		if (i % 2) unlink(name); else close(fd);
	}
	if (written >> 20 > 200) escaped("200 MiB of files");
	return 0;
}
