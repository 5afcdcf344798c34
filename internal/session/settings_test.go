package session

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"symchef/internal/interp"
	"symchef/internal/rundir"
	"symchef/internal/testcase"
)

// The nearest file with settings counts, symchef.toml before a language's own, which has a table for them.
func TestSettings(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) {
		t.Helper()
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	languages := []*interp.Desc{{Settings: []interp.SettingsFile{{File: "project.toml", Table: "tool.symchef"}}}}
	write("symchef.toml", "[check]\ninstructions = 7\n")
	write("a/b/m.x", "")
	write("a/project.toml", "[tool.other]\nx = 1\n")
	find := func() Settings {
		t.Helper()
		s, err := findSettings(filepath.Join(dir, "a/b/m.x"), languages)
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	if s := find(); s.File != filepath.Join(dir, "symchef.toml") || s.Instructions != 7 {
		t.Errorf("%+v", s)
	}
	write("a/project.toml", "[tool.symchef.check]\ntime = \"2m\"\nignore = [\"m.old*\"]\ndocumented = [\"KeyError\", \"m.f:m.*\"]\n")
	s := find()
	if s.File != filepath.Join(dir, "a/project.toml") || s.Time != "2m" {
		t.Errorf("%+v", s)
	}
	if !s.ignores("m.old.f") || s.ignores("m.new") || !s.documents("m.g", "KeyError") || !s.documents("m.f", "m.E") || s.documents("m.g", "m.E") || s.documents("m.f", "ValueError") {
		t.Errorf("%+v does not match as it should", s)
	}
	for text, want := range map[string]string{
		"[check]\nignored = 1\n":       "check.ignored is no setting",
		"[checks]\n":                   "checks is no setting",
		"[check]\nignore = [\"[\"]\n":  "is no pattern",
		"[check]\ntime = \"soon\"\n":   "time: invalid duration",
		"[check]\ntime = 3\n":          "symchef.toml",
		"[check\n":                     "symchef.toml",
		"[check]\ninstructions = -1\n": "symchef.toml",
	} {
		write("a/b/symchef.toml", text)
		if _, err := findSettings(filepath.Join(dir, "a/b/m.x"), languages); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %s", text, err, want)
		}
	}
}

// A baseline knows findings by what stays when lines move, and forgets those that are gone.
func TestBaseline(t *testing.T) {
	found := func(function, kind, site, demoted string, refuted *rundir.Verdict) finding {
		c := &checked{}
		c.Name = function
		f := rundir.Finding{Outcome: testcase.Outcome{Kind: testcase.Exception, Type: kind}, Site: site, Refuted: refuted}
		return finding{Function: c, Finding: f, Demoted: demoted}
	}
	file := filepath.Join(t.TempDir(), "base.json")
	all := []finding{
		found("m.f", "KeyError", "/m:3:g", "", nil), found("m.f", "KeyError", "/m:9:g", "", nil), found("m.f", "KeyError", "/m:3:h", becauseKnown, nil),
		found("m.f", "TypeError", "/m:3:g", becauseGuess, nil), found("m.f", "IndexError", "/m:3:g", "", &rundir.Verdict{}),
	}
	if err := writeBaseline(file, all); err != nil {
		t.Fatal(err)
	}
	b, err := readBaseline(file)
	if err != nil || len(b.Findings) != 2 {
		t.Fatalf("%+v, %v", b, err)
	}
	for i, want := range []bool{true, true, true, false, false} {
		if got := slices.Contains(b.Findings, knownOf(&all[i])); got != want {
			t.Errorf("%d is known: %v", i, got)
		}
	}
	moved := found("m.f", "KeyError", "/m:77:g", "", nil)
	if !slices.Contains(b.Findings, knownOf(&moved)) {
		t.Error("it is not known on another line")
	}
	for _, text := range []string{"", "{}", `{"schema_version": 7}`} {
		if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		if _, err := readBaseline(file); err == nil || !strings.Contains(err.Error(), "--write-baseline makes one") {
			t.Errorf("%q: %v", text, err)
		}
	}
}

// What is found at one place by several functions is one defect; the call with the fewest guesses, then the shortest, stands for it.
func TestDefects(t *testing.T) {
	found := func(function, call, site string, guesses int) finding {
		c := &checked{}
		c.Name, c.Guessed = function, make([]string, guesses)
		return finding{Function: c, Call: call, Finding: rundir.Finding{Outcome: testcase.Outcome{Kind: testcase.Assertion}, Site: site}}
	}
	all := []finding{
		found("a", "a(1)", "/m:1:f", 1), found("b", "b(100)", "/m:1:f", 0), found("c", "c(1)", "/m:1:f", 0), found("c", "c(12)", "/m:2:f", 0), found("d", "d()", "", 0), found("e", "e()", "", 0),
	}
	got := confirmed(all)
	if len(got) != 4 || got[0].Call != "c(1)" || !slices.Equal(got[0].Also, []string{"a", "b"}) || got[1].Call != "c(12)" || len(got[2].Also) != 0 {
		t.Errorf("%+v", got)
	}
}
