package session

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"

	"symchef/internal/disk"
	"symchef/internal/interp"
	"symchef/internal/kernel"
	"symchef/internal/model"
	"symchef/internal/probe"
	"symchef/internal/testcase"
)

// FindInterpreter finds the interpreter that d describes, with all that its image has for the models; what is found by calling its functions
// is kept in a cache folder ("": the user's) for the build of the image.
func FindInterpreter(d *interp.Desc, o interp.FindOptions, cache string) (*interp.Found, error) {
	f, err := d.Find(o)
	if err == nil {
		complete(f, cache)
	}
	return f, err
}

// complete binds the models of an interpreter's image, see FindInterpreter; what cannot be bound is named.
func complete(f *interp.Found, cache string) {
	models := f.Image.Models
	f.Image.Models = nil
	for _, b := range models {
		if b.Kind().Functions != nil {
			if err := bind(f, &b, CacheDir(cache)); err != nil {
				f.Image.Without = append(f.Image.Without, interp.Missing{Name: "model " + b.Name, Why: err.Error()})
				continue
			}
		}
		f.Image.Models = append(f.Image.Models, b)
	}
}

// bound is what a cache file holds: places and numbers of a binding, or why there are none. Addresses are the image's own.
type bound struct {
	Places  map[string][]uint64
	Numbers map[string]uint64
	Why     string
}

// bind completes a binding whose places and numbers are found by calling functions.
func bind(f *interp.Found, b *model.Binding, cache string) error {
	file := ""
	if cache != "" && f.Image.BuildID != "" {
		h := sha256.Sum256(fmt.Appendf(nil, "%d %d %s %q %q %q", probe.Version, model.Version, f.Image.BuildID, b.Name, slices.Sorted(maps.Values(b.Functions)), b.Program))
		file = filepath.Join(cache, hex.EncodeToString(h[:16])+".places")
	}
	var found bound
	if old, err := disk.Read(file); file == "" || err != nil || json.Unmarshal(old, &found) != nil {
		found = ask(f, *b)
		if text, err := json.Marshal(found); err == nil && file != "" {
			saveFile(file, text)
		}
	}
	if found.Why != "" {
		return errors.New(found.Why)
	}
	b.Places, b.Numbers = found.Places, found.Numbers
	return nil
}

// ask finds them in a process of the interpreter.
func ask(f *interp.Found, b model.Binding) bound {
	path, err := filepath.EvalSymlinks(f.Image.Path) // as it is mapped
	if err != nil {
		return bound{Why: err.Error()}
	}
	base, err := probe.Find(kernel.Config{
		Path: f.ELF, Argv: []string{f.Argv0}, Env: testcase.PinEnv(f.Env), Cwd: "/", UID: os.Getuid(), GID: os.Getgid(),
	}, path, &b)
	if err != nil {
		return bound{Why: err.Error()}
	}
	b = b.Rebase(-base)
	return bound{Places: b.Places, Numbers: b.Numbers}
}
