package session

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"symchef/internal/emit"
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
		"test_a.py": "import symchef", "b_test.py": "symchef", "sub/deep/test_c.lua": "symchef", "sub/c_test.lua": "symchef", "r/test-d.R": "symchef$x", "r/test_d.r": "symchef", "r/d_test.R": "symchef",
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
