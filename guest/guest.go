// Package guestlib carries the guest libraries: one folder per language, shown
// inside the machine under Root and extracted to a directory for native replay.
package guestlib

import (
	"embed"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// Root is where the machine shows FS.
const Root = "/symchef/guest"

//go:embed python/symchef/*.py lua/*.lua r/*.R
var files embed.FS

// FS holds the libraries: "python/symchef/__init__.py" and so on.
func FS() fs.FS { return files }

// Extract writes the libraries below dir, which must exist; dir/python is then
// what PYTHONPATH needs. Files already there must not be: replays do not share
// directories.
func Extract(dir string) error {
	err := fs.WalkDir(files, ".", func(path string, e fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		target := filepath.Join(dir, filepath.FromSlash(path))
		if e.IsDir() {
			return os.MkdirAll(target, 0o755)
		}
		data, err := files.ReadFile(path)
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
	if err != nil {
		return fmt.Errorf("extracting the guest library: %w", err)
	}
	return nil
}
