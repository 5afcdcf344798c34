package session

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"symchef/internal/emit"
	"symchef/internal/rundir"
)

func TestKeyword(t *testing.T) {
	const name = "tests/test_mail.py::test_Address"
	for text, want := range map[string]bool{
		"": true, " ": true, "mail": true, "MAIL": true, "address": true, "date": false, "not date": true, "not mail": false, "mail and address": true,
		"mail and date": false, "date or mail": true, "date or not mail": false, "not (date or mail)": false, "not date and mail": true,
		"date or mail and not address": false, "(date or mail) and (address)": true, "py::test_A": true, "not not mail": true,
		`"mail.py::"`: true, `'test mail'`: false, `not 'test mail' and mail`: true, `"and" or mail`: true, `"(" or ")"`: false, `'"'`: false, `""`: true,
	} {
		k, err := parseKeyword(text)
		if err != nil || k.holds(name) != want {
			t.Errorf("%q: %v, want %v", text, err, want)
		}
	}
	for text, want := range map[string]bool{ // of a file with a text whose tests are not known
		"": true, "mail": true, "not mail": false, "address": true, "not address": true, "date": false, "not date": true, "date and address": false, "mail and address": true,
		"date or (mail and not date)": true, `"py::test_a"`: true, "ADDRESS": true,
	} {
		if k, err := parseKeyword(text); err != nil || k.mayHold("tests/test_mail.py", "def test_Address(:") != want {
			t.Errorf("%q of a file: %v, want %v", text, err, want)
		}
	}
	for text, want := range map[string]string{
		"and": `"and" is not expected`, "a and": "something is missing", "(a": "not closed", "a)": `")" is not expected`, "a b": `"b" is not expected`,
		"not": "missing", "a or or b": `"or" is not expected`, "()": `")" is not expected`, "it's": "quote ' is not closed", `a "b`: `quote " is not closed`, `"a" "b"`: `"b" is not expected`, `mail"py"`: `"py" is not expected`,
	} {
		if _, err := parseKeyword(text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %s", text, err, want)
		}
	}
}

// What counts in a folder: names, mentions, not what was emitted, and neither hidden folders nor virtual environments nor run directories.
func TestCollect(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{
		"test_a.py": "import symchef", "b_test.py": "symchef", "sub/deep/test_c.lua": "SymChef", "sub/c_test.lua": "symchef", "r/test-d.R": "symchef$x", "r/test_d.r": "symchef", "r/d_test.R": "symchef",
		"test_plain.py": "import pytest", "helper.py": "symchef", "test_notes.txt": "symchef", "test_emitted.py": "\"\"\"" + emit.Mark + "x\"\"\"\nsymchef", "mytest.py": "symchef",
		".hidden/test_h.py": "symchef", "env/pyvenv.cfg": "", "env/test_v.py": "symchef", "out/summary.json": "", "out/test_o.py": "symchef", "__pycache__/test_p.py": "symchef",
	} {
		file := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink("test_a.py", filepath.Join(dir, "test_link.py")); err != nil {
		t.Fatal(err)
	}
	mine := filepath.Join(dir, "mytest.py")
	got, err := collect([]string{dir, mine, filepath.Join(dir, "test_a.py"), filepath.Join(dir, "sub") + "/", "nowhere.py::x"})
	if err != nil {
		t.Fatal(err)
	}
	for i, f := range got {
		got[i] = strings.TrimPrefix(f, dir+"/")
	}
	want := "b_test.py r/d_test.R r/test-d.R r/test_d.r sub/c_test.lua sub/deep/test_c.lua test_a.py mytest.py nowhere.py::x"
	if strings.Join(got, " ") != want {
		t.Errorf("got  %s\nwant %s", strings.Join(got, " "), want)
	}
	if _, err := collect([]string{filepath.Join(dir, "__pycache__"), filepath.Join(dir, ".hidden")}); err != nil {
		t.Errorf("folders that are named: %v", err)
	}
	if _, err := collect([]string{filepath.Join(dir, "env", "..", "sub", "deep", "..", "..", "r", "..")}); err != nil {
		t.Error(err)
	}
}

func TestOutDirs(t *testing.T) {
	for _, c := range []struct {
		base  string
		tests []string
		want  []string
	}{
		{"", []string{"a/test_x.py::test_1", "a/test_x.py::test_2"}, []string{"symchef-out-test_x-test_1", "symchef-out-test_x-test_2"}},
		{"o", []string{"a/test_x.py::t", "b/test_x.py::t", "/c/test_x.py::t"}, []string{"o/a-test_x-t", "o/b-test_x-t", "o/c-test_x-t"}},
		{"o", []string{"c/test_x.py::t", "./c/test_x.lua::t"}, []string{"o/c-test_x-t-1", "o/c-test_x-t-2"}},
	} {
		var tests []*one
		for _, x := range c.tests {
			tests = append(tests, &one{Test: x})
		}
		if got := outDirs(c.base, tests); !slices.Equal(got, c.want) {
			t.Errorf("%v: %q, want %q", c.tests, got, c.want)
		}
	}
}

func TestTable(t *testing.T) {
	var b bytes.Buffer
	table(&b, [][]string{{"test", "paths", "where"}, {"é\n", "12", "d"}, {"long", "3", ""}})
	if want := "test  paths  where\né\\n      12  d\nlong      3\n"; b.String() != want {
		t.Errorf("%q", b.String())
	}
}

// With tests in several languages --interpreter is for those that it is an interpreter of.
func TestInterpreterOfOneLanguage(t *testing.T) {
	needPython(t)
	mixed := []string{"/t/test_a.py", "/t/test_b.lua::x", "/t/test_c.R", "/t/notes"}
	for _, tt := range []struct {
		with  string
		files []string
		want  []string
	}{
		{python, mixed, []string{python, "", "", ""}},
		{python, mixed[1:], []string{python, python, python, python}}, // an error of each
		{"/nowhere", mixed, []string{"/nowhere", "/nowhere", "/nowhere", "/nowhere"}},
		{"", mixed, []string{"", "", "", ""}},
	} {
		chosen := interpreters(Options{Interpreter: tt.with, NoCache: true}, tt.files)
		var got []string
		for _, f := range mixed {
			got = append(got, chosen(f))
		}
		if !slices.Equal(got, tt.want) {
			t.Errorf("%q for %q: %q, want %q", tt.with, tt.files, got, tt.want)
		}
	}
}

// TestManyAgain: of eight tests the first starts once for longer than its share of --time, and runs again with what the others have left; one whose
// start never ends does so once more, and has no result.
func TestManyAgain(t *testing.T) {
	took := map[string][]time.Duration{} // the shares that a test was given
	var stdout, stderr bytes.Buffer
	m := many{o: Options{Time: time.Hour, Out: t.TempDir()}, stdout: &stdout, stderr: &stderr}
	for i := range 8 {
		m.tests = append(m.tests, &one{Test: fmt.Sprintf("t.py::test_%d", i)})
	}
	m.runs = func(_ context.Context, o Options, stdout, stderr io.Writer) int {
		took[o.Test] = append(took[o.Test], o.Time)
		if o.Test == "t.py::test_3" || o.Test == "t.py::test_0" && len(took[o.Test]) == 1 {
			fmt.Fprintln(stderr, "symchef: importing and setting up the test took longer than 7.5m"+startTookLonger)
			return StatusUsage
		}
		o.OnShown(rundir.Summary{})
		return StatusOK
	}
	if status := m.run(context.Background(), time.Now().Add(m.o.Time)); status != StatusUsage {
		t.Errorf("status %d", status)
	}
	for i, test := range m.tests {
		shares := took[test.Test]
		if want := map[int]int{0: 2, 3: 2}[i]; want == 0 && len(shares) != 1 || want > 0 && (len(shares) != want || shares[1] < 2*shares[0]) {
			t.Errorf("%s had %v", test.Test, shares)
		}
		if (test.Summary == nil) != (i == 3) || (test.Error != "") != (i == 3) {
			t.Errorf("%s: %v %q", test.Test, test.Summary, test.Error)
		}
	}
}
