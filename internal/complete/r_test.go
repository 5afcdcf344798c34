package complete

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"symchef/internal/session"
)

// One exploration of all R programs accounts for every input of each.
func TestR(t *testing.T) {
	needs(t, "/usr/bin/R")
	file, err := filepath.Abs("testdata/r/programs.R")
	if err != nil {
		t.Fatal(err)
	}
	t.Setenv("COMPLETE_ONLY", *only)
	cmd := exec.Command("/usr/bin/Rscript", "testdata/r/native.R", file)
	cmd.Env = append(os.Environ(), "LC_ALL=C.UTF-8")
	cmd.Stderr = os.Stderr
	lines, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	names, runs := readRuns(t, lines)
	r := exploreAll(t, session.Options{Test: file, Interpreter: "/usr/bin/R", StdinLen: -1, Workers: 2})
	tests, _, err := r.Tests()
	if err != nil {
		t.Fatal(err)
	}
	checkAll(t, r, names, runs, tests)
}
