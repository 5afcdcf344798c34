package session

import (
	"os"
	"path/filepath"
	"slices"
	"testing"
)

// fields is a program of whose branches some merge, some do not meet before a system call, and some decide how it ends.
const fields = `#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
__attribute__((noinline)) static int number(const char *p) { int v = 0, neg = 0; if (*p == '-') { neg = 1; p++; } while (*p >= '0' && *p <= '9') v = v * 10 + (*p++ - '0'); return neg ? -v : v; }
int main() {
	char b[9] = {0};
	int low = 0, n = fread(b, 1, 5, stdin);
	for (int i = 0; i < n; i++)
		if (b[i] >= 'a' && b[i] <= 'z') { b[i] -= 32; low++; }
	for (int i = 2; i < n; i++)
		if (b[i] > 'M') write(1, "x", 1);
		else write(1, "yy", 2);
	b[2] = 0;
	int v = number(b);
	if (v == 42) abort();
	return v < 0 ? 2 : low > 1;
}`

// merged is an exploration of it.
func merged(t *testing.T) Options {
	src := filepath.Join(t.TempDir(), "p.c")
	if err := os.WriteFile(src, []byte(fields), 0o600); err != nil {
		t.Fatal(err)
	}
	return Options{Program: []string{compile(t, src, "-O1")}, StdinLen: 5, Merge: true}
}

// Merging changes which low-level paths there are, mostly to fewer, and never what the program does: outcomes and high-level paths are those
// without, and native runs agree. With SYMCHEF_SLOW=1 that is all examples, else two in which branches merge.
func TestMerge(t *testing.T) {
	files := []string{"python/test_dictionary.py", "lua/number.lua"}
	if os.Getenv("SYMCHEF_SLOW") == "1" {
		files = examples(t)
	}
	for _, file := range files {
		t.Run(file, func(t *testing.T) {
			o := Options{Test: filepath.Join("../../examples", file), Interpreter: stockFor(t, file)}
			want := runIt(t, o)
			o.Merge = true
			got := runIt(t, o)
			got.sound(t)
			if !slices.Equal(got.classes(), want.classes()) || !slices.Equal(got.groups(), want.groups()) {
				t.Errorf("classes %q, %d high-level paths, without merging %q, %d", got.classes(), got.summary.Paths.High, want.classes(), want.summary.Paths.High)
			}
			t.Logf("%d low-level paths, without merging %d; %+v", got.summary.Paths.Low, want.summary.Paths.Low, got.summary.Merging)
		})
	}
	t.Run("program", func(t *testing.T) {
		o := merged(t)
		got := runIt(t, o)
		o.Merge = false
		want := runIt(t, o)
		got.sound(t)
		if !slices.Equal(got.ends(), want.ends()) || got.summary.Paths.Low*4 > want.summary.Paths.Low {
			t.Errorf("%d low-level paths that end as %q, without merging %d, %q", got.summary.Paths.Low, got.ends(), want.summary.Paths.Low, want.ends())
		}
		if m := got.summary.Merging; m == nil || m.Merges == 0 || m.Branches <= m.Merges || m.Forked["system call"] == 0 {
			t.Errorf("merging: %+v", m)
		}
		t.Logf("%d low-level paths, without merging %d; %+v", got.summary.Paths.Low, want.summary.Paths.Low, got.summary.Merging)
	})
}

// groups returns the high-level paths, sorted.
func (e explored) groups() (l []string) {
	for _, x := range e.tests {
		l = append(l, x.Group)
	}
	slices.Sort(l)
	return slices.Compact(l)
}

// ends returns the distinct outcomes, sorted.
func (e explored) ends() (l []string) {
	for _, x := range e.tests {
		l = append(l, x.Outcome.String())
	}
	slices.Sort(l)
	return slices.Compact(l)
}
