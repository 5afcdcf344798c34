/* the value goes through a command of the shell */
#include "bomb.h"

int main(void)
{
	char command[] = "test ? = 7";
	unsigned char c = word();
	command[5] = c;
	if (c > ' ' && c < 127 && strchr("0123456789", c) && system(command) == 0)
		bomb();
}
