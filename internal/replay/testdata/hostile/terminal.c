// types into the terminals of the host
#include "hostile.h"
int main() {
	int fds[] = {open(var("PTS"), O_RDWR | O_NOCTTY), open(var("PTS"), O_RDONLY | O_NOCTTY), open("/dev/tty", O_RDWR), open(var("PTS"), O_RDWR), 0, 1, 2};
	for (int i = 0; i < 7; i++) {
		ioctl(fds[i], TIOCSCTTY, 1);
		for (const char *c = "owned\n"; *c; c++) if (ioctl(fds[i], TIOCSTI, c) == 0) escaped("TIOCSTI");
		struct winsize w = {1, 1, 1, 1};
		if (i < 4) ioctl(fds[i], TIOCSWINSZ, &w);
		int ldisc = 3;
		if (ioctl(fds[i], TIOCSETD, &ldisc) == 0) escaped("TIOCSETD");
		char op = 10;
		if (ioctl(fds[i], TIOCLINUX, &op) == 0) escaped("TIOCLINUX");
	}
	put(var("PTS"), "owned");
	return 0;
}
