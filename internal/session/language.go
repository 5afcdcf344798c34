package session

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"symchef/internal/disk"
	"symchef/internal/interp"
	"symchef/internal/replay"
	"symchef/internal/rundir"
	"symchef/internal/testcase"
	"symchef/languages"
)

// A script of conformance is a symbolic test in a language's folder, conformance/NAME and its suffix. It may declare these inputs, as long as it takes all
// values of them that stand here, and no others (assume). What it does for each of them is seen natively, and is what exploration has to find.
type script struct {
	name string
	rows func() [][]testcase.Input
}

// Inputs of scripts.
const (
	// Alphabet are the characters of s in strings.
	conformanceAlphabet = "ab-"
	// What n is in all scripts but numbers: from 0 up to it.
	conformanceMost = 20
)

var conformance = []script{
	{"branches", func() [][]testcase.Input {
		var rows [][]testcase.Input
		for n := int64(0); n <= conformanceMost; n++ {
			for _, b := range []bool{false, true} {
				rows = append(rows, []testcase.Input{testcase.Int("n", n), testcase.Bool("b", b)})
			}
		}
		return rows
	}},
	{"calls", ints},
	{"exceptions", ints},
	{"strings", func() [][]testcase.Input {
		texts, last := []string{""}, []string{""}
		for range 3 {
			var longer []string
			for _, t := range last {
				for _, c := range conformanceAlphabet {
					longer = append(longer, t+string(c))
				}
			}
			texts, last = append(texts, longer...), longer
		}
		var rows [][]testcase.Input
		for _, t := range texts {
			rows = append(rows, []testcase.Input{testcase.Str("s", t)})
		}
		return rows
	}},
	{"numbers", func() [][]testcase.Input {
		var rows [][]testcase.Input
		for n := int64(-8); n <= 8; n++ {
			for m := int64(1); m <= 5; m++ {
				rows = append(rows, []testcase.Input{testcase.Int("n", n), testcase.Int("m", m)})
			}
		}
		return rows
	}},
}

func ints() [][]testcase.Input {
	var rows [][]testcase.Input
	for n := int64(0); n <= conformanceMost; n++ {
		rows = append(rows, []testcase.Input{testcase.Int("n", n)})
	}
	return rows
}

// CheckOptions are the settings of CheckLanguage.
type CheckOptions struct {
	Language    string // its name, one of those that are known
	Interpreter string // "": the one that is found
	ReplayMode  replay.Mode
	Unconfined  bool
}

// CheckLanguage proves a language's folder, and writes a line for each part: the schema of what it says, an interpreter with all its places and models,
// its program counter, and scripts of conformance whose exploration is compared with native runs over all their inputs. It reports whether all is as it should be.
func CheckLanguage(c context.Context, o CheckOptions, w io.Writer) (bool, error) {
	k := &languageCheck{c: c, o: o, w: w, whole: true}
	d, described := interp.ByName(o.Language)
	cal, calibrated := interp.CalibrationOf(o.Language)
	if !described && !calibrated {
		return false, &usageError{fmt.Sprintf("%s: no such language; symchef languages lists them, --language DIR adds one", o.Language)}
	}
	var parts []string
	if described {
		parts = append(parts, fmt.Sprintf("%s: %s", languages.Description, d.Counts()))
	}
	if calibrated {
		parts = append(parts, languages.Calibration)
	}
	k.row(true, "schema", "%s", strings.Join(parts, ", "))
	interpreter, env := o.Interpreter, []string(nil)
	if described {
		f, err := FindInterpreter(d, interp.FindOptions{Explicit: o.Interpreter, Cache: CacheDir("")}, "")
		if err != nil {
			k.row(false, "interpreter", "%v", err)
			return false, nil
		}
		interpreter, env = f.ELF, d.Environ(append(os.Environ(), f.Env...), d.GuestDir())
		k.row(true, "interpreter", "%s %s, build %s", f.ELF, f.Version, f.Image.BuildID)
		for _, m := range f.Image.Without {
			k.row(true, "without", "%s", m)
		}
		if unread := d.Unread(f.Image); len(unread) > 0 {
			k.row(true, "variables", "no text of the interpreter, only others can read them: %s", strings.Join(unread, ", "))
		}
		if names := f.Image.Unexported; len(names) > 0 {
			k.row(true, "functions", "not exported, and done without: %s", strings.Join(names, ", "))
		}
		k.row(true, "models", "%d bound, %d layouts, %d places", len(f.Image.Models), len(f.Image.Layouts), len(f.Image.Locations))
	}
	if calibrated {
		if interpreter == "" {
			interpreter = cal.Interpreters[0]
		}
		r, err := Calibrate(CalibrateOptions{Interpreter: interpreter, Language: o.Language, Env: env, NoCache: true})
		if err == nil {
			k.row(true, "calibration", "%s, confidence %s", &r.Function, r.Confidence)
		} else {
			k.row(false, "calibration", "%v", err)
		}
	}
	if !described {
		k.row(true, "scripts", "none: without %s it has no symbolic tests", languages.Description)
		return k.whole, nil
	}
	return k.whole, k.scripts(d)
}

type languageCheck struct {
	c     context.Context
	o     CheckOptions
	w     io.Writer
	whole bool
}

// row writes one line of the result.
func (k *languageCheck) row(good bool, what, format string, args ...any) {
	mark := "ok"
	if !good {
		mark, k.whole = "FAILED", false
	}
	fmt.Fprintf(k.w, "%-7s %-12s %s\n", mark, what, fmt.Sprintf(format, args...))
}

// scripts explores the scripts of conformance.
func (k *languageCheck) scripts(d *interp.Desc) error {
	dir, remove, err := disk.Temp("language")
	if err != nil {
		return &usageError{err.Error()}
	}
	defer remove()
	for _, s := range conformance {
		file := s.name + d.Suffixes[0]
		text, err := fs.ReadFile(d.Folder.Files, "conformance/"+file)
		if err != nil {
			k.row(false, s.name, "conformance/%s is not there", file)
			continue
		}
		path := filepath.Join(dir, file)
		if err := os.WriteFile(path, text, 0o644); err != nil {
			return err
		}
		if k.c.Err() != nil {
			return k.c.Err()
		}
		said, err := k.script(s, path)
		if err != nil {
			k.row(false, s.name, "%v", err)
		} else {
			k.row(true, s.name, "%s", said)
		}
	}
	return nil
}

// script explores one and compares what is found with native runs; err says where they differ.
func (k *languageCheck) script(s script, path string) (said string, err error) {
	out := strings.TrimSuffix(path, filepath.Ext(path)) + "-out"
	var stdout, stderr bytes.Buffer
	status := Run(k.c, Options{
		Test: path, Out: out, Interpreter: k.o.Interpreter, Progress: "none", Strategy: "dfs", StdinLen: -1, NoCache: true, MaxMemory: DefaultMemory,
		ReplayMode: k.o.ReplayMode, Unconfined: k.o.Unconfined, Workers: 1,
	}, &stdout, &stderr)
	d, err := rundir.Open(out)
	if err != nil {
		return "", fmt.Errorf("status %d: %s", status, strings.TrimSpace(stderr.String()))
	}
	tests, _, err := d.Outlines()
	switch sum := d.Summary; {
	case err != nil:
		return "", err
	case status != StatusOK && status != StatusFailing:
		return "", fmt.Errorf("status %d: %s", status, strings.TrimSpace(stderr.String()))
	case !sum.Exhausted:
		return "", fmt.Errorf("not exhausted: %s", strings.Join(sum.WhyNotExhausted, "; "))
	case sum.Replay.Agreed != len(tests):
		return "", fmt.Errorf("%d of %d test cases agree natively", sum.Replay.Agreed, len(tests))
	}
	rows := s.rows()
	lib, cleanup, err := GuestLibrary()
	if err != nil {
		return "", err
	}
	defer cleanup()
	seen, err := replay.Observe(k.c, d.Summary.Target, rows, replay.Options{GuestLib: lib, Mode: k.o.ReplayMode, Unconfined: k.o.Unconfined})
	if err != nil {
		return "", err
	}
	met := make([]bool, len(tests))
	for i, n := range seen {
		found := false
		for j, t := range tests {
			if t.Difference(n.Observation) == nil {
				found, met[j] = true, true
			}
		}
		if !found {
			return "", fmt.Errorf("natively %s gives %s, which no test case does", ShowInputs(d.Summary.Target.Kind, rows[i]), shown(n.Observation))
		}
	}
	for j, t := range tests {
		if !met[j] {
			return "", fmt.Errorf("%s, %s gives %s, which natively no input does: it takes other inputs than it should", t.ID, ShowInputs(d.Summary.Target.Kind, t.Inputs), shown(t.Observation))
		}
	}
	return fmt.Sprintf("%s of behaviour, as %s", counts(len(d.Summary.Classes), "class", "classes"), counts(len(rows), "native run has", "native runs have")), nil
}

// shown is an observation in a few words.
func shown(o testcase.Observation) string {
	if o.Returned != "" {
		return fmt.Sprintf("%s, returned %s", o.Outcome, o.Returned)
	}
	return o.Outcome.String()
}
