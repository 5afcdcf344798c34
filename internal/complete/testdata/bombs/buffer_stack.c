/* a string that is too long overwrites a neighbour on the stack */
#include "bomb.h"

int main(void)
{
	struct { char name[4]; char flag; } s = {{0}, 0};
	char in[9] = {0};
	read(0, in, 8);
	strcpy((char *)&s, in);
	if (s.flag == 'X' && s.name[0] == 'a')
		bomb();
	_exit(0);
}
