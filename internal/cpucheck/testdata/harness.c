// Executes instruction bytes on the processor: reads records from standard
// input, writes them back as they are afterwards. A batch is a count and so many
// records. The record is State of state.go; the code runs at CODE. What follows it jumps to leave,
// elsewhere on its page are int3; a signal is needed for those and for faults only.
#define _GNU_SOURCE
#include <asm/prctl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
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

struct rec {
	uint64_t gpr[16]; // hardware order
	uint64_t flags, rip, sig, len;
	uint8_t code[64];
	uint8_t fx[512];
	uint8_t data[1024];
	uint8_t stack[512];
} __attribute__((aligned(16)));

// At a fixed low address, so that leave needs no register to reach it.
#define REC 0x61730000UL
#define r (*(struct rec *)REC)
static sigjmp_buf back;
uint64_t entry = CODE + ENTRY, sp, bp;

void enter(struct rec *);
void leave(void);
__asm__(
"enter:\n"
"	push %rbx\n"
"	push %r12\n"
"	push %r13\n"
"	push %r14\n"
"	push %r15\n"
"	mov %rsp, sp(%rip)\n"
"	mov %rbp, bp(%rip)\n"
"	fxrstor64 224(%rdi)\n"
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
"	fxsave64 0x617300e0\n"
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
	r.sig = sig;
	if (sig == SIGTRAP) { // the int3 after the code
		r.sig = 0;
		r.rip--;
	}
	siglongjmp(back, 1);
}

int main(void) {
	int rwx = PROT_READ | PROT_WRITE | PROT_EXEC, how = MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED;
	mmap((void *)DATA, 4096, PROT_READ | PROT_WRITE, how, -1, 0);
	mmap((void *)STACK, 4096, PROT_READ | PROT_WRITE, how, -1, 0);
	mmap((void *)CODE, 4096, rwx, how, -1, 0);
	mmap((void *)REC, 4096, PROT_READ | PROT_WRITE, how, -1, 0);
	syscall(SYS_arch_prctl, ARCH_SET_GS, DATA + WINDOW);
	static char alt[65536];
	stack_t ss = {.ss_sp = alt, .ss_size = sizeof alt};
	sigaltstack(&ss, 0);
	struct sigaction sa = {.sa_sigaction = stop, .sa_flags = SA_SIGINFO | SA_ONSTACK | SA_NODEFER};
	int sigs[] = {SIGTRAP, SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGALRM};
	for (int i = 0; i < 6; i++)
		sigaction(sigs[i], &sa, 0);
	setvbuf(stdin, 0, _IOFBF, 1 << 20);
	setvbuf(stdout, 0, _IOFBF, 1 << 20);
	uint64_t n;
	while (fread(&n, sizeof n, 1, stdin)) {
		int first = 1;
		alarm(30); // a guest that does not end; the test fails then
		for (; n > 0 && fread(&r, sizeof r, 1, stdin); n--) {
			memset((void *)DATA, 0, 4096);
			memset((void *)STACK, 0, 4096);
			memcpy((void *)(DATA + WINDOW), r.data, sizeof r.data);
			memcpy((void *)(STACK + WINDOW), r.stack, sizeof r.stack);
			if (first) { // the code is the same in all of the batch
				memset((void *)CODE, 0xcc, 4096);
				uint8_t *end = (uint8_t *)(CODE + ENTRY) + r.len;
				memcpy((void *)(CODE + ENTRY), r.code, r.len);
				memcpy(end, "\xff\x25\0\0\0\0", 6); // jmp *0(%rip)
				*(void **)(end + 6) = leave;
				first = 0;
			}
			if (!sigsetjmp(back, 0)) {
				enter(&r);
				r.sig = 0;
				r.rip = CODE + ENTRY + r.len;
			}
			memcpy(r.data, (void *)(DATA + WINDOW), sizeof r.data);
			memcpy(r.stack, (void *)(STACK + WINDOW), sizeof r.stack);
			fwrite(&r, sizeof r, 1, stdout);
		}
		fflush(stdout);
	}
	return 0;
}
