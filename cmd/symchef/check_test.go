package main

import (
	"encoding/json"
	"os"
	"os/exec"
	"strings"
	"testing"
)

const stock = `import tools.parts

class Refused(Exception):
    pass

def third(items: list[int]) -> int:
    "The third of them."
    return items[2]

def number(text: str) -> int:
    """:raises ValueError: it is none"""
    if text == "":
        raise Refused
    return int(text) if len(text) < 2 else tools.parts.half(1)

def guessed(value):
    return value + 1

def refused(kind: type):
    pass
`

// A module of a package is checked with no test written: what is not documented is a finding with a call that can be pasted; the rest is counted. What
// was found is replayed, gone on with, and emitted as every run is.
func TestCheck(t *testing.T) {
	b := pythonBox(t)
	b.write("tools/__init__.py", "")
	b.write("tools/parts.py", "def half(n):\n    return n // 2\n")
	b.write("tools/stock.py", stock)
	b.run("check", "--progress", "none", "--out", "out", "tools/stock.py").want(1,
		"! tools.stock.third: exception IndexError: list index out of range", "    import tools.stock\n    tools.stock.third([])\n",
		"stock.py:8 in third", "its text names no exception; its package defines tools.stock.Refused",
		"every call of tools.stock.third(items: list[int]) within the bounds is known: 2 paths",
		"no value is known for the type type", "4 functions: 1 finding; no findings: ", "argument ", "documented ", "own 1")
	var got struct {
		Status   int
		Findings []struct {
			Call    string
			Imports []string
			Counts  bool
		}
		Functions []struct{ Name, Error string }
	}
	text, err := os.ReadFile(b.path("out/check.json"))
	if err == nil {
		valid(t, "check.schema.json", string(text))
		err = json.Unmarshal(text, &got)
	}
	if err != nil {
		t.Fatal(err)
	}
	if len(got.Findings) != 1 || got.Findings[0].Call != "tools.stock.third([])" || !got.Findings[0].Counts || got.Status != 1 || len(got.Functions) != 4 {
		t.Errorf("check.json says %+v", got)
	}
	b.run("replay", "out/tools.stock.third").want(0, " 0 diverged")
	b.run("check", "--resume", "out", "--progress", "none").want(1, "4 functions: 1 finding")
	b.run("check", "--resume", "out", "--write-baseline", "--baseline", "base.json", "--progress", "none").want(1, "1 finding")
	b.run("check", "--resume", "out", "--baseline", "base.json", "--progress", "none", "--sarif", "out.sarif", "--junit", "out.xml").want(0, "0 findings", "baseline 1")
	for file, want := range map[string]string{"out.sarif": `"results": []`, "out.xml": `<testsuite name="tools/stock.py" tests="4" failures="0" errors="0" skipped="1"`} {
		if text, err := os.ReadFile(b.path(file)); err != nil || !strings.Contains(string(text), want) {
			t.Errorf("%s: %v\n%s", file, err, text)
		}
	}
	b.write("pyproject.toml", "[tool.symchef.check]\ndocumented = [\"tools.*:IndexError\"]\n")
	b.run("check", "--resume", "out", "--progress", "none").want(0, "0 findings", "settings 1")
	b.write("pyproject.toml", "[tool.symchef.check]\ndocument = 3\n")
	b.run("check", "--resume", "out", "--progress", "none").want(2, "pyproject.toml: check.document is no setting of symchef")
	b.run("emit", "--format", "unittest", "out").want(2, "-o FOLDER")
	b.run("emit", "--format", "unittest", "-o", "cases", "out").want(0)
	cmd := exec.Command(python, "-m", "unittest", "discover", "-v", "cases")
	cmd.Dir, cmd.Env = b.path("."), []string{"PYTHONDONTWRITEBYTECODE=1", "HOME=" + b.dir}
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}

// What cannot be checked is refused with one line, before anything is written.
func TestCheckRefuses(t *testing.T) {
	b := pythonBox(t)
	b.write("empty.py", "")
	b.write("broken.py", "import nowhere\n")
	b.write("plain.py", "def f(n: int): return n\n")
	b.write("full/file", "")
	b.run("check").want(2, "name a file, a folder or a module")
	b.run("check", "nowhere.py").want(2, "nowhere.py")
	b.run("check", "no/where.py").want(2, "no such file or folder")
	b.run("check", "no_such_module").want(2, "there is no file, module or distribution of this name")
	b.run("check", "empty.py").want(2, "it has no public function")
	b.write("exits.py", "import sys; sys.exit(3)\n")
	b.write("loops.py", "while True: pass\n")
	b.run("check", "exits.py").want(2, "importing it failed: SystemExit")
	b.run("check", "--time", "3s", "loops.py").want(2, "longer than --time")
	b.run("check", "broken.py").want(2, "importing it failed: ModuleNotFoundError")
	b.run("check", "plain.py:g").want(2, "it has no public function or class called g")
	b.run("check", "-k", "g", "plain.py").want(2, "none of 1 function is called so")
	b.run("check", "--out", "full", "plain.py").want(2, "is no check directory")
	b.run("check", "--resume", "full").want(2, "no check to go on with")
	b.run("check", "--baseline", "no.json", "plain.py").want(2, "--write-baseline makes one")
	b.run("check", "--resume", "full", "plain.py").want(2, "it takes no target")
	b.run("check", "--list", "plain.py").want(0, "plain.f(n: int)\n")
}
