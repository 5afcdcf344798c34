package emit

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// What tests that run emitted files share.

// writerIn writes files below dir, and the folders that they are in.
func writerIn(t *testing.T, dir string) func(name, text string) (path string) {
	return func(name, text string) string {
		t.Helper()
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		return path
	}
}

// turnsRed fails where the emitted file is not green on a program, or still green on it with a text replaced.
func turnsRed(t *testing.T, what, program string, run func(program string) (string, error), replaced map[string]string) {
	t.Helper()
	if out, err := run(program); err != nil {
		t.Errorf("%s: %v\n%s", what, err, out)
	}
	for gone, by := range replaced {
		if out, err := run(strings.Replace(program, gone, by, 1)); err == nil {
			t.Errorf("%s: still green with %q in place of %s\n%s", what, by, gone, out)
		}
	}
}

// programRunners are what runs the emitted files of programs.
func programRunners(t *testing.T) map[Format][]string {
	commands := map[Format][]string{Shell: {"sh"}}
	if p := pytestPython(); p != "" {
		commands[Pytest] = []string{p, "-m", "pytest", "-q", "-p", "no:cacheprovider"}
	} else {
		t.Log("skipped: running the pytest file (pytest is not installed)")
	}
	return commands
}
