package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"golang.org/x/sys/unix"

	"symchef/internal/rundir"
	"symchef/internal/testcase"
)

// valid checks JSON text against a schema of docs/.
func valid(t *testing.T, schema, text string) {
	t.Helper()
	s, err := jsonschema.NewCompiler().Compile(filepath.Join("..", "..", "docs", schema))
	if err != nil {
		t.Fatal(err)
	}
	v, err := jsonschema.UnmarshalJSON(strings.NewReader(text))
	if err == nil {
		err = s.Validate(v)
	}
	if err != nil {
		t.Errorf("%s: %v\n%s", schema, err, text)
	}
}

// With --json standard output is the summary and nothing else; it, summary.json
// and every line of tests.jsonl are what the schemas say.
func TestJSON(t *testing.T) {
	b := pythonBox(t)
	b.write("test_j.py", "import symchef\ndef test_j(s: symchef.Str(2), r: symchef.Bytes(1), n: symchef.Int(), f: symchef.Bool(), c: symchef.Choice(1, 2)):\n"+
		"    symchef.log('caf\xc3\xa9', s)\n    assert s != '\\\\\"'\n    if f: raise ValueError('<&>')\n    print(n < 0)\n")
	b.compile("p", shout)
	for _, args := range [][]string{
		{"run", "--json", "--progress", "plain", "--smt2", "--out", "out", "test_j.py"},
		{"run", "--json", "--max-paths", "2", "--out", "out", "--stdin", "1", "--argv", "1x2", "--merge", "--", "./p"},
	} {
		r := b.run(args...)
		sum := fields(t, r.stdout)
		valid(t, "summary.schema.json", r.stdout)
		onDisk, err := readFile(b.path("out/summary.json"))
		if err != nil || onDisk != r.stdout {
			t.Errorf("%v: summary.json is not what was printed:\n%s\n%s", err, onDisk, r.stdout)
		}
		if sum["finished"] != true || sum["code_bytes"].(float64) < 100 || sum["exhausted"] != (args[3] == "plain") {
			t.Errorf("%s", r.stdout)
		}
		lines, err := readFile(b.path("out/tests.jsonl"))
		if err != nil {
			t.Fatal(err)
		}
		for _, line := range strings.Split(strings.TrimSuffix(lines, "\n"), "\n") {
			valid(t, "testcase.schema.json", line)
		}
		_, tests := b.load("out")
		for _, x := range tests {
			kept, err := readFile(b.path("out/paths/" + x.ID + ".smt2"))
			if asked := slices.Contains(args, "--smt2"); (err == nil) != asked {
				t.Errorf("asked for SMT-LIB: %v, %v", asked, err)
			}
			if later := b.run("smt2", "out", x.ID).want(0).stdout; err == nil && later != kept {
				t.Errorf("kept\n%s\nlater\n%s", kept, later)
			} else if !strings.Contains(later, "(check-sat)") {
				t.Errorf("later\n%s", later)
			}
			if out := b.output("out", x); len(out) != int(x.OutputBytes) {
				t.Errorf("%d bytes of output, kept %q", x.OutputBytes, out)
			}
		}
	}
}

// progressLine is what a line of progress says, numbers aside.
var progressLine = regexp.MustCompile(`^ *[\d.]+s  (\d+/)?\d+ paths  \d+ pending  \d+ tests  \d+ findings  [1-9]\d* code bytes  solver \d+%  \d+ MIPS$`)

// Progress is plain lines on request, one live line on a terminal, and nothing in a pipe.
func TestProgress(t *testing.T) {
	t.Parallel()
	b := newBox(t)
	b.compile("p", "#include <stdio.h>\nint main() { for (int i = 0; i < 20; i++) if (getchar() > 'a') { putchar('x'); asm volatile(\"\"); } else putchar('y'); return 0; }")
	const limit = 3 * time.Second
	args := func(mode string) []string {
		return []string{"run", "--progress", mode, "--time", limit.String(), "--no-replay", "--out", "out-" + mode, "--stdin", "20", "--", "./p"}
	}
	for _, mode := range []string{"auto", "none"} {
		if r := b.run(args(mode)...).want(0, "- limit: --time"); r.stderr != "" {
			t.Errorf("--progress %s in a pipe: %q", mode, r.stderr)
		}
	}
	plain := b.run(args("plain")...).want(0)
	for line := range strings.Lines(plain.stderr) {
		if !progressLine.MatchString(strings.TrimSuffix(line, "\n")) {
			t.Errorf("%q", line)
		}
	}
	if n := strings.Count(plain.stderr, "\n"); n < 1 || n > int(limit.Seconds())+1 {
		t.Errorf("%d lines in %v:\n%s", n, limit, plain.stderr)
	}

	screen := terminal(t, b, args("auto"), 60)
	live := strings.Split(screen, "\r\x1b[K")
	if len(live) < 3 || live[len(live)-1] != "" {
		t.Fatalf("%q", screen)
	}
	for _, line := range live[1 : len(live)-1] {
		if len(line) > 59 || !strings.Contains(line, " paths  ") {
			t.Errorf("on a terminal of 60 columns: %q", line)
		}
	}
}

// terminal runs symchef with standard error on a terminal and returns what is written there.
func terminal(t *testing.T, b *box, args []string, columns uint16) string {
	t.Helper()
	master, err := os.OpenFile("/dev/ptmx", os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		t.Skip("skipped: ", err)
	}
	defer master.Close()
	n, err1 := unix.IoctlGetInt(int(master.Fd()), unix.TIOCGPTN)
	err2 := unix.IoctlSetPointerInt(int(master.Fd()), unix.TIOCSPTLCK, 0)
	err3 := unix.IoctlSetWinsize(int(master.Fd()), unix.TIOCSWINSZ, &unix.Winsize{Row: 24, Col: columns})
	tty, err4 := os.OpenFile(fmt.Sprintf("/dev/pts/%d", n), os.O_RDWR|unix.O_NOCTTY, 0)
	if err := errors.Join(err1, err2, err3, err4); err != nil {
		t.Skip("skipped: no terminal: ", err)
	}
	cmd := b.command(args...)
	cmd.Stderr = tty
	wait := b.start(cmd)
	tty.Close()
	var screen bytes.Buffer
	io.Copy(&screen, master) // ends with an error once nobody has the terminal open
	wait().want(0)
	return screen.String()
}

// A test that prints megabytes: its digest is of all of it, the directory keeps the beginning.
func TestMegabytes(t *testing.T) {
	b := pythonBox(t)
	b.write("test_loud.py", "import symchef\ndef test_loud(x: symchef.Bool()):\n    for i in range(400): print('%05d' % i * 10000)\n    print(x)\n")
	b.run("run", "--out", "out", "--max-memory", "1G", "test_loud.py").want(0, " 2 agreed, 0 diverged", "exhausted: every input")
	sum, tests := b.load("out")
	var kept int64
	filepath.Walk(b.path("out"), func(_ string, st os.FileInfo, err error) error {
		if err == nil && st.Mode().IsRegular() {
			kept += st.Size()
		}
		return err
	})
	if kept > 3<<20 || sum.MemoryPeakBytes > 1<<30 {
		t.Errorf("%d bytes on disk, %d in memory", kept, sum.MemoryPeakBytes)
	}
	for _, x := range tests {
		out := b.output("out", x)
		if len(out) != rundir.MaxOutput || x.OutputBytes < 20_000_000 || x.OutputSHA256 == testcase.OutputDigest([]byte(out)) {
			t.Errorf("%s: kept %d of %d bytes", x.ID, len(out), x.OutputBytes)
		}
	}
}

// doctor, --version and the help of every command.
func TestHelp(t *testing.T) {
	t.Parallel()
	b := newBox(t)
	if r := b.run("--version").want(0); !regexp.MustCompile(`^symchef version \d+\.\d+\.\d+ .*go1\.\d+`).MatchString(r.stdout) {
		t.Errorf("%q", r.stdout)
	}
	if _, err := os.Stat(python); err == nil {
		b.run("doctor").want(0, python, " modelled ", "boot       ", "replay     ", "snapshots  "+cache+"/symchef", "solver     ")
	}
	b.env[0] = "PATH=" + b.dir + ":/usr/bin:/bin" // R's script needs a shell
	b.write("python3.11", "#!/bin/sh\necho cpython; echo 3.7.1; echo /bin/sh\n")
	if _, err := os.Stat(python); err != nil {
		b.run("doctor").want(2, "is cpython 3.7.1, need cpython 3.8+")
	} else {
		b.run("doctor").want(0, "passed over from PATH", "is cpython 3.7.1, need cpython 3.8+")
	}
	help := b.run("--help").want(0, "Examples:").stdout
	for _, name := range []string{"run", "replay", "rerun", "emit", "exec", "calibrate", "doctor"} {
		if !strings.Contains(help, "\n  "+name+" ") {
			t.Errorf("help does not list %s", name)
		}
		b.run(name, "--help").want(0, "Usage:\n  symchef "+name, "Examples:\n  ", "symchef "+name)
	}
}
