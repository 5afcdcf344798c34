// takes memory of the kernel: what waits in queues of sockets
#include "hostile.h"
int main() {
	static char block[1 << 16];
	for (long sum = 0; sum < 700 << 20;) {
		int s[2], most = 1 << 30;
		if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, s)) break;
		setsockopt(s[0], SOL_SOCKET, SO_SNDBUF, &most, sizeof most);
		for (long n; (n = write(s[0], block, sizeof block)) > 0 && sum < 700 << 20;) { sum += n; if (sum % (16 << 20) == 0) usleep(1000); }
	}
	sleep(60);
	return 0;
}
