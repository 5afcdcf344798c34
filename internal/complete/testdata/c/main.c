#include <unistd.h>
#include "test.h"

static unsigned char in[16];

int main(void)
{
	if (read(0, in, 8) < 0)
		return 99;
	test(in);
	return 0;
}
