/* a float of 32 bits has to have one value */
#include "bomb.h"

int main(void)
{
	double x = word();
	if (x * 0.5 == 12345678.5)
		bomb();
}
