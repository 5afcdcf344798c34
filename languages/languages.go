// Package languages carries what symchef knows of each language, one folder a language:
//
//	language.desc   how its programs are run, its objects, places and models (docs/descriptions.md); without it there are no symbolic tests
//	probe.*         what interpreters run to tell what their objects look like
//	calibrate.desc  the script by which its interpreters show their high-level program counter
//	emit/           how test cases are written as a file of the language
//	guest/          the guest library, shown inside the machine under Root/LANGUAGE, extracted to a folder for native replay
//
// Nothing else in the program knows a language by its name.
package languages

import (
	"embed"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// Files of a language's folder.
const (
	Description = "language.desc"
	Calibration = "calibrate.desc"
	guest       = "guest"
)

// Root is where the machine shows the guest libraries.
const Root = "/symchef/guest"

//go:embed */*.desc */probe.* all:*/guest */emit
var files embed.FS

// A Folder is what is known of a language.
type Folder struct {
	Name  string
	Files fs.FS
}

// All are the folders in the binary, in the order of their names.
func All() []Folder {
	entries, err := files.ReadDir(".")
	if err != nil {
		panic(err) // it is in memory
	}
	var out []Folder
	for _, e := range entries {
		sub, err := fs.Sub(files, e.Name())
		if err != nil {
			panic(err)
		}
		out = append(out, Folder{e.Name(), sub})
	}
	return out
}

// Has reports whether the folder has a file.
func (f Folder) Has(name string) bool {
	_, err := fs.Stat(f.Files, name)
	return err == nil
}

// Guest is the guest library; false if there is none.
func (f Folder) Guest() (fs.FS, bool) {
	lib, err := fs.Sub(f.Files, guest)
	return lib, err == nil && f.Has(guest)
}

// Guests are the guest libraries by the place where the machine shows them.
func Guests() map[string]fs.FS {
	out := map[string]fs.FS{}
	for _, f := range All() {
		if lib, ok := f.Guest(); ok {
			out[Root+"/"+f.Name] = lib
		}
	}
	return out
}

// Extract writes the guest libraries below dir, which must exist, each to a folder that is called like the language. Files
// that are there already must not be: replays do not share directories.
func Extract(dir string) error {
	for at, lib := range Guests() {
		if err := extract(lib, filepath.Join(dir, strings.TrimPrefix(at, Root))); err != nil {
			return fmt.Errorf("extracting the guest library: %w", err)
		}
	}
	return nil
}

func extract(lib fs.FS, dir string) error {
	return fs.WalkDir(lib, ".", func(path string, e fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		target := filepath.Join(dir, filepath.FromSlash(path))
		if e.IsDir() {
			return os.MkdirAll(target, 0o755)
		}
		data, err := fs.ReadFile(lib, path)
		if err != nil {
			return err
		}
		f, err := os.OpenFile(target, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
		if err != nil {
			return err
		}
		if _, err := f.Write(data); err != nil {
			f.Close()
			return err
		}
		return f.Close()
	})
}
