// opens devices of the host
#include "hostile.h"
int main() {
	const char *names[] = {"/dev/mem", "/dev/kmsg", "/dev/port", "/dev/sda", "/dev/vda", "/dev/fuse", "/dev/kvm", "/dev/net/tun", "/dev/ttyS0", "/dev/console", "/dev/tty1", "/dev/loop-control", "/dev/mapper/control"};
	for (int i = 0; i < 13; i++) if (open(names[i], O_RDONLY | O_NOCTTY | O_NONBLOCK) >= 0) escaped(names[i]);
	if (mknod("disk", S_IFBLK | 0600, 0xfe00) == 0 && open("disk", O_RDONLY) >= 0) escaped("a device made");
	if (mknod("mem", S_IFCHR | 0600, 0x101) == 0 && open("mem", O_RDONLY) >= 0) escaped("a device made");
	return 0;
}
