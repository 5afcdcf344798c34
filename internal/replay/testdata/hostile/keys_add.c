// leaves a key behind
#include "hostile.h"
int main() {
	if (syscall(SYS_add_key, "user", in(var("MARK"), "left"), "x", 1, -4 /* user */) > 0) escaped("add_key");
	if (syscall(SYS_request_key, "user", var("MARK"), "", -4) > 0) escaped("request_key");
	return 0;
}
