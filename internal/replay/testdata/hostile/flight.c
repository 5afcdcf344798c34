// hides files of memory in the queue of a socket
#include "hostile.h"
int main() {
	static char block[1 << 20];
	memset(block, 1, sizeof block);
	int s[2];
	socketpair(AF_UNIX, SOCK_STREAM, 0, s);
	for (int i = 0; i < 60; i++) {
		int fd = memfd_create(var("MARK"), 0);
		for (int k = 0; k < 16; k++) if (write(fd, block, sizeof block) < 0) {}
		char x = 0, control[CMSG_SPACE(sizeof fd)] = {0};
		struct iovec v = {&x, 1};
		struct msghdr m = {.msg_iov = &v, .msg_iovlen = 1, .msg_control = control, .msg_controllen = sizeof control};
		struct cmsghdr *h = CMSG_FIRSTHDR(&m);
		h->cmsg_level = SOL_SOCKET, h->cmsg_type = SCM_RIGHTS, h->cmsg_len = CMSG_LEN(sizeof fd);
		memcpy(CMSG_DATA(h), &fd, sizeof fd);
		if (sendmsg(s[0], &m, MSG_DONTWAIT) < 0) return 0;
		close(fd);
	}
	sleep(60);
	return 0;
}
