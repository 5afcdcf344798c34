// Package languages carries what symchef knows of each language, one folder a language:
//
//	language.desc   how its programs are run, its objects, places and models (docs/descriptions.md); without it there are no symbolic tests
//	probe.*         what interpreters run to tell what their objects look like
//	calibrate.desc  the script by which its interpreters show their high-level program counter
//	emit/           how test cases are written as a file of the language
//	conformance/    scripts that are explored, and compared with native runs, to check the language
//	guest/          the guest library, shown inside the machine under Root/LANGUAGE, extracted to a folder for native replay
//
// Nothing else in the program knows a language by its name. One from outside (Add) is used as those in the binary are.
package languages

import (
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing/fstest"
)

// Files of a language's folder.
const (
	Description = "language.desc"
	Calibration = "calibrate.desc"
	guest       = "guest"
)

// Root is where the machine shows the guest libraries.
const Root = "/symchef/guest"

//go:embed */*.desc */probe.* all:*/guest */emit */conformance
var files embed.FS

// A Folder is what is known of a language.
type Folder struct {
	Name  string
	Dir   string // where it was read, absolute; empty: it is one of the binary's
	Files fs.FS

	digest string // of what was read
}

// outside are the added ones, the latest first.
var outside []Folder

// What a folder from outside may hold.
const (
	mostFiles = 1000
	mostBytes = 16 << 20
)

// Add takes a language from a folder that is called like it. It goes before those of the binary, and stands in the place of one that is called like it.
// The folder is read once, whole, but for what begins with a dot. It must be called before anything asks for languages.
func Add(dir string) (Folder, error) {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return Folder{}, err
	}
	held, sum, size := fstest.MapFS{}, sha256.New(), 0
	err = filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		rel, _ := filepath.Rel(dir, path)
		switch {
		case err != nil:
			return err
		case rel == "." && !e.IsDir():
			return fmt.Errorf("%s is no folder", dir)
		case rel != "." && strings.HasPrefix(e.Name(), ".") && e.IsDir():
			return fs.SkipDir
		case e.IsDir() || strings.HasPrefix(e.Name(), "."):
			return nil
		case !e.Type().IsRegular():
			return fmt.Errorf("%s: a language consists of regular files", path)
		}
		if info, err := e.Info(); err != nil || info.Size() > mostBytes {
			return fmt.Errorf("%s: a language has at most %d MiB", path, mostBytes>>20)
		}
		data, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		if size += len(data); size > mostBytes || len(held) == mostFiles {
			return fmt.Errorf("%s: a language has at most %d files of %d MiB together", dir, mostFiles, mostBytes>>20)
		}
		fmt.Fprintf(sum, "%q %d ", rel, len(data))
		sum.Write(data)
		held[filepath.ToSlash(rel)] = &fstest.MapFile{Data: data, Mode: 0o444}
		return nil
	})
	if err != nil {
		return Folder{}, err
	}
	f := Folder{Name: filepath.Base(dir), Dir: dir, Files: held, digest: hex.EncodeToString(sum.Sum(nil))}
	if !f.Has(Description) && !f.Has(Calibration) {
		return Folder{}, fmt.Errorf("%s: neither %s nor %s is there", dir, Description, Calibration)
	}
	outside = slices.Insert(slices.DeleteFunc(outside, func(o Folder) bool { return o.Name == f.Name }), 0, f)
	return f, nil
}

// Digest tells a language from outside from any other of its name; empty for one of the binary's.
func Digest(name string) string {
	for _, f := range outside {
		if f.Name == name {
			return f.digest
		}
	}
	return ""
}

// Outside tells what was added from anything else; empty if nothing was.
func Outside() string {
	var out []string
	for _, f := range outside {
		out = append(out, f.Name+" "+f.digest)
	}
	return strings.Join(out, " ")
}

// All are the folders: those added, and then those in the binary, in the order of their names.
func All() []Folder {
	entries, err := files.ReadDir(".")
	if err != nil {
		panic(err) // it is in memory
	}
	out := slices.Clone(outside)
	for _, e := range entries {
		if slices.ContainsFunc(outside, func(f Folder) bool { return f.Name == e.Name() }) {
			continue
		}
		sub, err := fs.Sub(files, e.Name())
		if err != nil {
			panic(err)
		}
		out = append(out, Folder{Name: e.Name(), Files: sub})
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
