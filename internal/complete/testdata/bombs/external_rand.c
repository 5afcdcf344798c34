/* the seed of rand(3) is symbolic */
#include "bomb.h"

int main(void)
{
	srand((uint32_t)word() % 500);
	if (rand() % 500 == 77)
		bomb();
}
