package main

import (
	"os/exec"
	"strings"
	"testing"
)

// used checks which interpreter a run took, and that its test cases agreed natively.
func used(t *testing.T, b *box, dir, elf, argv0 string) {
	t.Helper()
	sum, tests := b.load(dir)
	if sum.Interpreter.Path != elf || sum.Target.Argv[0] != argv0 || sum.Replay.Agreed != len(tests) || len(tests) == 0 {
		t.Errorf("interpreter %s started as %s, %d test cases, replay %+v", sum.Interpreter.Path, sum.Target.Argv[0], len(tests), sum.Replay)
	}
	if !strings.HasPrefix(sum.Interpreter.Version, "3.11.") || len(sum.Interpreter.BuildID) != 40 {
		t.Errorf("%+v", sum.Interpreter)
	}
}

// A test inside a package inside a virtualenv's project imports relatively,
// from the virtualenv, and from PYTHONPATH.
func TestVirtualenv(t *testing.T) {
	b := pythonBox(t)
	if out, err := exec.Command(python, "-m", "venv", "--without-pip", b.path("project/.venv")).CombinedOutput(); err != nil {
		t.Skipf("skipped: no venv: %v %s", err, out)
	}
	b.write("project/.venv/lib/python3.11/site-packages/installed/__init__.py", "LIMIT = 5\n")
	b.write("project/app/__init__.py", "")
	b.write("project/app/rules.py", "from installed import LIMIT\nimport elsewhere\ndef big(n): return n > LIMIT + elsewhere.MORE\n")
	b.write("project/app/tests/__init__.py", "")
	b.write("project/app/tests/test_rules.py", `import sys
import symchef
from ..rules import big
def test_big(n: symchef.Int(0, 9)):
    print(__name__, sys.prefix != sys.base_prefix, big(n))
`)
	b.write("more/elsewhere.py", "MORE = 2\n")
	b.env = append(b.env, "PYTHONPATH="+b.path("more"))
	b.run("run", "--out", "out", "project/app/tests/test_rules.py").want(0, "exhausted: every input")
	used(t, b, "out", python, b.path("project/.venv/bin/python"))
	_, tests := b.load("out")
	var got []string
	for _, x := range tests {
		got = append(got, b.output("out", x))
	}
	if all := strings.Join(got, ""); len(got) != 2 || !strings.Contains(all, "app.tests.test_rules True True\n") || !strings.Contains(all, "app.tests.test_rules True False\n") {
		t.Errorf("%q", got)
	}
}

// The interpreter comes from the shebang, from $VIRTUAL_ENV, from PATH or from
// --interpreter, through shims to the ELF file.
func TestInterpreter(t *testing.T) {
	b := pythonBox(t)
	const body = "import symchef\ndef test_x(x: symchef.Bool()): print(x)\n"
	b.write("test_plain.py", body)
	b.write("test_shebang.py", "#!"+python+" -E\n"+body)
	b.write("shims/python3.11", "#!/bin/sh\nexec "+python+" \"$@\"\n")
	b.write("old/python3.11", "#!/bin/sh\necho cpython; echo 3.7.2; echo /bin/sh\n")
	for _, c := range []struct {
		name, path string
		args       []string
		text       string
	}{
		{"shim", b.path("shims") + ":/bin", []string{"test_plain.py"}, ""},
		{"shebang", "/nowhere", []string{"test_shebang.py"}, ""},
		{"flag", "/nowhere", []string{"--interpreter", "shims/python3.11", "test_plain.py"}, ""},
		{"old", b.path("old") + ":/bin", []string{"test_plain.py"}, "passed over from PATH: " + b.path("old/python3.11") + " is cpython 3.7.2, need cpython 3.8+"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			in := *b
			in.t, in.env = t, append([]string{"PATH=" + c.path}, b.env[1:]...)
			in.run(append([]string{"run", "--out", "out-" + c.name, "--max-paths", "1"}, c.args...)...).want(0, c.text)
			argv0 := python
			if c.name == "old" {
				argv0 = "/bin/python3"
			}
			used(t, &in, "out-"+c.name, python, argv0)
		})
	}
}
