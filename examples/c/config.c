/* Planted bugs behind a configuration file and an environment variable:
 * level=N indexes far past a table when MODE begins with 'x'; a MODE of three characters with a file that begins
 * with '#' divides by zero.
 *
 *     gcc -O1 -o config examples/c/config.c
 *     symchef run --file app.conf:8 --env MODE:6 -- ./config
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const names[8] = {"off", "fatal", "error", "warn", "info", "debug", "trace", "all"};

int main(void)
{
	char line[16] = "";
	FILE *f = fopen("app.conf", "r");
	if (!f)
		return 2;
	size_t n = fread(line, 1, sizeof line - 1, f);
	fclose(f);
	line[n] = 0;
	const char *mode = getenv("MODE");
	if (line[0] == '#') {
		printf("%d\n", 10 / ((int)strlen(mode ? mode : "") - 3));
		return 0;
	}
	if (strncmp(line, "level=", 6) == 0 && line[6] >= '0' && line[6] <= '7') {
		const char *name = names[(line[6] - '0') * (mode && *mode == 'x' ? 100000 : 1)];
		puts(name);
		return 0;
	}
	return 1;
}
