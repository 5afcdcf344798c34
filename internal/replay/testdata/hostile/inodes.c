// makes files without end
#include "hostile.h"
int main() {
	char name[4096];
	int n = 0;
	for (; n < 200000; n++) {
		snprintf(name, sizeof name, "%s/%s%d", getenv("TMPDIR") ? getenv("TMPDIR") : ".", var("MARK"), n);
		if (mkdir(name, 0700)) break;
	}
	if (n == 200000) escaped("200000 folders");
	return 0;
}
