package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// debianBugs are defects that symchef has found in Python packages as Debian 12 ships them: inputs that end in another exception than
// the one the library documents.
var debianBugs = []struct {
	file, pkg, version string // version as dpkg says it, its beginning
	findings           []string
	exhausted          bool
	slow               bool // run with SYMCHEF_SLOW=1
}{
	{"test_toml.py", "python3-toml", "0.10.2", []string{"exception IndexError"}, true, false},
	{"test_packaging.py", "python3-packaging", "23.0", []string{"exception ValueError", "exception SyntaxError"}, true, false},
	{"test_pycparser.py", "python3-pycparser", "2.21", []string{"assertion AssertionError"}, true, false},
	{"test_xlrd.py", "python3-xlrd", "1.2.0", []string{"exception struct.error", "assertion AssertionError"}, true, true},
}

// TestDebianBugs finds each bug in the package that is installed, confirms it natively, and emits a test that shows it.
func TestDebianBugs(t *testing.T) {
	for _, c := range debianBugs {
		t.Run(c.pkg, func(t *testing.T) {
			if c.slow && os.Getenv("SYMCHEF_SLOW") == "" {
				t.Skip("skipped: three minutes; SYMCHEF_SLOW is not set")
			}
			version, err := exec.Command("dpkg-query", "-W", "-f", "${Version}", c.pkg).Output()
			if err != nil || !strings.HasPrefix(string(version), c.version) {
				t.Skipf("skipped: %s %s is not installed", c.pkg, c.version)
			}
			b := pythonBox(t)
			example, err := filepath.Abs(filepath.Join("../../examples/debian", c.file))
			if err != nil {
				t.Fatal(err)
			}
			b.run("run", "--out", "d", example).want(1, c.findings...)
			sum, tests := b.load("d")
			if sum.Exhausted != c.exhausted || sum.Replay.Agreed != len(tests) {
				t.Errorf("exhausted %v %q, %d of %d test cases agreed natively", sum.Exhausted, sum.WhyNotExhausted, sum.Replay.Agreed, len(tests))
			}
			seen := map[string]bool{}
			for _, x := range tests {
				if o := x.Outcome; o.Failing() {
					seen[string(o.Kind)+" "+o.Type] = true
				}
			}
			for _, want := range c.findings {
				if !seen[want] {
					t.Errorf("no test case ends in %s", want)
				}
				delete(seen, want)
			}
			for other := range seen {
				t.Errorf("unexpected finding: %s", other)
			}
			b.run("emit", "-o", b.path("test_emitted.py"), "d").want(0)
			if exec.Command(python, "-c", "import pytest").Run() == nil {
				cmd := exec.Command(python, "-m", "pytest", "-q", "-p", "no:cacheprovider", b.path("test_emitted.py"))
				cmd.Dir = b.dir
				out, err := cmd.CombinedOutput()
				if err != nil || !strings.Contains(string(out), "xfailed") {
					t.Errorf("emitted tests: %v\n%s", err, out)
				}
			}
		})
	}
}
