package emit

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"symchef/internal/testcase"
)

// An emitted file checks the contracts of the tested code without the library: it is green as long as the finding fails as it did, and has the text of contracts only where a case needs it.
func TestContractsEmitted(t *testing.T) {
	if _, err := os.Stat("/usr/bin/python3.11"); err != nil {
		t.Skip("skipped: ", err)
	}
	dir := t.TempDir()
	file := filepath.Join(dir, "test_c.py")
	const text = "import symchef\nimport lib\ndef test_c(x: symchef.Int(0, 9)): return lib.f(x)\n"
	lib := "from symchef import ensure, pre\n@pre(lambda x: x > 0)\n@ensure(lambda r: r < 5)\ndef f(x): return x\n"
	for name, text := range map[string]string{file: text, filepath.Join(dir, "lib.py"): lib} {
		if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	good := testcase.Test{ID: "t1", Inputs: []testcase.Input{testcase.Int("x", 2)}, Observation: testcase.Observation{Outcome: testcase.Outcome{Kind: testcase.OK}, Returned: testcase.Value("i1:\x02")}}
	bad := testcase.Test{ID: "t2", Inputs: []testcase.Input{testcase.Int("x", 5)}, Observation: testcase.Observation{
		Outcome: testcase.Outcome{Kind: testcase.Assertion, Type: "symchef.PostconditionError", Message: "f: ensure: r < 5"}}}
	for _, c := range []struct {
		tests []testcase.Test
		has   bool
	}{{[]testcase.Test{good, bad}, true}, {[]testcase.Test{good}, false}} {
		var b strings.Builder
		emitted := filepath.Join(dir, "test_emitted.py")
		if err := Write(&b, Unittest, emitted, testcase.Target{Kind: "python", Path: file, Name: "test_c"}, c.tests, nil); err != nil {
			t.Fatal(err)
		}
		if has := strings.Contains(b.String(), "class PostconditionError"); has != c.has {
			t.Errorf("%d cases: has contracts: %v, want %v", len(c.tests), has, c.has)
		}
		if err := os.WriteFile(emitted, []byte(b.String()), 0o644); err != nil {
			t.Fatal(err)
		}
		for _, broken := range []bool{false, true} {
			cmd := exec.Command("/usr/bin/python3.11", "-B", emitted)
			cmd.Dir = dir
			if broken { // the finding is mended, or the other case fails
				if err := os.WriteFile(filepath.Join(dir, "lib.py"), []byte(strings.Replace(lib, "return x", "return 1", 1)), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			if out, err := cmd.CombinedOutput(); (err != nil) != broken {
				t.Errorf("%d cases, broken %v: %v\n%s", len(c.tests), broken, err, out)
			}
		}
		if err := os.WriteFile(filepath.Join(dir, "lib.py"), []byte(lib), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}
