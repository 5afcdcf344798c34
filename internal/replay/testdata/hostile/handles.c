// opens files by handle, past all mounts
#include "hostile.h"
int main() {
	struct { struct file_handle h; char room[128]; } f = {{.handle_bytes = 128}};
	int mount_id;
	name_to_handle_at(AT_FDCWD, "/etc/passwd", &f.h, &mount_id, 0);
	if (open_by_handle_at(open("/", O_RDONLY), &f.h, O_RDONLY) >= 0) escaped("a handle");
	if (syscall(SYS_fanotify_init, 0, O_RDONLY) >= 0) escaped("fanotify");
	return 0;
}
