/* rep movsb, rep stosb, repne scasb and repe cmpsb with a symbolic count or text. */
#include <stdio.h>
#include "test.h"

void test(unsigned char *in)
{
	char to[20] = "................", *d = to;
	const char *s = "abcdefghijklmnop", *found = s, *a = s, *b = "abcxefgh";
	unsigned long n = in[0] & 15, left = 16, same = in[0] >> 5;
	__asm__ volatile("rep movsb" : "+D"(d), "+S"(s), "+c"(n) : : "memory");
	n = in[0] >> 6;
	__asm__ volatile("rep stosb" : "+D"(d), "+c"(n) : "a"('#') : "memory");
	__asm__ volatile("repne scasb" : "+D"(found), "+c"(left) : "a"(in[0]) : "memory", "cc");
	__asm__ volatile("repe cmpsb" : "+D"(a), "+S"(b), "+c"(same) : : "memory", "cc");
	printf("%.16s %lu %lu\n", to, left, same);
}
