/* A bomb ends in abort for some inputs. Its first line is what docs/logic-bombs.md says of it. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define bomb() abort()

/* word returns four bytes of standard input as a number; 0 at its end. */
static inline int32_t word(void)
{
	int32_t x = 0;
	return read(0, &x, 4) > 0 ? x : 0;
}
