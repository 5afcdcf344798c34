// What the hostile programs know of the host: hostile_test.go says what each variable is.
#pragma once
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/ioctl.h>
#include <sys/ipc.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/msg.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/sem.h>
#include <sys/shm.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/timex.h>
#include <sys/uio.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <sys/xattr.h>

static inline const char *var(const char *name) { const char *v = getenv(name); return v ? v : "0"; }
static inline int num(const char *name) { return atoi(var(name)); }
static inline const char *in(const char *dir, const char *name) {
	static char buf[8][4096];
	static int i;
	char *b = buf[i++ % 8];
	snprintf(b, 4096, "%s/%s", dir, name);
	return b;
}
// canary is a file in the folder that has to stay as it is.
static inline const char *canary(const char *name) { return in(var("DIR"), name); }
// escaped says that something worked that must not.
static inline void escaped(const char *what) { printf("ESCAPED %s\n", what); fflush(stdout); }
static inline void put(const char *path, const char *text) {
	int fd = open(path, O_WRONLY | O_CREAT | O_APPEND | O_NOCTTY | O_NONBLOCK, 0644);
	if (fd >= 0) { if (write(fd, text, strlen(text)) < 0) {} close(fd); }
}
