// speaks to the services of the host
#include "hostile.h"
int main() {
	for (int type = SOCK_STREAM; type <= SOCK_DGRAM; type++) {
		struct sockaddr_in a = {.sin_family = AF_INET, .sin_port = htons(num("PORT")), .sin_addr = {htonl(INADDR_LOOPBACK)}};
		int s = socket(AF_INET, type, 0);
		if (s >= 0 && connect(s, (void *)&a, sizeof a) == 0 && write(s, "owned", 5) < 0) {}
		struct sockaddr_un u = {.sun_family = AF_UNIX};
		strncpy(u.sun_path, canary(type == SOCK_STREAM ? "socket" : "datagrams"), sizeof u.sun_path - 1);
		s = socket(AF_UNIX, type, 0);
		if (s >= 0 && connect(s, (void *)&u, sizeof u) == 0) escaped("a socket in the file system");
		struct sockaddr_un abstract = {.sun_family = AF_UNIX};
		int n = snprintf(abstract.sun_path + 1, 100, "%s", var("MARK"));
		s = socket(AF_UNIX, type, 0);
		if (s >= 0 && connect(s, (void *)&abstract, 3 + n) == 0) escaped("an abstract socket");
		int pair[2] = {-1, -1};
		if (socketpair(AF_UNIX, type, 0, pair) == 0 && sendto(pair[0], "owned", 5, MSG_NOSIGNAL, (void *)&u, sizeof u) == 5 && type == SOCK_DGRAM) escaped("a pair");
	}
	if (socket(AF_INET, SOCK_RAW, IPPROTO_ICMP) >= 0) escaped("a raw socket");
	if (socket(AF_PACKET, SOCK_RAW, 0) >= 0) escaped("a packet socket");
	if (socket(40 /* vsock */, SOCK_STREAM, 0) >= 0) escaped("a vsock");
	if (socket(38 /* alg */, SOCK_SEQPACKET, 0) >= 0) escaped("an alg socket");
	return 0;
}
