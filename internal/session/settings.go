package session

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/pelletier/go-toml/v2"

	"symchef/internal/disk"
	"symchef/internal/interp"
	"symchef/internal/testcase"
)

// settingsFile is the file of settings of any language; the others stand in the descriptions.
const settingsFile = "symchef.toml"

// Settings are what a project says of its checks: the table [check] of symchef.toml, or of the language's own file.
type Settings struct {
	File         string   `toml:"-"`          // where they stand; empty: nowhere
	Ignore       []string `toml:"ignore"`     // patterns of functions that are not checked
	Documented   []string `toml:"documented"` // exceptions that are no findings: TYPE, or FUNCTION:TYPE, both patterns
	Baseline     string   `toml:"baseline"`   // relative to the file
	Time         string   `toml:"time"`
	Instructions uint64   `toml:"instructions"`
}

// findSettings reads the settings of a target: those of the nearest folder, from its own upwards, that has any.
func findSettings(target string, d []*interp.Desc) (s Settings, err error) {
	folder, err := filepath.Abs(target)
	if err != nil {
		return s, err
	}
	for ; ; folder = filepath.Dir(folder) {
		s, found, err := settingsIn(folder, d)
		if found || err != nil {
			return s, err
		}
		if folder == filepath.Dir(folder) {
			return Settings{}, nil
		}
	}
}

// settingsIn reads those of one folder.
func settingsIn(folder string, languages []*interp.Desc) (s Settings, found bool, err error) {
	places := []interp.SettingsFile{{File: settingsFile}}
	for _, d := range languages {
		places = append(places, d.Settings...)
	}
	for _, p := range places {
		file := filepath.Join(folder, p.File)
		text, err := disk.Read(file)
		if errors.Is(err, fs.ErrNotExist) || errors.Is(err, fs.ErrPermission) || err != nil && !isFolder(folder) {
			continue
		}
		if err != nil {
			return s, false, &usageError{err.Error()}
		}
		text, found, err := tableOf(text, p.Table)
		if err == nil && found {
			s, err = parseSettings(text)
		}
		if err != nil {
			return s, false, &usageError{fmt.Sprintf("%s: %v", file, err)}
		}
		if found {
			s.File = file
			return s, true, nil
		}
	}
	return s, false, nil
}

func isFolder(path string) bool {
	st, err := os.Stat(path)
	return err == nil && st.IsDir()
}

// tableOf is the table of text that is called so, a.b within a, as a text of its own; the whole if name is empty.
func tableOf(text []byte, name string) ([]byte, bool, error) {
	if name == "" {
		return text, true, nil
	}
	var all map[string]any
	if err := toml.Unmarshal(text, &all); err != nil {
		return nil, false, err
	}
	for _, part := range strings.Split(name, ".") {
		inner, ok := all[part].(map[string]any)
		if !ok {
			return nil, false, nil
		}
		all = inner
	}
	out, err := toml.Marshal(all)
	return out, true, err
}

func parseSettings(text []byte) (Settings, error) {
	var all struct{ Check Settings }
	err := toml.NewDecoder(bytes.NewReader(text)).DisallowUnknownFields().Decode(&all)
	var unknown *toml.StrictMissingError
	if errors.As(err, &unknown) {
		return all.Check, fmt.Errorf("%s is no setting of symchef", strings.Join(unknown.Errors[0].Key(), "."))
	}
	s := all.Check
	for _, p := range slices.Concat(s.Ignore, s.Documented) {
		if _, e := path.Match(p, ""); e != nil && err == nil {
			err = fmt.Errorf("%q is no pattern", p)
		}
	}
	if s.Time != "" && err == nil {
		_, err = time.ParseDuration(s.Time)
	}
	return s, err
}

// ignores says whether a function is not to be checked.
func (s *Settings) ignores(function string) bool {
	return slices.ContainsFunc(s.Ignore, func(p string) bool { ok, _ := path.Match(p, function); return ok })
}

// documents says whether a type of exception is no finding of a function.
func (s *Settings) documents(function, kind string) bool {
	return slices.ContainsFunc(s.Documented, func(p string) bool {
		of, what, both := strings.Cut(p, ":")
		if !both {
			of, what = "*", p
		}
		a, _ := path.Match(of, function)
		b, _ := path.Match(what, kind)
		return a && b
	})
}

// baseline are findings that are known: a check fails on others only.
type baseline struct {
	SchemaVersion int     `json:"schema_version"`
	Findings      []known `json:"findings"`
}

// known is what two checks have in common of a finding: no line, since these move.
type known struct {
	Function testcase.Text `json:"function"`
	Kind     testcase.Kind `json:"kind"`
	Type     testcase.Text `json:"type,omitempty"`
	In       testcase.Text `json:"in,omitempty"` // the function that raises
}

func knownOf(f *finding) known {
	in := ""
	if m := placeParts.FindStringSubmatch(f.Site); m != nil {
		in = m[3]
	}
	return known{testcase.Text(f.Function.Name), f.Outcome.Kind, testcase.Text(f.Outcome.Type), testcase.Text(in)}
}

// readBaseline reads the file that --baseline names.
func readBaseline(file string) (b baseline, err error) {
	text, err := disk.Read(file)
	if err == nil {
		err = json.Unmarshal(text, &b)
	}
	if err == nil && b.SchemaVersion != checkVersion {
		err = errors.New("it is no baseline of this version of symchef")
	}
	if err != nil {
		err = &usageError{fmt.Sprintf("--baseline: %v; --write-baseline makes one", err)}
	}
	return b, err
}

// writeBaseline keeps the findings, those that were known before and are still there included.
func writeBaseline(file string, all []finding) error {
	b := baseline{SchemaVersion: checkVersion, Findings: []known{}}
	for _, f := range all {
		if k := knownOf(&f); f.Refuted == nil && (f.Demoted == "" || f.Demoted == becauseKnown) && !slices.Contains(b.Findings, k) {
			b.Findings = append(b.Findings, k)
		}
	}
	text, err := json.MarshalIndent(b, "", "  ")
	if err == nil {
		err = disk.Replace(filepath.Dir(file), filepath.Base(file), append(text, '\n'), 0o644)
	}
	if err != nil {
		return &usageError{"--write-baseline: " + err.Error()}
	}
	return nil
}
