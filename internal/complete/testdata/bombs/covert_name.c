/* the name of a file to open is symbolic */
#include "bomb.h"

int main(void)
{
	char name[16] = "/dev/";
	read(0, name + 5, 4);
	if (access(name, F_OK) == 0 && strcmp(name, "/dev/null") == 0)
		bomb();
}
