// removes and makes POSIX queues
#include "hostile.h"
int main() {
	syscall(SYS_mq_unlink, var("MARK"));
	syscall(SYS_mq_open, in(var("MARK"), "left") + strlen(var("MARK")) + 1, O_CREAT | O_RDWR, 0666, 0);
	unlink(in("/dev/mqueue", var("MARK")));
	return 0;
}
