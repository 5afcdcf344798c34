package session

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strings"
	"sync"

	"symchef/internal/interp"
)

// Tiers of interpreters, best first.
const (
	TierModelled   = "modelled"   // all that the language's description names is found
	TierCalibrated = "calibrated" // paths through the interpreted program are known; some models are missing
	TierPlain      = "plain"      // they are not known: each path through the interpreter is one of its own
	TierNone       = "none"       // it cannot be explored
)

// Interpreter is a row of what symchef doctor tells.
type Interpreter struct {
	Language string        `json:"language"`
	Version  string        `json:"version"`  // empty: not known
	Place    string        `json:"place"`    // what --interpreter is to be
	Program  string        `json:"program"`  // the ELF file
	From     string        `json:"from"`     // where it was found
	BuildID  string        `json:"build_id"` // empty: it has none
	Tier     string        `json:"tier"`
	Taken    bool          `json:"taken"` // run takes it here
	Missing  []MissingPart `json:"missing"`
	Todo     string        `json:"todo"` // empty: nothing
	Notes    []string      `json:"notes,omitempty"`
	found    *interp.Found
	desc     *interp.Desc
	wrapper  bool // it is no ELF file, and does not answer
}

// MissingPart is what an interpreter does not have.
type MissingPart struct {
	Name string `json:"name"`
	Why  string `json:"why"`
}

// Survey finds the interpreters of this machine for whoever is in folder: for each language the one that run takes, and then the others, each once. silent are
// programs, no ELF files, that do not answer or that run would not ask, as those of version managers.
func Survey(folder string) (rows []Interpreter, silent []string) {
	cache := CacheDir("")
	for _, d := range interp.All() {
		mine := []Interpreter{}
		f, err := FindInterpreter(d, interp.FindOptions{Test: filepath.Join(folder, "test"), Cache: cache}, "")
		switch {
		case err == nil:
			mine = append(mine, Interpreter{Language: d.Language, From: f.Origin, Taken: true, Notes: f.Notes, found: f, desc: d})
		case !errors.Is(err, interp.ErrAbsent):
			mine = append(mine, Interpreter{Language: d.Language, Tier: TierNone, Taken: true, desc: d, Missing: []MissingPart{{"interpreter", err.Error()}}, Todo: "install one, or name it: --interpreter"})
		}
		rows = append(rows, mine...)
		var others []Interpreter
		for _, in := range d.Installed(folder, os.Getenv) {
			if !slices.Contains(d.Candidates, filepath.Base(in.Path)) && !interp.IsELF(in.Path) {
				silent = append(silent, in.Path)
				continue
			}
			others = append(others, Interpreter{Language: d.Language, Place: in.Path, From: in.From, desc: d})
		}
		each(others, func(r *Interpreter) { r.look(cache) })
		for _, r := range others {
			switch {
			case r.wrapper:
				silent = append(silent, r.Place)
			case !r.among(rows):
				rows = append(rows, r)
			}
		}
	}
	each(rows, (*Interpreter).tier)
	slices.SortStableFunc(rows, func(a, b Interpreter) int { // of each language those that can be explored first
		if a.Language != b.Language || a.Taken || b.Taken || (a.Tier == TierNone) == (b.Tier == TierNone) {
			return 0
		}
		return map[bool]int{true: 1, false: -1}[a.Tier == TierNone]
	})
	return rows, silent
}

// each calls f for all rows, two at a time; one after the other, with a collector that knows of it, where the address space is small.
func each(rows []Interpreter, f func(*Interpreter)) {
	var wg sync.WaitGroup
	free := make(chan bool, 2)
	if room, err := fits(DefaultMemory, io.Discard); err == nil && room < DefaultMemory {
		free = make(chan bool, 1)
		defer debug.SetMemoryLimit(debug.SetMemoryLimit(int64(room)))
	}
	for i := range rows {
		free <- true
		wg.Go(func() {
			f(&rows[i])
			<-free
		})
	}
	wg.Wait()
}

// look asks the interpreter what it is.
func (r *Interpreter) look(cache string) {
	f, err := r.desc.Look(interp.Installation{Path: r.Place, From: r.From}, cache)
	if err != nil {
		r.Tier, r.Missing, r.Todo = TierNone, []MissingPart{{"interpreter", err.Error()}}, "use another one"
		r.wrapper = errors.Is(err, interp.ErrSilent) && !interp.IsELF(r.Place)
		if other := (*interp.OtherError)(nil); errors.As(err, &other) {
			r.Version = other.Version
		}
		return
	}
	complete(f, cache)
	r.found = f
}

// among says whether one of rows is the same interpreter: the same program, in the same virtual environment. Two that cannot be explored are the same file.
func (r *Interpreter) among(rows []Interpreter) bool {
	for i := range rows {
		o := &rows[i]
		if o.Language != r.Language || (o.found == nil) != (r.found == nil) {
			continue
		}
		if r.found != nil && o.found.ELF == r.found.ELF && r.desc.Environment(o.found.Argv0) == r.desc.Environment(r.found.Argv0) {
			return true
		}
		a, _ := filepath.EvalSymlinks(o.Place)
		b, _ := filepath.EvalSymlinks(r.Place)
		if r.found == nil && a == b && a != "" {
			return true
		}
	}
	return false
}

// tier looks for the high level, which is kept for the build, and completes the row.
func (r *Interpreter) tier() {
	f := r.found
	if f == nil {
		return
	}
	r.Version, r.Program, r.BuildID, r.Place = f.Version, f.ELF, f.Image.BuildID, f.Argv0
	r.Missing = []MissingPart{}
	for _, m := range f.Image.Without {
		r.Missing = append(r.Missing, MissingPart{m.Name, m.Why})
	}
	r.Tier = TierModelled
	if len(r.Missing) > 0 {
		r.Tier, r.Todo = TierCalibrated, "nothing: it is explored as soundly, with more paths through the interpreter"
	}
	env, err := environment(r.desc.Pass, nil)
	if err == nil {
		env = r.desc.Environ(append(env, f.Env...), r.desc.GuestDir())
		_, err = Calibrate(CalibrateOptions{Interpreter: f.ELF, Language: r.Language, Env: env})
	}
	if err != nil {
		r.Tier = TierPlain
		r.Missing = append(r.Missing, MissingPart{"high level", strings.TrimPrefix(err.Error(), f.ELF+": ")})
		r.Todo = fmt.Sprintf("symchef calibrate --language %s %s", r.Language, f.ELF)
	}
}
