package nativeboot

import (
	"fmt"
	"maps"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"symchef/internal/guest"
	"symchef/internal/kernel"
)

// pages gives, by /proc/PID/maps, the protection of each page of the program, its heap and its dynamic linker, and the end of
// the stack.
func pages(t *testing.T, text string) map[string]string {
	t.Helper()
	m := map[string]string{}
	for _, line := range strings.Split(text, "\n") {
		var start, end uint64
		var prot, off, dev, inode, name string
		if n, _ := fmt.Sscanf(line, "%x-%x %s %s %s %s %s", &start, &end, &prot, &off, &dev, &inode, &name); n < 7 {
			continue
		}
		switch name = filepath.Base(name); name {
		case "[stack]":
			m[name] = fmt.Sprintf("ends at %#x", end)
		case "prog", "[heap]", "ld-linux-x86-64.so.2":
			for at := start; at < end; at += guest.PageSize {
				m[fmt.Sprintf("%s %#x", name, at)] = prot
			}
		}
	}
	return m
}

// The machine's addresses are those of Linux without randomisation. Libraries are not compared: Linux has its vDSO between them and
// the dynamic linker.
func TestLayout(t *testing.T) {
	prog := compile(t, "testdata/state.c")
	setarch, err := exec.LookPath("setarch")
	if err != nil {
		t.Skip("skipped: setarch is not installed")
	}
	cmd := exec.Command(setarch, "-R", prog, "x")
	cmd.Env = []string{"A=1"}
	out, _ := cmd.Output() // its status is 7
	want := pages(t, string(out))
	got := pages(t, finish(t, boot(t, kernel.Config{Path: prog, Argv: []string{"prog", "x"}, Env: []string{"A=1"}})))
	if len(want) < 20 || !maps.Equal(got, want) {
		t.Errorf("%d pages:\n%v\nLinux has %d:\n%v", len(got), got, len(want), want)
	}
}
