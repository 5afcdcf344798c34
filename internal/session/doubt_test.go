package session

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"symchef/internal/replay"
	"symchef/internal/rundir"
)

// TestDoubts guards that what agrees natively only because the sandbox looks like the machine, or by luck, is unstable and says on what it
// depends, in a run and in a replay afterwards.
func TestDoubts(t *testing.T) {
	needPython(t)
	const host = "it depends on the host (name, kernel, processors, memory, disk, limits): it agrees"
	for _, c := range []struct {
		name, text string
		program    bool
		want       string
	}{
		{"python", "import os, symchef\ndef test_it(b: symchef.Bool):\n  return os.uname().nodename\n", false, host},
		{"looks", "import os, symchef\ndef test_it(b: symchef.Bool):\n  return len(os.uname().nodename) > 0\n", false, ""},
		{"set", "import symchef\ndef test_it(b: symchef.Bool):\n  print({'a', 'b', 'cde', 'xyz'})\n", false, "it depends on the seed of hashes: "},
		{"hash", "import symchef\ndef test_it(b: symchef.Bool):\n  return hash('abc') % 1000\n", false, "it depends on the seed of hashes: "},
		{"bit", "#include <sys/auxv.h>\nint main(void) { return *(char *)getauxval(AT_RANDOM) & 1; }\n", true, "it depends on random numbers"},
		{"high bit", "int main(void) { int i; return (unsigned long)&i >> 32 & 1; }\n", true, "it depends on addresses"},
		{"blocks", "#include <fcntl.h>\n#include <stdio.h>\n#include <sys/stat.h>\n#include <unistd.h>\nint main(void) { struct stat s; int f = creat(\"/tmp/blocks\", 0600); write(f, \"abc\", 3); fstat(f, &s); " +
			"printf(\"%d\\n\", (int)s.st_blocks); symlink(\"abc\", \"/tmp/blocks.link\"); lstat(\"/tmp/blocks.link\", &s); printf(\"%d\\n\", (int)s.st_blocks); }\n", true, ""},
		{"way", "import os, symchef\ndef test_it(x: symchef.Int(0, 9)):\n  if os.getpid() > 5000:\n    assert x != 3\n  return 0\n", false, "its path depends on process ids"},
		{"no way", "import symchef, tempfile\ndef test_it(x: symchef.Int(0, 9)):\n  with tempfile.NamedTemporaryFile() as f:\n    f.write(b'x')\n  return {'a': 1, 'b': 2}.get('ab'[x > 3])\n", false, ""},
		{"text", "local symchef = require 'symchef'\nfunction test_it()\n  local s = symchef.string('s', 2)\n  return s == 'ab' and #tostring({})\nend\n", false, ""},
		{"program way", "#include <unistd.h>\nint main(void) { char c = 0; read(0, &c, 1); return getpid() > 5000 && c == 'x'; }\n", true, "its path depends on process ids"},
		{"program no way", "#include <string.h>\n#include <unistd.h>\nint main(void) { char s[9]; char c = 0; read(0, &c, 1); strcpy(s, \"12345678\"); return c == 'x' ? strlen(s) + c : c == 'y' ? s[c & 7] : 0; }\n", true, ""},
		{"parity", "#include <time.h>\nint main(void) { return time(0) & 1; }\n", true, "it depends on the clock"},
		{"weekday", "#include <time.h>\nint main(void) { time_t t = time(0); return gmtime(&t)->tm_wday == 0; }\n", true, "it depends on the clock"},
		{"year", "#include <time.h>\nint main(void) { time_t t = time(0); return gmtime(&t)->tm_year >= 130; }\n", true, "it depends on the clock"},
		{"hour of a day", "#include <time.h>\nint main(void) { time_t t = time(0); struct tm *m = gmtime(&t); return m->tm_wday == 3 && m->tm_hour == 17 && m->tm_min > 30; }\n", true, "it depends on the clock"},
		{"one second", "#include <time.h>\nint main(void) { return time(0) == 1893456789; }\n", true, "it depends on the clock"},
		{"printed", "#include <stdio.h>\n#include <time.h>\nint main(void) { putchar('a' + (time(0) >> 20 & 1)); }\n", true, "it depends on the clock"},
		{"file's time", "#include <fcntl.h>\n#include <sys/stat.h>\nint main(void) { struct stat s; fstat(creat(\"/tmp/moment\", 0600), &s); return s.st_mtime == 1893456789; }\n", true, "it depends on the clock"},
		{"clock way", "#include <time.h>\n#include <unistd.h>\nint main(void) { char c = 0; read(0, &c, 1); return time(0) == 1893456789 && c == 'x'; }\n", true, "its path depends on the clock"},
		{"no moment", "#include <sys/time.h>\n#include <time.h>\n#include <unistd.h>\nint main(void) { time_t t = time(0); struct timeval v; gettimeofday(&v, 0); usleep(10); return t < 0 || v.tv_sec < t || time(0) - t > 100; }\n", true, ""},
		{"process id", "#include <unistd.h>\nint main(void) { return getpid() >> 2 & 1; }\n", true, "it depends on process ids"},
		{"stack", "int main(void) { char c; return (unsigned long)&c >> 4 & 1; }\n", true, "it depends on addresses"},
		{"closed", "import datetime, symchef\ndef test_it(b: symchef.Bool):\n  if datetime.date.today().weekday() == 6: raise ValueError('closed')\n", false, "it depends on the clock"},
		{"timed", "import symchef, time\ndef test_it(b: symchef.Bool):\n  t = time.time()\n  time.sleep(0.01)\n  return time.monotonic() > 0\n", false, ""},
		{"program", "#include <sys/utsname.h>\n#include <stdio.h>\nint main(void) { struct utsname u; uname(&u); puts(u.nodename); }\n", true, host},
	} {
		t.Run(c.name, func(t *testing.T) {
			o := Options{}
			if c.program {
				o.StdinLen = 1
				o.Program = []string{compile(t, writeFile(t, "host.c", c.text))}
			} else {
				o.Test = writeFile(t, "test_host.py", c.text)
				if strings.HasPrefix(c.text, "local") {
					o.Test, o.Interpreter = writeFile(t, "host.lua", c.text), "/usr/bin/lua5.4"
				}
			}
			e := runIt(t, o)
			d, err := rundir.Open(e.dir)
			if err != nil {
				t.Fatal(err)
			}
			verdicts, err := d.Verdicts()
			if err != nil || len(verdicts) == 0 {
				t.Fatal(err, len(verdicts))
			}
			for _, v := range verdicts {
				if doubted := v.Why != "" && strings.HasPrefix(v.Why, c.want); doubted != (c.want != "") {
					t.Errorf("%s %s: %s", v.ID, v.Verdict, v.Why)
				}
			}
			if e.summary.Exhausted != (c.want == "") {
				t.Errorf("exhausted %v, %q", e.summary.Exhausted, e.summary.WhyNotExhausted)
			}
			tests, _, err := d.Tests()
			if err != nil {
				t.Fatal(err)
			}
			for i, other := range Doubts(d)(t.Context(), tests) {
				if (other != replay.NoDoubt) != (c.want != "") {
					t.Errorf("afterwards %s is another", tests[i].ID)
				}
			}
		})
	}
}

// farBehind is a program with 11 ways of which one, far behind, shows the host's name, and one asks for it and shows nothing.
const farBehind = `#include <stdio.h>
#include <unistd.h>
int main(void) {
	unsigned char c = 0;
	char h[100];
	read(0, &c, 1);
	for (int i = 0; i < 10; i++)
		if (c == i) {
			if (i == 7 && gethostname(h, sizeof h) == 0) puts(h);
			return i;
		}
	return 99;
}
`

// TestDoubtsOfMany guards that of more test cases than are executed elsewhere those are that ask what others do not, and that a run says which ones are left, also where its time ends before.
func TestDoubtsOfMany(t *testing.T) {
	defer func(n int) { mostDoubted = n }(mostDoubted)
	prog := compile(t, writeFile(t, "many.c", farBehind))
	tell := func(most int) (verdicts, why string) {
		mostDoubted = most
		e := runIt(t, Options{Program: []string{prog}, StdinLen: 1})
		if e.summary.Exhausted {
			t.Errorf("%d: exhausted", most)
		}
		r := e.summary.Replay
		return fmt.Sprintf("%d agreed, %d unseen, %d unstable", r.Agreed, r.Unseen, r.Unstable), strings.Join(e.summary.WhyNotExhausted, "; ")
	}
	if v, why := tell(2); v != "10 agreed, 0 unseen, 1 unstable" {
		t.Errorf("two: %s: %s", v, why)
	}
	if v, why := tell(1); v != "11 agreed, 1 unseen, 0 unstable" || why != "1 test case agreed, and not looked at elsewhere: other moments and hosts may have other outcomes" {
		t.Errorf("one: %s: %s", v, why)
	}
	mostDoubted = 50
	d, err := rundir.Open(runIt(t, Options{Program: []string{prog}, StdinLen: 1}).dir)
	if err != nil {
		t.Fatal(err)
	}
	tests, _, err := d.Tests()
	if err != nil {
		t.Fatal(err)
	}
	over, cancel := context.WithCancel(t.Context())
	cancel()
	for i, other := range Doubts(d)(over, tests) {
		if other != replay.Unseen {
			t.Errorf("%s is %d after the end of time", tests[i].ID, other)
		}
	}
}
