/* a sum of positive numbers is negative */
#include "bomb.h"

int main(void)
{
	int32_t x = word();
	if (x > 0 && (int32_t)((uint32_t)x + 1000) < 0)
		bomb();
}
