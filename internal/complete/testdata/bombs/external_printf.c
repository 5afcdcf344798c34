/* the text that printf makes of a number is compared */
#include "bomb.h"

int main(void)
{
	char s[16];
	snprintf(s, sizeof s, "%d", word());
	if (strcmp(s, "-7429") == 0)
		bomb();
}
