/* A planted crash behind four byte comparisons on standard input.
 *
 * Exactly 6 classes of (outcome, output) over 4 bytes: one line for each of the
 * four comparisons that can fail first, one for input shorter than 4 bytes, and
 * the abort (SIGABRT, nothing printed) for "BUG!". With all 4 bytes present: 5.
 *
 *   cc -O1 -static -o crash crash.c && symchef run --stdin 4 -- ./crash
 */
#include <stdlib.h>
#include <unistd.h>

static void say(const char *s, size_t n)
{
	if (write(1, s, n) < 0)
		_exit(2);
}

int main(void)
{
	unsigned char b[4];

	if (read(0, b, sizeof b) != (ssize_t)sizeof b) {
		say("short\n", 6);
		return 0;
	}
	if (b[0] != 'B') {
		say("byte 0\n", 7);
		return 0;
	}
	if (b[1] != 'U') {
		say("byte 1\n", 7);
		return 0;
	}
	if (b[2] != 'G') {
		say("byte 2\n", 7);
		return 0;
	}
	if (b[3] != '!') {
		say("byte 3\n", 7);
		return 0;
	}
	abort();
}
