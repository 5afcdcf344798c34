// Executes instruction bytes on the processor. File descriptor 3 is memory shared with cpu.go: two halves, each a
// header, the states before and the states after. A byte on standard input names the half to run; it comes back on
// standard output when that is done. The code runs at CODE. What follows it jumps to leave, elsewhere on
// its page are int3; a signal is needed for those and for faults only.
#define _GNU_SOURCE
#include <asm/prctl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <ucontext.h>
#include <unistd.h>

#define DATA 0x10000000UL
#define STACK 0x20000000UL
#define CODE 0x30000000UL
#define WINDOW 0x800
#define ENTRY 0x800

struct regs {
	uint64_t gpr[16]; // hardware order
	uint64_t flags, rip, sig, unused[5];
	uint8_t fx[512]; // from here on what xsave stores
	uint64_t xstate[8];
	uint8_t upper[256];
} __attribute__((aligned(64)));

// State of state.go.
struct state {
	struct regs regs;
	uint8_t data[1024];
	uint8_t stack[512];
};

#define STATES 256
struct half {
	uint64_t count, len;
	uint8_t code[64];
	uint8_t unused[48];
	struct state before[STATES], after[STATES];
};

// At a fixed low address, so that leave needs no register to reach it.
#define REGS 0x61730000UL
#define r (*(struct regs *)REGS)
static sigjmp_buf back;
uint64_t entry = CODE + ENTRY, sp, bp, avx;

void enter(struct regs *);
void leave(void), leave_avx(void); // of a processor without and with AVX
__asm__(
"enter:\n"
"	push %rbx\n"
"	push %r12\n"
"	push %r13\n"
"	push %r14\n"
"	push %r15\n"
"	mov %rsp, sp(%rip)\n"
"	mov %rbp, bp(%rip)\n"
"	cmpq $0, avx(%rip)\n"
"	je 1f\n"
"	mov $7, %eax\n"
"	mov $0, %edx\n"
"	xrstor64 192(%rdi)\n"
"	jmp 2f\n"
"1:	fxrstor64 192(%rdi)\n"
"2:\n"
"	pushq 128(%rdi)\n"
"	popfq\n"
"	mov 0(%rdi), %rax\n"
"	mov 8(%rdi), %rcx\n"
"	mov 16(%rdi), %rdx\n"
"	mov 24(%rdi), %rbx\n"
"	mov 32(%rdi), %rsp\n"
"	mov 40(%rdi), %rbp\n"
"	mov 48(%rdi), %rsi\n"
"	mov 64(%rdi), %r8\n"
"	mov 72(%rdi), %r9\n"
"	mov 80(%rdi), %r10\n"
"	mov 88(%rdi), %r11\n"
"	mov 96(%rdi), %r12\n"
"	mov 104(%rdi), %r13\n"
"	mov 112(%rdi), %r14\n"
"	mov 120(%rdi), %r15\n"
"	mov 56(%rdi), %rdi\n"
"	jmp *entry(%rip)\n"
"leave:\n"
"	mov %rax, 0x61730000\n"
"	mov %rcx, 0x61730008\n"
"	mov %rdx, 0x61730010\n"
"	mov %rbx, 0x61730018\n"
"	mov %rsp, 0x61730020\n"
"	mov %rbp, 0x61730028\n"
"	mov %rsi, 0x61730030\n"
"	mov %rdi, 0x61730038\n"
"	mov %r8, 0x61730040\n"
"	mov %r9, 0x61730048\n"
"	mov %r10, 0x61730050\n"
"	mov %r11, 0x61730058\n"
"	mov %r12, 0x61730060\n"
"	mov %r13, 0x61730068\n"
"	mov %r14, 0x61730070\n"
"	mov %r15, 0x61730078\n"
"	fxsave64 0x617300c0\n"
"left:\n"
"	mov sp(%rip), %rsp\n"
"	mov bp(%rip), %rbp\n"
"	pushfq\n"
"	popq 0x61730080\n"
"	fninit\n"
"	movl $0x1f80, -8(%rsp)\n"
"	ldmxcsr -8(%rsp)\n"
"	cld\n"
"	pop %r15\n"
"	pop %r14\n"
"	pop %r13\n"
"	pop %r12\n"
"	pop %rbx\n"
"	ret\n"
"leave_avx:\n"
"	mov %rax, 0x61730000\n"
"	mov %rcx, 0x61730008\n"
"	mov %rdx, 0x61730010\n"
"	mov %rbx, 0x61730018\n"
"	mov %rsp, 0x61730020\n"
"	mov %rbp, 0x61730028\n"
"	mov %rsi, 0x61730030\n"
"	mov %rdi, 0x61730038\n"
"	mov %r8, 0x61730040\n"
"	mov %r9, 0x61730048\n"
"	mov %r10, 0x61730050\n"
"	mov %r11, 0x61730058\n"
"	mov %r12, 0x61730060\n"
"	mov %r13, 0x61730068\n"
"	mov %r14, 0x61730070\n"
"	mov %r15, 0x61730078\n"
"	mov $7, %eax\n"
"	mov $0, %edx\n"
"	xsave64 0x617300c0\n"
"	vzeroupper\n"
"	jmp left\n"
);

static const int order[16] = {
	REG_RAX, REG_RCX, REG_RDX, REG_RBX, REG_RSP, REG_RBP, REG_RSI, REG_RDI,
	REG_R8, REG_R9, REG_R10, REG_R11, REG_R12, REG_R13, REG_R14, REG_R15,
};

// The kernel gives handlers a fresh x87 and MXCSR state, so leaving by longjmp leaves the guest's behind.
static void stop(int sig, siginfo_t *si, void *p) {
	ucontext_t *u = p;
	for (int i = 0; i < 16; i++)
		r.gpr[i] = u->uc_mcontext.gregs[order[i]];
	r.flags = u->uc_mcontext.gregs[REG_EFL];
	r.rip = u->uc_mcontext.gregs[REG_RIP];
	memcpy(r.fx, u->uc_mcontext.fpregs, 512);
	if (avx) {
		memcpy(r.xstate, (char *)u->uc_mcontext.fpregs + 512, sizeof r.xstate + sizeof r.upper);
		if (!(r.xstate[0] & 4))
			memset(r.upper, 0, sizeof r.upper);
	}
	r.sig = sig;
	if (sig == SIGTRAP) { // the int3 after the code
		r.sig = 0;
		r.rip--;
	}
	siglongjmp(back, 1);
}

// Puts a state's memory onto a page; around it are zeros.
static void put(uint64_t page, const uint8_t *from, uint64_t size) {
	memset((void *)page, 0, WINDOW);
	memcpy((void *)(page + WINDOW), from, size);
	memset((void *)(page + WINDOW + size), 0, 4096 - WINDOW - size);
}

static void run(struct half *h) {
	memset((void *)CODE, 0xcc, 4096);
	uint8_t *end = (uint8_t *)(CODE + ENTRY) + h->len;
	memcpy((void *)(CODE + ENTRY), h->code, h->len);
	memcpy(end, "\xff\x25\0\0\0\0", 6); // jmp *0(%rip)
	*(void **)(end + 6) = avx ? leave_avx : leave;
	alarm(30); // a guest that does not end; the test fails then
	for (volatile uint64_t i = 0; i < h->count; i++) {
		struct state *before = &h->before[i], *after = &h->after[i];
		put(DATA, before->data, sizeof before->data);
		put(STACK, before->stack, sizeof before->stack);
		if (!sigsetjmp(back, 0)) {
			enter(&before->regs);
			r.sig = 0;
			r.rip = CODE + ENTRY + h->len;
		}
		memcpy(&after->regs, &r, sizeof r);
		memcpy(after->data, (void *)(DATA + WINDOW), sizeof after->data);
		memcpy(after->stack, (void *)(STACK + WINDOW), sizeof after->stack);
	}
}

int main(void) {
	int rwx = PROT_READ | PROT_WRITE | PROT_EXEC, how = MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED;
	mmap((void *)DATA, 4096, PROT_READ | PROT_WRITE, how, -1, 0);
	mmap((void *)STACK, 4096, PROT_READ | PROT_WRITE, how, -1, 0);
	mmap((void *)CODE, 4096, rwx, how, -1, 0);
	mmap((void *)REGS, 4096, PROT_READ | PROT_WRITE, how, -1, 0);
	struct half *halves = mmap(0, 2 * sizeof *halves, PROT_READ | PROT_WRITE, MAP_SHARED, 3, 0);
	if (halves == MAP_FAILED)
		return 1;
	syscall(SYS_arch_prctl, ARCH_SET_GS, DATA + WINDOW);
	avx = __builtin_cpu_supports("avx") != 0;
	static char alt[65536];
	stack_t ss = {.ss_sp = alt, .ss_size = sizeof alt};
	sigaltstack(&ss, 0);
	struct sigaction sa = {.sa_sigaction = stop, .sa_flags = SA_SIGINFO | SA_ONSTACK | SA_NODEFER};
	int sigs[] = {SIGTRAP, SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGALRM};
	for (int i = 0; i < 6; i++)
		sigaction(sigs[i], &sa, 0);
	char which;
	while (read(0, &which, 1) == 1) {
		run(&halves[which & 1]);
		alarm(0);
		write(1, &which, 1);
	}
	return 0;
}
