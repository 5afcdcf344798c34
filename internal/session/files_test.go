package session

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"symchef/internal/replay"
	"symchef/internal/testcase"
)

// filesFolder is a working directory with something in it.
func filesFolder(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range map[string]string{"there": "there", "sub/f": "f"} {
		p := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(p), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(p, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		if err := os.Chmod(p, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// What a program does to files is seen, makes the classes, and is the same natively.
func TestFileEffects(t *testing.T) {
	prog := compile(t, "testdata/files.c")
	dir, home := filesFolder(t), t.TempDir()
	t.Chdir(dir)
	t.Setenv("HOME", home)
	want := map[byte][]string{
		'a': {"made made (0644, 4 bytes)"}, 'b': {"made made (0644, 4 bytes)"}, 'c': {"made made (0600, 4 bytes)"},
		'd': {"changed there (0644, 5 bytes)"}, 'f': {"removed there"}, 'g': {"changed there (0400, 5 bytes)"},
		'h': {"made dir (directory 0750)", "made dir/x (0644, 0 bytes)"}, 'i': {"made link (to 'there')"},
		'j': {"made /tmp/obs (0600, 3 bytes)"}, 'k': {"made /tmp/obs (directory 0700)", "made /tmp/obs/file (0644, 1 bytes)"},
		'l': {"made moved (0644, 5 bytes)", "removed there"}, 'n': {"removed sub/f"}, 'o': {"made fifo (fifo 0644)"},
		'p': {"made copy (0644, 1 bytes)"}, 'q': {"made secret (0000, 1 bytes)"}, 'r': {"made hard (0644, 5 bytes)"}, 's': {"changed there (0644, 2 bytes)"},
		't': {"changed sub (0644, 10 bytes)"}, 'u': {`made \xff\x80 (0644, 1 bytes)`}, 'v': {"made HOME/.obs (0644, 1 bytes)"},
		'w': {"made other (directory 0755)", "made other/f (0644, 1 bytes)", "removed sub"},
		'x': {"removed sub", "made third (directory 0755)", "made third/f (0644, 4 bytes)"},
	}
	short := func(e testcase.FileEffect) string {
		s := strings.Replace(strings.Replace(e.String(), dir+"/", "", 1), home, "HOME", 1)
		if i := strings.Index(s, "/tmp/obs"); i >= 0 { // the rest is random
			j := i + len("/tmp/obs")
			s = s[:j] + strings.TrimLeft(s[j:], "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789")
		}
		name, rest, _ := strings.Cut(strings.Replace(s, "'", "", 1), "'")
		return name + rest
	}
	check := func(mask int, agreed int) explored {
		old := syscall.Umask(mask) // which is the caller's alone
		defer syscall.Umask(old)
		e := runIt(t, Options{Program: []string{prog}, StdinLen: 1, AllPaths: mask != 0o022})
		if e.summary.Replay.Agreed != agreed {
			t.Errorf("%d test cases, %+v, want %d\n%s%s", len(e.tests), e.summary.Replay, agreed, e.stdout, e.stderr)
		}
		for _, x := range e.tests {
			b, err := x.Inputs[0].Bytes()
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, f := range x.Files {
				got = append(got, short(f))
			}
			if x.Files == nil || !slices.Equal(got, want[b[0]]) {
				t.Errorf("%q: %q, want %q", b, got, want[b[0]])
			}
		}
		return e
	}
	e := check(0o022, len(want)+1) // and one that does nothing
	check(0o077, len(want)+3)      // and 'e' and 'm', which change nothing

	// What the machine saw and is not so natively.
	for _, x := range e.tests {
		b, _ := x.Inputs[0].Bytes()
		for what, tamper := range map[string]func(*testcase.Test){
			"another": func(x *testcase.Test) {
				x.Files = append(slices.Clone(x.Files), testcase.FileEffect{Path: testcase.Text(dir + "/zzz"), Change: testcase.Removed})
			},
			"none":    func(x *testcase.Test) { x.Files = []testcase.FileEffect{} },
			"content": func(x *testcase.Test) { x.Files = slices.Clone(x.Files); x.Files[0].SHA256 += "0" },
			"name":    func(x *testcase.Test) { x.Files = slices.Clone(x.Files); x.Files[0].Path += "x" },
		} {
			if len(x.Files) == 0 && what != "another" || !slices.Contains([]byte("ahjl\x00"), b[0]) {
				continue
			}
			bad := x
			tamper(&bad)
			rep, err := replay.Run(context.Background(), e.summary.Target, []testcase.Test{bad}, replay.Options{})
			if err != nil {
				t.Fatal(err)
			}
			if r := rep.Results[0]; r.Verdict != replay.Diverged || !strings.HasPrefix(r.Why, "file ") {
				t.Errorf("%q, %s: %s %s", b, what, r.Verdict, r.Why)
			}
		}
	}

	// Where the host's folders cannot be written, what is in HOME and TMPDIR is compared.
	if err := replay.Probe(context.Background(), replay.Landlock); err != nil {
		t.Logf("skipped mode landlock: %v", err)
		return
	}
	for _, x := range e.tests {
		b, _ := x.Inputs[0].Bytes()
		if b[0] != 'v' && b[0] != 0 {
			continue
		}
		for _, files := range [][]testcase.FileEffect{x.Files, {{Path: testcase.Text(home + "/other"), Change: testcase.Made, Kind: testcase.FIFO}}} {
			x.Files = files
			rep, err := replay.Run(context.Background(), e.summary.Target, []testcase.Test{x}, replay.Options{Mode: replay.Landlock})
			if err != nil {
				t.Fatal(err)
			}
			want := replay.Agreed
			if len(files) > 0 && files[0].Kind == testcase.FIFO {
				want = replay.Diverged
			}
			if r := rep.Results[0]; r.Verdict != want {
				t.Errorf("landlock, %q: %s %s", b, r.Verdict, r.Why)
			}
		}
	}
}

// Files that are inputs were there before, and what becomes of them is seen.
func TestInputFileEffects(t *testing.T) {
	prog := program(t, `#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>
int main(void) {
	char b[4] = "";
	int fd = open("in.txt", O_RDWR);
	read(fd, b, 3);
	if (b[0] == 'a') unlink("in.txt");
	else if (b[0] == 'b') { lseek(fd, 0, 0); write(fd, "x", 1); }
	else if (b[0] == 'c') { lseek(fd, 0, 0); write(fd, b, 3); }
	else if (b[0] == 'd') ftruncate(fd, 1);
	return 0;
}`)
	t.Chdir(t.TempDir())
	e := runIt(t, Options{Program: []string{prog}, StdinLen: -1, Files: []Named{{"in.txt", 3}}})
	if len(e.tests) != 4 || e.summary.Replay.Agreed != 4 { // 'c' does as little as none of them
		t.Errorf("%d test cases, %+v\n%s%s", len(e.tests), e.summary.Replay, e.stdout, e.stderr)
	}
	for _, m := range []replay.Mode{replay.Landlock, replay.Unconfined} {
		if err := replay.Probe(context.Background(), m); err != nil {
			t.Logf("skipped mode %s: %v", m, err)
			continue
		}
		rep, err := replay.Run(context.Background(), e.summary.Target, e.tests, replay.Options{Mode: m})
		if err != nil || rep.Agreed != len(e.tests) {
			t.Errorf("%s: %v, %+v", m, err, rep.Results)
		}
	}
}

// Lines, coverage and verdicts do not depend on what a folder is called: characters of one, two and four bytes, and bytes that are none.
func TestFolderNames(t *testing.T) {
	needPython(t)
	for _, name := range []string{"plain", "é", "żółć", "😀", "d\xff\xfe"} {
		dir := filepath.Join(t.TempDir(), name)
		if err := os.Mkdir(dir, 0o755); err != nil {
			t.Fatal(err)
		}
		file := filepath.Join(dir, "test_it.py")
		if err := os.WriteFile(file, []byte("import symchef\ndef test_ż(s: symchef.Str(2)):\n    if s == 'ab':\n        return 1\n    raise ValueError(s)\n"), 0o644); err != nil {
			t.Fatal(err)
		}
		e := runIt(t, Options{Test: file})
		e.sound(t)
		if b, err := os.ReadFile(filepath.Join(e.dir, "coverage.json")); err != nil || !bytes.Contains(b, []byte("[2,3,4,5]")) {
			t.Errorf("%q: coverage %s, %v", name, b, err)
		}
		for _, x := range e.tests {
			for _, dec := range x.Decisions {
				if !strings.HasPrefix(dec.Source, "test_it.py:3 test_ż") {
					t.Errorf("%q: a decision at %q", name, dec.Source)
				}
			}
		}
	}
}

// Of more effects than are listed, those behind the first count, too: for the class, and in replay.
func TestManyFileEffects(t *testing.T) {
	prog := program(t, `
#include <stdio.h>
#include <unistd.h>
int main(void) {
	char b, name[20];
	read(0, &b, 1);
	for (int i = 0; i < 150; i++) {
		sprintf(name, "f%03d", i);
		FILE *f = fopen(name, "w");
		if (i == 149 && b == 'x') fputs("x", f);
		fclose(f);
	}
	if (b == 'y') rename("f149", "g149");
}`)
	t.Chdir(t.TempDir())
	e := runIt(t, Options{Program: []string{prog}, StdinLen: 1})
	if len(e.tests) != 3 || e.summary.Replay.Agreed != 3 {
		t.Errorf("%d test cases, %+v, want 3\n%s%s", len(e.tests), e.summary.Replay, e.stdout, e.stderr)
	}
	digests := map[string]bool{}
	for i, x := range e.tests {
		digests[x.FilesSHA256] = true
		if len(x.Files) != testcase.MaxFiles+1 || x.FilesTotal != 150 || x.FilesSHA256 == "" {
			t.Errorf("%d of %d files, digest %q", len(x.Files), x.FilesTotal, x.FilesSHA256)
		}
		x.FilesSHA256 = e.tests[(i+1)%len(e.tests)].FilesSHA256
		rep, err := replay.Run(t.Context(), e.summary.Target, []testcase.Test{x}, replay.Options{})
		if err != nil || rep.Diverged != 1 {
			t.Errorf("%v %+v, want it to diverge", err, rep)
		}
	}
	if len(digests) != 3 {
		t.Errorf("%d digests, want 3", len(digests))
	}
}
