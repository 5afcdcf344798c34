package interp

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"symchef/languages"
)

func TestArgvEnviron(t *testing.T) {
	d, ok := ForFile("/a/test_x.py")
	if !ok || d.Language != "python" {
		t.Fatal(d)
	}
	if got := strings.Join(d.Argv("/v/bin/python", "/a/test_x.py::T"), " "); got != "/v/bin/python -m symchef /a/test_x.py::T" {
		t.Error(got)
	}
	base := []string{"A=1", "PYTHONPATH=/x", "TZ=Asia/Tokyo"}
	env := d.Environ(base, d.GuestDir())
	for _, kv := range []string{"A=1", "PYTHONPATH=/symchef/guest/python:/x", "TZ=Asia/Tokyo", "PYTHONHASHSEED=0", "PYTHONDONTWRITEBYTECODE=1"} {
		if !slices.Contains(env, kv) {
			t.Errorf("no %s in %q", kv, env)
		}
	}
	if again := d.Environ(env, d.GuestDir()); !slices.Equal(again, env) {
		t.Errorf("not idempotent: %q", again)
	}
	if base[2] != "TZ=Asia/Tokyo" {
		t.Error("the base was changed")
	}
	if _, ok := ForFile("/a/test.rb"); ok {
		t.Error("a description for .rb")
	}
}

func TestParseRefuses(t *testing.T) {
	const head = `(language x (suffixes ".x") (candidates "x") (default "/x") (implementation "x" "1.0") (ask "v") (argv test) (location r (export "R")) `
	if _, err := Parse(head + ")"); err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct{ src, want string }{
		{"", "1:1: unexpected end"},
		{"(language x", "1:1: list without its )"},
		{"(language x))", "text after"},
		{"(language x)", "clause suffixes is missing"},
		{"(languag x)", "need (language"},
		{"\n(language x (foo))", "2:13: unknown clause foo"},
		{`(language x (default "a") (default "b"))`, "second default"},
		{`(language x (default "a\n"))`, "without backslashes"},
		{`(language x (default "a`, "string without its end"},
		{`(language X)`, "name \"X\""},
		{`(language x (argv "-m"))`, "does not mention test"},
		{`(language x (model m nowhere))`, "need (model"},
		{`(language x (immortal 1 0z 2))`, `"0z" is not a number`},
		{`(language x (immortal 1 99999999999999999999 2))`, "is not a number"},
		{`(language x (implementation "x"))`, "need (implementation"},
		{head + `(version "2.0" (location a (export "A"))))`, "need (version"},
		{head + `(version "1.0" (layout l)))`, "unknown clause layout"},
		{head + `(version "1.0" (location a (shape "ret")) (model m a (places b))))`, "need a location"},
		{head + `(layout l (over int) (range 0 1) (store 0 9 1)))`, "SIZE 1 to 8"},
		{head + `(layout l (over int) (range 0 1) (store 0 8 1) (store 7 1 1)))`, "overlap"},
		{head + `(layout l (over int) (range 0 1) (store 0 8 (eq 1 1))))`, "not a condition"},
		{head + `(layout l (over int) (range 0 1) (store 0 8 (ite 1 2 3))))`, "wrong sort"},
		{head + `(layout l (over int) (range 0 1) (store 0 8 (add 1))))`, "takes 2 operands"},
		{head + `(layout l (over int) (range 0 1) (store 0 8 (frob 1))))`, "unknown operator frob"},
		{head + `(layout l (over int) (range 0 1) (store 0 8 len)))`, "unknown name len"},
		{head + `(layout l (over str) (lengths 0 1) (store 0 8 value)))`, "unknown name value"},
		{head + `(layout l (over str) (range 0 1) (payload 0)))`, "need (lengths"},
		{head + `(layout l (over int) (range 2 1) (store 0 8 1)))`, "crossed"},
		{head + `(layout l (over complex) (range 0 1) (store 0 8 1)))`, "kind of input"},
		{head + `(layout l (range 0 1) (store 0 8 1)))`, "no (over"},
		{head + `(layout l (over int) (range 0 1) (let a 1) (let a 2)))`, "already defined"},
		{head + `(layout l (over int) (range 0 1) (let a 1) (store 0 8 1)))`, "nothing uses a"},
		{head + `(layout l (over int) (range 0 1) (store 0 8 valeu)))`, "did you mean value?"},
		{head + `(layout l (over str) (lengths 0 1) (paylod 0)))`, "unknown clause paylod in layout: did you mean payload? there is each, expect, "},
		{head + "\n (suffixs \".y\"))", "2:2: unknown clause suffixs in language: did you mean suffixes?"},
		{head + `(location b (export "B")))`, "nothing uses the location b"},
		{head + `(location b (export "B" "C")))`, "need (export TEXT)"},
		{head + `(location b (exprt "B")))`, "did you mean export?"},
		{head + `(location b (export "B") (shape "ret")))`, "found by export already"},
		{head + `(location r (export "B")))`, "second location r"},
		{head + `(references -1))`, "need a number that is not negative"},
		{head + `(references q))`, "unknown number q"},
		{head + `(probe "p" (arguments "-") (numbers a a)))`, "second a"},
		{head + `(probe "p" (arguments "-") (numbers a)))`, "nothing uses the number a"},
		{head + `(probe "p" (numbers a)) (references a))`, "clause arguments is missing in probe"},
		{head + `(probe "p" (arguments "-") (numbers a)) (references a) (layout l (over int) (range 0 1) (store (add a 4) 4 1) (store (add a 7) 1 1)))`, "overlap"},
		{head + `(model hash-lenght r))`, "unknown model hash-lenght: did you mean hash-length?"},
		{head + `(model hash-length r (most 1)))`, "has no number most"},
		{head + `(model unshared r (places r)))`, "has no place r"},
		{head + `(model unshared r (kind 73)))`, "the place allocate is missing"},
		{head + `(location allocate (export "A")) (model unshared r (places allocate) (kind 73)))`, "the number flags is missing"},
		{head + `(model decline-symbolic r (length 1) (payload 2)))`, "(entry FUNCTION) is missing"},
		{head + `(model uninterned r (length 1) (payload 2)))`, "the place string-type is missing"},
		{head + `(model hash-length r (entry "f")))`, "it has no entry"},
		{head + `(model early-exit (imports "memcpm")))`, "did you mean memcmp?"},
		{head + `(model early-exit (imports "memcmp" (optional "memcmp"))))`, "second \"memcmp\""},
		{head + `(model early-exit (imports (optional (optional "memcmp")))))`, "need \"FUNCTION\""},
		{head + `(model hash-length (imports "memcmp")))`, "need its location"},
		{head + `(model early-exit r))`, "need (imports"},
		{head + `(optional (suffixes ".y")))`, "unknown clause suffixes in optional"},
		{`(language x  (suffixes ".x") (candidates "x") (default "/x") (implementation "x" "1.0" "2.0") (ask "v") (argv test) (location r (export "R")) (version "1.0" (model early-exit (imports "memcmp"))))`, `there is no (version "2.0" ...)`},
	} {
		_, err := Parse(tt.src)
		if err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%q: got %v, want %q", tt.src, err, tt.want)
		}
	}
}

// A folder whose description names files that are not there.
func TestLoadRefuses(t *testing.T) {
	const desc = `(language x (suffixes ".x") (candidates "x") (default "/x") (implementation "x" "1.0") (ask "v") (argv test (guest "lib.x")) (location r (export "R")))`
	for _, tt := range []struct{ file, want string }{
		{"", "x/language.desc:1:1: there is no guest library"},
		{"guest/libx", `x/language.desc:1:98: the guest library has no file "lib.x"`},
		{"guest/lib.x", ""},
	} {
		_, err := Load(languages.Folder{Name: "x", Files: fstest.MapFS{"language.desc": {Data: []byte(desc)}, tt.file: {}}})
		if (err == nil) != (tt.want == "") || err != nil && !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%q: got %v, want %q", tt.file, err, tt.want)
		}
	}
}

func FuzzParse(f *testing.F) {
	f.Add("(language x (version \"1\" (location a (shape \"ret\"))))")
	f.Add("(language x)")
	f.Fuzz(func(t *testing.T, src string) { Parse(src) })
}

func TestLocateRefuses(t *testing.T) {
	d, _ := ByName("python")
	script := filepath.Join(t.TempDir(), "script")
	if err := os.WriteFile(script, []byte("#!/bin/sh\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]string{script: "not an ELF file", "/bin/sh": "exports _PyRuntime", "/nonexistent": "no such file"} {
		if _, err := d.Locate(path, "3.11.2", ""); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", path, err)
		}
	}
}

// environment is a Getenv over a map.
func environment(m map[string]string) func(string) string {
	return func(n string) string { return m[n] }
}

func TestFind(t *testing.T) {
	if _, err := os.Stat(stock); err != nil {
		t.Skip("skipped: ", err)
	}
	d, _ := ByName("python")
	dir := t.TempDir()
	write := func(name, text string) string {
		p := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(p), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(p, []byte(text), 0o755); err != nil {
			t.Fatal(err)
		}
		return p
	}
	test := write("plain/test_x.py", "")
	write("shims/python3.11", "#!/bin/sh\nexec "+stock+` "$@"`+"\n")
	write("old/python3", "#!/bin/sh\necho cpython; echo 3.7.1; echo /nowhere\n")
	write("broken/python3", "#!/bin/sh\nexit 3\n")
	venv := filepath.Join(dir, "venv-project", ".venv")
	if out, err := exec.Command(stock, "-m", "venv", "--without-pip", venv).CombinedOutput(); err != nil {
		t.Skipf("skipped: no venv module: %s", out)
	}
	inVenv := write("venv-project/sub/test_y.py", "")

	tests := []struct {
		name   string
		opt    FindOptions
		origin string
		argv0  string
		notes  int
	}{
		{"through a shell shim", FindOptions{Test: test, Getenv: environment(map[string]string{"PATH": dir + "/shims"})}, "PATH", stock, 0},
		{"default", FindOptions{Test: test, Getenv: environment(nil)}, "default", stock, 0},
		{"default, passing over an old one", FindOptions{Test: test, Getenv: environment(map[string]string{"PATH": dir + "/old"})}, "default", stock, 1},
		{"default, passing over a broken one", FindOptions{Test: test, Getenv: environment(map[string]string{"PATH": dir + "/broken"})}, "default", stock, 1},
		{"shebang", FindOptions{Test: write("bang/test_z.py", "#!"+stock+" -x\n"), Getenv: environment(nil)}, "shebang", stock, 0},
		{"env shebang", FindOptions{Test: write("bang/test_e.py", "#!/usr/bin/env python3\n"), Getenv: environment(nil)}, "default", stock, 0},
		{"virtualenv above the test", FindOptions{Test: inVenv, Getenv: environment(nil)}, venv, venv + "/bin/python", 0},
		{"$VIRTUAL_ENV", FindOptions{Test: test, Getenv: environment(map[string]string{"VIRTUAL_ENV": venv})}, "$VIRTUAL_ENV", venv + "/bin/python", 0},
		{"explicit", FindOptions{Test: inVenv, Explicit: stock, Getenv: environment(nil)}, "--interpreter", stock, 0},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			f, err := d.Find(tt.opt)
			if err != nil {
				t.Fatal(err)
			}
			if f.Origin != tt.origin || f.Argv0 != tt.argv0 || f.ELF != stock || len(f.Notes) != tt.notes || !strings.HasPrefix(f.Version, "3.11.") {
				t.Errorf("%+v", f)
			}
		})
	}
	// Loading the resolved ELF with the virtualenv's python as argv[0] finds its packages.
	write("venv-project/.venv/lib/python3.11/site-packages/only_here.py", "WHERE = 'venv'\n")
	f, err := d.Find(FindOptions{Test: inVenv, Getenv: environment(nil)})
	if err != nil {
		t.Fatal(err)
	}
	cmd := &exec.Cmd{Path: f.ELF, Args: []string{f.Argv0, "-c", "import only_here; print(only_here.WHERE)"}, Env: []string{}}
	if out, err := cmd.Output(); err != nil || string(out) != "venv\n" {
		t.Errorf("in the virtualenv: %q %v", out, err)
	}
	for _, tt := range []struct{ explicit, want string }{
		{"/nonexistent/python", "no such file"},
		{dir + "/old/python3", "is cpython 3.7.1, need cpython 3.8+"},
		{dir + "/broken/python3", "does not answer"},
		{"/bin/true", "does not answer"},
	} {
		_, err := d.Find(FindOptions{Test: test, Explicit: tt.explicit, Getenv: environment(nil)})
		if err == nil || !strings.Contains(err.Error(), tt.want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: %v", tt.explicit, err)
		}
	}
}

// The image of a description without places is the program, and so it is where the first place is no export: not every interpreter exports something.
func TestImageIsProgram(t *testing.T) {
	const head = `(language x (suffixes ".x") (candidates "x") (default "/x") (implementation "x" "1.0") (ask "v") (argv test) `
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	for _, rest := range []string{`)`, `(optional (location a (shape "no such instruction")) (model hash-length a)))`} {
		d, err := Parse(head + rest)
		if err != nil {
			t.Fatal(err)
		}
		if img, err := d.Locate(self, "1.0", ""); err != nil || img.Path != self {
			t.Errorf("%s: %+v, %v", rest, img, err)
		}
	}
}
