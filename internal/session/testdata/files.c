// Each value of its one byte of standard input does something else to files.
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
static void put(const char *name, const char *text, int mode) {
	int fd = open(name, O_CREAT | O_WRONLY | O_TRUNC, mode);
	if (fd < 0 || write(fd, text, strlen(text)) < 0) perror(name);
	close(fd);
}
int main(void) {
	char b[2] = "";
	read(0, b, 1);
	switch (b[0]) {
	case 'a': put("made", "text", 0644); break;
	case 'b': put("made", "texu", 0644); break;
	case 'c': put("made", "text", 0600); break;
	case 'd': put("there", "other", 0644); break;
	case 'e': put("there", "there", 0644); break; /* as it was */
	case 'f': unlink("there"); break;
	case 'g': chmod("there", 0400); break;
	case 'h': mkdir("dir", 0750); put("dir/x", "", 0644); break;
	case 'i': symlink("there", "link"); break;
	case 'j': { char t[] = "/tmp/obsXXXXXX"; int fd = mkstemp(t); write(fd, "tmp", 3); close(fd); break; }
	case 'k': { char t[] = "/tmp/obsdXXXXXX"; mkdtemp(t); strcat(t, "/file"); put(t, "x", 0644); break; }
	case 'l': rename("there", "moved"); break;
	case 'm': put("gone", "x", 0644); unlink("gone"); break; /* nothing */
	case 'n': unlink("sub/f"); rmdir("sub"); mkdir("sub", 0755); break;
	case 'o': mkfifo("fifo", 0644); break;
	case 'p': put("copy", b, 0644); break;
	case 'q': put("secret", "x", 0); break;
	case 'r': link("there", "hard"); break;
	case 's': truncate("there", 2); break;
	case 't': unlink("sub/f"); rmdir("sub"); put("sub", "now a file", 0644); break;
	case 'u': put("\xff\x80", "x", 0644); break;
	case 'v': chdir(getenv("HOME")); put(".obs", "x", 0644); break;
	case 'w': rename("sub", "other"); break;
	case 'x': if (rename("sub", "other")) perror("sub"); put("other/f", "more", 0600); rename("other", "third"); break;
	}
	return 0;
}
