package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// moon is Lua by another name, from a folder outside the binary; change alters the text of one of its files.
func moon(t *testing.T, b *box, change map[string][2]string) {
	t.Helper()
	if _, err := os.Stat("/usr/bin/lua5.4"); err != nil {
		t.Skip("skipped: lua5.4 is not installed")
	}
	from := "../../languages/lua"
	rename := strings.NewReplacer("(language lua", "(language moon", "(calibration lua", "(calibration moon", `".lua"`, `".moon"`)
	err := filepath.WalkDir(from, func(path string, e os.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		rel, _ := filepath.Rel(from, path)
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		switch dir, _, _ := strings.Cut(rel, "/"); {
		case strings.HasSuffix(rel, ".desc"):
			text = []byte(rename.Replace(string(text)))
		case dir == "conformance":
			rel = strings.TrimSuffix(rel, ".lua") + ".moon"
		}
		if c, ok := change[rel]; ok {
			if !strings.Contains(string(text), c[0]) {
				t.Fatalf("%s has no %q", rel, c[0])
			}
			text = []byte(strings.Replace(string(text), c[0], c[1], 1))
		}
		b.write("moon/"+rel, string(text))
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

// A language from a folder outside has what those in the binary have: its tests are explored, replayed and emitted. Without it they are refused, and
// a run does not lose its verdicts.
func TestLanguageOutside(t *testing.T) {
	b := pythonBox(t)
	moon(t, b, nil)
	text, err := os.ReadFile("../../examples/lua/email.lua")
	if err != nil {
		t.Fatal(err)
	}
	b.write("email.moon", string(text))
	b.run("run", "email.moon").oneLine(2, "no language is known for this suffix")
	b.run("run", "--language", "moon", "--out", "out", "email.moon").want(0, "3 low-level paths", " 3 agreed", "exhausted:")
	b.run("replay", "--language", "moon", "out").want(0, " 3 agreed")
	b.run("replay", "out").oneLine(2, "--language DIR is needed")
	b.run("emit", "out").oneLine(2, "--language DIR is needed")
	b.run("rerun", "out").oneLine(2, "the folder of the language moon is not given by --language, or has changed since the run")
	b.run("rerun", "--language", "moon", "out").want(0)
	b.run("emit", "--language", "moon", "-o", "spec.lua", "out").want(0)
	if sum, tests := b.load("out"); len(tests) != 3 || sum.Replay.Agreed != 3 {
		t.Errorf("%d tests, %+v", len(tests), sum.Replay)
	}
	b.run("languages", "--language", "moon").want(0, "moon ", b.path("moon"))
	b.run("languages", "--language", "nowhere").oneLine(2, "nowhere")
	// Another library is another machine.
	b.write("moon/guest/more.lua", "return 1\n")
	b.run("rerun", "--language", "moon", "out").oneLine(2, "the folder of the language moon is not given by --language, or has changed since the run")
}

// What is wrong in a language's folder is found.
func TestLanguageCheck(t *testing.T) {
	for _, c := range []struct {
		name   string
		change map[string][2]string
		status int
		want   string
	}{
		{"too few inputs", map[string][2]string{"conformance/branches.moon": {`"n", 0, 20`, `"n", 0, 14`}}, 1, "FAILED  branches     natively n=15 b=false gives usage: "},
		{"too many inputs", map[string][2]string{"conformance/calls.moon": {`"n", 0, 20`, `"n", 0, 29`}}, 1, "which natively no input does"},
		{"a model's name", map[string][2]string{"language.desc": {"(model ", "(modle "}}, 2, "moon/language.desc:"},
		{"another name", map[string][2]string{"language.desc": {"(language moon", "(language noon"}}, 2, "the language noon stands in a folder that is called moon"},
	} {
		t.Run(c.name, func(t *testing.T) {
			b := pythonBox(t)
			moon(t, b, c.change)
			r := b.run("language", "check", "./moon")
			r.want(c.status)
			if !strings.Contains(r.stdout+r.stderr, c.want) {
				t.Errorf("%s%s\nwant %q", r.stdout, r.stderr, c.want)
			}
		})
	}
	b := newBox(t)
	b.run("language", "check", "cobol").oneLine(2, "no such language")
	b.run("language", "check", "./none").oneLine(2, "none")
}

// The languages in the binary are what their folders say.
func TestLanguagesChecked(t *testing.T) {
	for _, name := range []string{"python", "lua", "r"} {
		t.Run(name, func(t *testing.T) {
			if name == "r" && os.Getenv("SYMCHEF_SLOW") == "" {
				t.Skip("skipped: a minute and more; SYMCHEF_SLOW is not set")
			}
			b := pythonBox(t)
			if tool := map[string]string{"lua": "/usr/bin/lua5.4", "r": "/usr/lib/R/bin/exec/R", "python": python}[name]; exec.Command("test", "-x", tool).Run() != nil {
				t.Skipf("skipped: %s is not installed", tool)
			}
			b.run("language", "check", name).want(0, "schema", "calibration", "branches", "calls", "exceptions", "strings", "numbers")
		})
	}
}
