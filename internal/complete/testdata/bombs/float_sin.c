/* the sine of 32 bits is above a bound that few values reach */
#include "bomb.h"

#include <math.h>

int main(void)
{
	if (sin(word()) > 0.9999999)
		bomb();
}
