// reads, clears and leaves the session keyring of the caller
#include "hostile.h"
int main() {
	long key = syscall(SYS_keyctl, 10 /* search */, -3 /* session */, "user", var("MARK"), 0);
	char text[64];
	if (key > 0 && syscall(SYS_keyctl, 11 /* read */, key, text, sizeof text) > 0) escaped("the key");
	syscall(SYS_keyctl, 3 /* revoke */, num("KEY"));
	syscall(SYS_keyctl, 9 /* unlink */, num("KEY"), -3);
	if (syscall(SYS_keyctl, 7 /* clear */, -3) == 0) escaped("clear");
	return 0;
}
