/* the size of an allocation is symbolic */
#include "bomb.h"

int main(void)
{
	uint32_t n = (uint32_t)word() % 1024;
	char *p = malloc(n + 1);
	memset(p, 'a', n);
	p[n] = 0;
	if (strlen(p) == 777)
		bomb();
}
