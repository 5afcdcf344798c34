// What a processor of x86-64-v3 has, on symbolic bytes, with a signal in between.
#include <immintrin.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static volatile sig_atomic_t hits;

__attribute__((target("avx2"))) static void handler(int sig)
{
	__asm__ volatile("vpxor %%ymm5, %%ymm5, %%ymm5" ::: "xmm5");
	hits++;
}

__attribute__((target("avx2,bmi,bmi2,fma"))) static int look(const unsigned char *b)
{
	unsigned char out[32];
	signal(SIGUSR1, handler);
	__asm__ volatile("vmovdqu %1, %%ymm5\n"
			 "mov $39, %%eax\nsyscall\n" // getpid
			 "mov %%eax, %%edi\nmov $10, %%esi\nmov $62, %%eax\nsyscall\n" // kill
			 "vmovdqu %%ymm5, %0"
			 : "=m"(out)
			 : "m"(*(const unsigned char(*)[32])b)
			 : "rax", "rdi", "rsi", "rcx", "r11", "xmm5", "memory");
	__m256i v = _mm256_loadu_si256((void *)out);
	unsigned hit = _mm256_movemask_epi8(_mm256_cmpeq_epi8(v, _mm256_set1_epi8('x')));
	if (hits == 1 && _tzcnt_u32(hit) == 20)
		return 1;
	if (_pext_u32(b[0], 0x55) == 9)
		return 2;
	return 0;
}

int main(void)
{
	unsigned char b[32] = {0};
	if (!__builtin_cpu_supports("avx2")) {
		puts("no AVX2");
		return 0;
	}
	if (read(0, b, 32) != 32)
		return 0;
	printf("%d\n", look(b));
	return 0;
}
