// renames the host
#include "hostile.h"
int main() {
	if (sethostname("owned", 5) == 0) escaped("sethostname");
	if (setdomainname("owned", 5) == 0) escaped("setdomainname");
	return 0;
}
