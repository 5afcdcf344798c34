// slows the processes of the host
#include "hostile.h"
int main() {
	int v = num("VICTIM");
	setpriority(PRIO_PROCESS, v, 10);
	syscall(SYS_ioprio_set, 1, v, (3 << 13));
	cpu_set_t one;
	CPU_ZERO(&one);
	CPU_SET(0, &one);
	sched_setaffinity(v, sizeof one, &one);
	struct sched_param p = {0};
	sched_setscheduler(v, SCHED_BATCH, &p);
	struct rlimit r = {10, 10};
	prlimit(v, RLIMIT_NOFILE, &r, 0);
	prlimit(num("TEST"), RLIMIT_MEMLOCK, &r, 0);
	char path[64];
	snprintf(path, sizeof path, "/proc/%d/oom_score_adj", v);
	put(path, "500");
	return 0;
}
