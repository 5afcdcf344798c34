/* a decimal number in text lies in a narrow interval (strtod) */
#include "bomb.h"

int main(void)
{
	char s[8] = {0};
	read(0, s, 4);
	double x = strtod(s, 0);
	if (x > 3.13 && x < 3.15)
		bomb();
}
