// sets the clock
#include "hostile.h"
int main() {
	struct timespec t;
	clock_gettime(CLOCK_REALTIME, &t);
	t.tv_sec += 3600;
	if (clock_settime(CLOCK_REALTIME, &t) == 0) escaped("clock_settime");
	struct timeval v = {t.tv_sec, 0};
	if (settimeofday(&v, 0) == 0) escaped("settimeofday");
	struct timex x = {.modes = ADJ_FREQUENCY, .freq = 1};
	if (adjtimex(&x) >= 0) escaped("adjtimex");
	if (clock_adjtime(CLOCK_REALTIME, &x) >= 0) escaped("clock_adjtime");
	return 0;
}
