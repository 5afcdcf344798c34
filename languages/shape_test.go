package languages_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// pythons are the stock one and those of pyenv that the library is for.
func pythons() []string {
	found := []string{stock}
	home, _ := os.UserHomeDir()
	for _, pattern := range []string{"3.8.*", "3.9.*", "3.1?.*"} {
		more, _ := filepath.Glob(filepath.Join(home, ".pyenv/versions", pattern, "bin/python3"))
		found = append(found, more...)
	}
	return found
}

// Values of all shapes, drawn by the library of a native interpreter, are what the source code that is told of them evaluates to, in every version.
func TestShapeCode(t *testing.T) {
	inAll(t, "testdata/shapes/shapes.py", " shapes\n")
}

// So are calls of functions of all kinds, for symchef check; there are as many as combinations of what their parameters take.
func TestCallCode(t *testing.T) {
	inAll(t, "testdata/check/calls.py", " functions\n")
}

// inAll runs a script by a native interpreter of every version; it has to say so.
func inAll(t *testing.T, script, says string) {
	lib := library(t)
	for _, python := range pythons() {
		cmd := exec.Command(python, script)
		cmd.Env = append(os.Environ(), "PYTHONPATH="+lib, "PYTHONDONTWRITEBYTECODE=1")
		out, err := cmd.CombinedOutput()
		if err != nil || !strings.Contains(string(out), says) {
			t.Errorf("%s: %v\n%s", python, err, out)
		}
		t.Logf("%s: %s", python, out)
	}
}
