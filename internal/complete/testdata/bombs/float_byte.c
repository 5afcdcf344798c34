/* a float of a small range has to have one value */
#include "bomb.h"

int main(void)
{
	float x = (unsigned char)word() / 10.0f;
	if (x + 0.1f == 0.8f)
		bomb();
}
