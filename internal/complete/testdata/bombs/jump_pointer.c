/* a pointer to a function comes from a table */
#include "bomb.h"

static void never(void) {}
static void boom(void) { bomb(); }

int main(void)
{
	static void (*const table[])(void) = {never, never, never, never, boom, never, never};
	table[(uint32_t)word() % 7]();
}
