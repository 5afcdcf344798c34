package replay

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"symchef/internal/testcase"
)

// What is in a FIFO of the host is for others: no replay reads it away. FIFOs of its own a program may use.
func TestFIFO(t *testing.T) {
	fifo := filepath.Join(t.TempDir(), "fifo")
	if err := unix.Mkfifo(fifo, 0o666); err != nil {
		t.Fatal(err)
	}
	f, err := os.OpenFile(fifo, os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if _, err := f.WriteString("precious"); err != nil {
		t.Fatal(err)
	}
	for _, m := range modes(t) {
		for _, how := range []string{"dd if=" + fifo + " iflag=nonblock bs=8 count=1", "head -c 3 <" + fifo + " & sleep 0.3", "cat " + fifo + " /etc/passwd"} {
			r := runOne(t, shell(t, how+" 2>/dev/null; true"), wants("fifo", testcase.Outcome{Kind: testcase.OK}, "another"), Options{Mode: m, Limits: Limits{Time: 2 * time.Second}})
			if n, err := unix.IoctlGetInt(int(f.Fd()), unix.TIOCINQ); err != nil || n != len("precious") {
				t.Errorf("%s: %s: %d bytes are left (%v); %s %s", m, how, n, err, r.Verdict, r.Why)
			}
			if want := "it takes more than replay allows: a FIFO of the host (" + fifo + ")"; m == Landlock && r.Why != want {
				t.Errorf("%s: %s: %s %s, want %s", m, how, r.Verdict, r.Why, want)
			}
		}
		g := shell(t, "mkfifo $TMPDIR/f && (echo x >$TMPDIR/f & cat $TMPDIR/f)")
		g.Env = append(g.Env, "TMPDIR=/tmp")
		agree(t, g, wants("own", testcase.Outcome{Kind: testcase.OK}, "x\n"), Options{Mode: m})
	}
}
