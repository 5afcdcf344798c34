package session

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestCalibrateCache: a result is stored, and used while the interpreter is the same build and the
// description the same text; a damaged or foreign entry is not used.
func TestCalibrateCache(t *testing.T) {
	const lua = "/usr/bin/lua5.4"
	if _, err := os.Stat(lua); err != nil {
		t.Skip("skipped: lua5.4 is not installed")
	}
	o := CalibrateOptions{Interpreter: lua, CacheDir: filepath.Join(t.TempDir(), "cache")}
	first, err := Calibrate(o)
	if err != nil {
		t.Fatal(err)
	}
	entries, err := filepath.Glob(o.CacheDir + "/*.hlpc")
	if err != nil || len(entries) != 1 {
		t.Fatalf("cache holds %v, %v", entries, err)
	}
	text, err := os.ReadFile(entries[0])
	if err != nil {
		t.Fatal(err)
	}
	for what, edit := range map[string]func(string) string{
		"marked":        func(s string) string { return strings.Replace(s, `"per_statement": 1`, `"per_statement": 77`, 1) },
		"another build": func(s string) string { return strings.Replace(s, first.Function.BuildID, "00", 1) },
		"cut off":       func(s string) string { return s[:len(s)/2] },
		"no such rule":  func(s string) string { return strings.Replace(s, first.Code, "none", 1) },
	} {
		if err := os.WriteFile(entries[0], []byte(edit(string(text))), 0o600); err != nil {
			t.Fatal(err)
		}
		r, err := Calibrate(o)
		if err != nil {
			t.Fatal(err)
		}
		if used := r.PerStatement == 77; used != (what == "marked") || r.At() != first.At() {
			t.Errorf("%s: the entry was used: %v, %s", what, used, r.At())
		}
	}
	o.NoCache = true
	if r, err := Calibrate(o); err != nil || r.PerStatement != first.PerStatement {
		t.Errorf("without cache: %+v, %v", r, err)
	}
}

// TestCalibrateUsage: bad input is the user's mistake, with what to do.
func TestCalibrateUsage(t *testing.T) {
	bad := filepath.Join(t.TempDir(), "bad.desc")
	if err := os.WriteFile(bad, []byte("(calibration)"), 0o644); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		o    CalibrateOptions
		want string
	}{
		{CalibrateOptions{Interpreter: "/bin/cat"}, "--language"},
		{CalibrateOptions{Interpreter: "/bin/cat", Language: "cobol"}, "lua"},
		{CalibrateOptions{Interpreter: "/bin/cat", Description: bad}, "1:1"},
		{CalibrateOptions{Interpreter: "/bin/cat", Description: bad + "x"}, "no such file"},
		{CalibrateOptions{Interpreter: "/nonexistent/lua"}, "no such program"},
	} {
		if _, err := Calibrate(c.o); err == nil || !UsageError(err) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%+v: %v", c.o, err)
		}
	}
}
