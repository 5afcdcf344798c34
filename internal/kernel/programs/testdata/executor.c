// The executor runs programs of system calls. The same file runs in the machine and on Linux: it reads programs from standard input, runs each in a
// process of its own, and writes what came of it to standard output. Package programs says what a program is.
//
// gcc -O1 -static -nostdlib -fno-pic -no-pie -fno-stack-protector -mno-red-zone executor.c

typedef unsigned long u64;
typedef unsigned int u32;
typedef unsigned char u8;

enum { MAX_STEPS = 128, MAX_TASKS = 8, MAX_SIGNALS = 32, ARENA = 1 << 18 };

// A value is one that is known (FIXED), the result of a step, or what stands in memory as an int; and add to it.
enum { FIXED, RESULT, WORD };
struct value {
	u64 tag, v, add;
};

enum { END, CALL, STORE, FORK, THREAD, VFORK, PEEK, POKE };
struct step {
	u64 kind, nr;
	struct value arg[6];
};

// What comes in, before the steps and the bytes of the arena.
struct head {
	u64 steps, bytes, limit; // limit: nanoseconds
	u64 start[MAX_TASKS];    // the first step of each task
};

struct signal {
	u64 sig, code, pid, value;
};

// What goes out, before the arena.
struct outcome {
	u64 status, stuck, signals;
	u64 ran[MAX_STEPS], result[MAX_STEPS];
	struct signal signal[MAX_SIGNALS];
};

// Fixed addresses: arguments point into the arena.
struct head head;
struct step steps[MAX_STEPS];
u8 stacks[MAX_TASKS][8192] __attribute__((aligned(64)));
#define shared ((struct outcome *)0x20000000ul)
#define arena ((u8 *)0x30000000ul)

static inline u64 call6(u64 nr, u64 a, u64 b, u64 c, u64 d, u64 e, u64 f) {
	u64 r;
	register u64 r10 __asm__("r10") = d;
	register u64 r8 __asm__("r8") = e;
	register u64 r9 __asm__("r9") = f;
	__asm__ volatile("syscall" : "=a"(r) : "a"(nr), "D"(a), "S"(b), "d"(c), "r"(r10), "r"(r8), "r"(r9) : "rcx", "r11", "memory");
	return r;
}
#define call3(nr, a, b, c) call6(nr, (u64)(a), (u64)(b), (u64)(c), 0, 0, 0)

enum { READ = 0, WRITE = 1, MMAP = 9, SIGACTION = 13, SIGPROCMASK = 14, PWRITE = 18, CLONE = 56, CHDIR = 80, EXIT = 60, WAIT4 = 61, KILL = 62, SIGTIMEDWAIT = 128, SETPGID = 109, EXIT_GROUP = 231, CLOSE_RANGE = 436 };

// The C library's, which the compiler may call.
void *memset(void *p, int c, u64 n) {
	void *q = p;
	__asm__ volatile("rep stosb" : "+D"(q), "+c"(n) : "a"(c) : "memory");
	return p;
}
void *memcpy(void *p, const void *from, u64 n) {
	u8 *q = p;
	for (const u8 *s = from; n--;)
		*q++ = *s++;
	return p;
}

__asm__(".globl restorer\nrestorer: mov $15, %eax\nsyscall\n");

void handler(int sig, u64 *info, void *context) {
	u64 i = __sync_fetch_and_add(&shared->signals, 1);
	if (i >= MAX_SIGNALS)
		call3(EXIT_GROUP, 99, 0, 0);
	struct signal *s = &shared->signal[i];
	s->sig = sig;
	s->code = (u32)info[1];
	s->pid = info[2];   // si_pid and si_uid, si_addr, si_timerid
	s->value = info[3]; // si_status, si_value
	if (sig == 11 || sig == 7) // SIGSEGV and SIGBUS would come again
		call3(EXIT_GROUP, 98, 0, 0);
}

void plain(int sig) {
	u64 info[4] = {sig};
	handler(sig, info, 0);
}

static u64 value(struct value v) {
	switch (v.tag) {
	case RESULT:
		return shared->result[v.v] + v.add;
	case WORD:
		return *(int *)v.v + v.add;
	}
	return v.v;
}

void task(u64 n);

// spawn makes a task with a stack of its own.
static u64 spawn(u64 flags, u64 n) {
	u64 *top = (u64 *)(stacks[n] + sizeof stacks[n] - 72);
	*top = n;
	u64 r;
	register u64 r10 __asm__("r10") = 0;
	register u64 r8 __asm__("r8") = 0;
	__asm__ volatile("syscall\ntest %%rax, %%rax\njnz 1f\npop %%rdi\ncall task\nud2\n1:"
		: "=a"(r) : "a"(CLONE), "D"(flags), "S"(top), "d"(0), "r"(r10), "r"(r8) : "rcx", "r11", "memory");
	return r;
}

void task(u64 n) {
	for (struct step *s = &steps[head.start[n]]; s->kind != END; s++) {
		u64 i = s - steps, r = 0, a[6];
		shared->ran[i]++;
		for (int k = 0; k < 6; k++)
			a[k] = value(s->arg[k]);
		switch (s->kind) {
		case CALL:
			r = call6(s->nr, a[0], a[1], a[2], a[3], a[4], a[5]);
			break;
		case STORE:
			for (u64 k = 0; k < s->nr; k++)
				((u8 *)a[0])[k] = a[1] >> 8 * k;
			break;
		case FORK:
			r = spawn(17, a[0]);
			break;
		case THREAD:
			r = spawn(0x10f00 | 0x40000, a[0]); // VM, FS, FILES, SIGHAND, THREAD, SYSVSEM
			break;
		case VFORK:
			r = spawn(0x4100 | 17, a[0]);
			break;
		case PEEK:
			r = *(volatile u8 *)a[0];
			break;
		case POKE:
			*(volatile u8 *)a[0] = a[1];
			break;
		}
		shared->result[i] = r;
		shared->ran[i]++;
	}
	call3(EXIT, 0, 0, 0);
}

static int transfer(u64 nr, u64 fd, void *at, u64 n) {
	for (u64 done = 0; done < n;) {
		long r = call3(nr, fd, (u8 *)at + done, n - done);
		if (r <= 0)
			return 0;
		done += r;
	}
	return 1;
}

struct action {
	u64 handler, flags, restorer, mask;
};

void serve(void) {
	u64 used = 0, again = 0, none = 0, child = 1 << 16, status;
	struct action standard = {0};
	u64 end = 17, mask = ~0ul; // SIGCHLD: the signal by which the first process of a program tells its end; on Linux nothing else comes to this process
	if ((long)call6(PWRITE, 3, (u64) "1\n", 2, 0, 0, 0) > 0) { // not in the machine, where all signals are as they should be
		for (int sig = 1; sig <= 64; sig++)
			call6(SIGACTION, sig, (u64)&standard, 0, 8, 0, 0);
		standard.flags = 2; // SA_NOCLDWAIT: orphans are reaped at once, as in the machine, and not when this process runs next
		call6(SIGACTION, 17, (u64)&standard, 0, 8, 0, 0);
		end = 34; // so that the first process is not
		child |= 1ul << 33;
		mask = child;
	}
	call6(MMAP, (u64)shared, sizeof *shared, 3, 0x31, -1, 0); // shared, anonymous, fixed
	call6(MMAP, (u64)arena, ARENA, 3, 0x31, -1, 0);
	while (transfer(READ, 0, &head, sizeof head)) {
		if (again) { // the program before has left something
			memset(shared, 0, sizeof *shared);
			memset(arena, 0, used);
		}
		used = head.bytes, again = 1;
		for (int i = 0; i < MAX_STEPS; i++)
			shared->result[i] = -1ul;
		if (!transfer(READ, 0, steps, head.steps * sizeof *steps) || !transfer(READ, 0, arena, head.bytes))
			break;
		call6(SIGPROCMASK, 2, (u64)&mask, 0, 8, 0, 0);
		call6(PWRITE, 3, (u64) "1\n", 2, 0, 0, 0); // the last process of this namespace, so that the next is 2
		u64 pid = call6(CLONE, end, 0, 0, 0, 0, 0);
		if (pid == 0) {
			standard.flags = 0;
			call6(SIGACTION, 17, (u64)&standard, 0, 8, 0, 0);
			call6(SIGPROCMASK, 2, (u64)&none, 0, 8, 0, 0);
			call3(CLOSE_RANGE, 0, ~0u, 0);
			call3(SETPGID, 0, 0, 0);
			call3(CHDIR, "w", 0, 0);
			task(0);
		}
		u64 limit[2] = {head.limit / 1000000000, head.limit % 1000000000};
		for (long got;;) {
			while ((got = call6(WAIT4, -1ul, (u64)&status, 0x40000001, 0, 0, 0)) > 0) // WNOHANG, __WALL
				if (got == pid)
					shared->status = (u32)status;
			if (got < 0)
				break;
			if ((long)call6(SIGTIMEDWAIT, (u64)&child, 0, (u64)limit, 8, 0, 0) == -11) {
				shared->stuck = 1;
				call3(KILL, -1ul, 9, 0);
				limit[0] = 1000;
			}
		}
		if (!transfer(WRITE, 1, shared, sizeof *shared) || !transfer(WRITE, 1, arena, head.bytes))
			break;
	}
	call3(EXIT_GROUP, 0, 0, 0);
}

__asm__(".globl _start\n_start: and $-16, %rsp\ncall serve\n");
