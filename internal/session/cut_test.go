package session

import (
	"fmt"
	"strings"
	"testing"

	"symchef/internal/rundir"
)

// A path that takes much longer on another host is followed there as far as it may be in proportion; where that is not far enough to know the cause, the test case is not compared.
func TestCauseInProportion(t *testing.T) {
	for _, c := range []struct {
		rounds       int
		verdict, why string
	}{
		{50, "unstable", "it depends on " + theHost},
		{100_000_000, "skipped", "what it depends on was not found, " + overLong},
	} {
		prog := compile(t, writeFile(t, "long.c", fmt.Sprintf(`
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>
int main(void) {
	struct utsname u;
	char c = 0;
	uname(&u);
	if (read(0, &c, 1) == 1 && c == 'z') return 3;
	if (!strcmp(u.release, "6.1.0")) return 0;
	for (volatile int i = 0; i < %d; i++);
	return 4;
}
`, c.rounds)))
		e := runIt(t, Options{Program: []string{prog}, StdinLen: 1})
		d, err := rundir.Open(e.dir)
		if err != nil {
			t.Fatal(err)
		}
		verdicts, err := d.Verdicts()
		if err != nil || len(verdicts) != 2 {
			t.Fatalf("%v, %v\n%s%s", verdicts, err, e.stdout, e.stderr)
		}
		said := map[string]bool{}
		for _, v := range verdicts {
			said[v.Verdict] = true
			if v.Verdict != "agreed" && (v.Verdict != c.verdict || !strings.HasPrefix(v.Why, c.why)) {
				t.Errorf("%d rounds: %s: %s", c.rounds, v.Verdict, v.Why)
			}
		}
		if !said["agreed"] || !said[c.verdict] {
			t.Errorf("%d rounds: %v", c.rounds, verdicts)
		}
	}
}
