package main

import (
	"encoding/json"
	"fmt"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"symchef/internal/session"
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

// However a virtual environment is chosen, its packages are there when the test is loaded, in replay and in emitted tests, which name its interpreter.
func TestVirtualenvPackages(t *testing.T) {
	b := pythonBox(t)
	if out, err := exec.Command(python, "-m", "venv", "--without-pip", b.path("env")).CombinedOutput(); err != nil {
		t.Skipf("skipped: no venv: %v %s", err, out)
	}
	b.write("env/lib/python3.11/site-packages/installed.py", "LIMIT = 5\n")
	b.write("test_i.py", `import symchef
from installed import LIMIT
def test_i(n: symchef.Int(0, 9)):
    import installed
    if n > LIMIT: raise ValueError(installed.LIMIT)
`)
	for _, c := range []struct {
		name, env string
		args      []string
	}{
		{"active", "VIRTUAL_ENV=" + b.path("env"), nil},
		{"named", "A=B", []string{"--interpreter", "env/bin/python"}},
		{"conda", "CONDA_PREFIX=" + b.path("env"), nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			in := *b
			in.t, in.env = t, append(slices.Clone(b.env), c.env)
			if c.name == "conda" { // which has another mark
				b.write("env/conda-meta/history", "")
			}
			in.run(append([]string{"run", "--out", c.name, "test_i.py"}, c.args...)...).want(1, "exhausted: every input", "2 agreed")
			used(t, &in, c.name, python, b.path("env/bin/python"))
			in.run("emit", "--format", "unittest", "-o", c.name+".py", c.name).want(0)
			if text, err := readFile(b.path(c.name + ".py")); err != nil || !strings.Contains(text, "Run: "+b.path("env/bin/python")+" ") {
				t.Errorf("%v: %.300s", err, text)
			}
			if out, err := exec.Command(b.path("env/bin/python"), b.path(c.name+".py")).CombinedOutput(); err != nil {
				t.Errorf("%v\n%s", err, out)
			}
		})
	}
	in := *b
	in.env = append(slices.Clone(b.env), "CONDA_PREFIX="+b.path("empty")) // an environment without an interpreter of its own
	in.run("run", "--out", "none", "test_i.py").want(2, "No module named 'installed'")
}

// doctor lists the interpreters of virtual environments, of PATH and of version managers, each once, with what they are good for.
func TestDoctor(t *testing.T) {
	b := pythonBox(t)
	if out, err := exec.Command(python, "-m", "venv", "--without-pip", b.path(".venv")).CombinedOutput(); err != nil {
		t.Skipf("skipped: no venv: %v %s", err, out)
	}
	b.write("miniconda3/envs/old/bin/python", "#!/bin/sh\necho cpython; echo 3.7.2; echo /bin/sh\n")
	b.write("shims/python3.9", "#!/bin/sh\nexit 127\n")
	own := b.path(".pyenv/versions/own/bin/python")
	if out, err := exec.Command("sh", "-c", "mkdir -p $(dirname "+own+") && cp "+python+" "+own).CombinedOutput(); err != nil {
		t.Fatalf("%s", out)
	}
	b.env = []string{"PATH=" + b.path("shims") + ":/usr/bin:/bin", "HOME=" + b.dir, "XDG_CACHE_HOME=" + b.path("cache")}
	var d diagnosis
	if err := json.Unmarshal([]byte(b.run("doctor", "--json").want(0).stdout), &d); err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, r := range d.Interpreters {
		if r.Language == "python" {
			got = append(got, fmt.Sprintf("%s %s %s %v %s", r.From, r.Place, r.Tier, r.Taken, r.Todo))
		}
		if (r.Tier == session.TierModelled) != (len(r.Missing) == 0) || r.Taken != (r.Place == b.path(".venv/bin/python") || r.Language != "python" && r.Taken) {
			t.Errorf("%+v", r)
		}
	}
	want := []string{
		b.path(".venv") + " " + b.path(".venv/bin/python") + " modelled true ",
		"PATH /usr/bin/python3 modelled false ",
		"pyenv " + own + " modelled false ",
		"conda " + b.path("miniconda3/envs/old/bin/python") + " none false use another one",
	}
	if !slices.Equal(got, want) || !slices.Equal(d.PassedOver, []string{b.path("shims/python3.9")}) {
		t.Errorf("%q, passed over %q, want %q", got, d.PassedOver, want)
	}
	again := b.run("doctor").want(0, "(taken)", "passed over, since they only start others: "+b.path("shims/python3.9"),
		"python    3.7.2 ", b.path("miniconda3/envs/old/bin/python")+"  is cpython 3.7.2, need cpython 3.8+\n", "python: tier none: use another one\n")
	for _, line := range strings.Split(again.stdout, "\n") {
		if len(line) > 0 && line != strings.TrimRight(line, " ") {
			t.Errorf("spaces at the end of %q", line)
		}
	}
}
