// mounts
#include "hostile.h"
int main() {
	if (mount("none", "/tmp", "tmpfs", 0, 0) == 0) escaped("tmpfs");
	if (mount(var("DIR"), "/mnt", 0, MS_BIND, 0) == 0) escaped("bind");
	if (mount(0, "/", 0, MS_REMOUNT | MS_BIND, 0) == 0) escaped("remount");
	if (mount(0, "/", 0, MS_REC | MS_SHARED, 0) == 0) escaped("propagation");
	if (umount2("/proc/sys", MNT_DETACH) == 0) escaped("umount");
	if (syscall(SYS_pivot_root, ".", ".") == 0) escaped("pivot_root");
	if (chroot(".") == 0) escaped("chroot");
	if (syscall(428, AT_FDCWD, "/", 1) >= 0) escaped("open_tree");
	if (syscall(430, "tmpfs", 0) >= 0) escaped("fsopen");
	uint64_t attr[4] = {0, MS_RDONLY, 0, 0};
	if (syscall(442, AT_FDCWD, "/", 0, attr, 32) == 0) escaped("mount_setattr");
	return 0;
}
