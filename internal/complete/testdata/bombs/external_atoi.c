/* text is converted by the C library */
#include "bomb.h"

int main(void)
{
	char s[8] = {0};
	read(0, s, 4);
	if (atoi(s) == 742)
		bomb();
}
