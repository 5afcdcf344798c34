/* an index into an array comes from another array */
#include "bomb.h"

int main(void)
{
	static const int l1[] = {6, 4, 9, 1, 0, 3, 8, 2, 7, 5};
	static const int l2[] = {5, 0, 8, 2, 9, 6, 1, 3, 4, 7};
	if (l1[l2[(uint32_t)word() % 10]] == 9)
		bomb();
}
