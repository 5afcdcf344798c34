package session

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"symchef/internal/emit"
	"symchef/internal/interp"
)

// collect returns the test files that args name, PATH[::NAME] each, a folder replaced by the files in it that count, see counts.
func collect(args []string) (files []string, err error) {
	seen := map[string]bool{}
	add := func(f string) {
		if !seen[f] {
			seen[f] = true
			files = append(files, f)
		}
	}
	for _, arg := range args {
		arg = strings.TrimSuffix(arg, "::")
		st, err := os.Stat(arg)
		if err != nil || !st.IsDir() {
			add(arg) // whoever runs it says what is wrong
			continue
		}
		found := false
		err = filepath.WalkDir(arg, func(p string, d fs.DirEntry, err error) error {
			switch {
			case errors.Is(err, fs.ErrPermission):
				return fmt.Errorf("%s: cannot be read", p)
			case err != nil:
				return err
			case d.IsDir() && p != arg && passedOver(p):
				return fs.SkipDir
			case d.Type().IsRegular() && isTestFile(p):
				found = true
				add(p)
			}
			return nil
		})
		if err != nil {
			return nil, &usageError{err.Error()}
		}
		if !found {
			return nil, &usageError{fmt.Sprintf("%s: no test files in this folder: they mention symchef and are called %s", arg, strings.Join(testPatterns(), ", "))}
		}
	}
	return files, nil
}

// passedOver says that no tests are looked for in a folder: hidden ones, run directories, virtual environments, what others have installed.
func passedOver(dir string) bool {
	name := filepath.Base(dir)
	if strings.HasPrefix(name, ".") || name == "node_modules" {
		return true
	}
	marks := []string{"summary.json"}
	for _, d := range interp.All() {
		if slices.Contains(d.Compiled, name) {
			return true
		}
		marks = append(marks, d.VirtualMarkers()...)
	}
	for _, mark := range marks {
		if _, err := os.Lstat(filepath.Join(dir, mark)); err == nil {
			return true
		}
	}
	return false
}

// isTestFile says that a file of a folder counts: its name is one of its language's tests, and it mentions symchef, in whatever case, but was not
// written by `symchef emit`.
func isTestFile(file string) bool {
	d, ok := interp.ForFile(file)
	if !ok {
		return false
	}
	base := filepath.Base(file)
	for _, pattern := range d.Tests {
		if ok, _ := path.Match(pattern, strings.TrimSuffix(base, filepath.Ext(base))); ok {
			if st, err := os.Stat(file); err != nil || !st.Mode().IsRegular() {
				return false // a pipe would wait for ever
			}
			text, err := os.ReadFile(file)
			return err == nil && bytes.Contains(bytes.ToLower(text), []byte("symchef")) && !bytes.Contains(text, []byte(emit.Mark))
		}
	}
	return false
}

func testPatterns() (out []string) {
	for _, d := range interp.All() {
		for _, t := range d.Tests {
			out = append(out, t+d.Suffixes[0])
		}
	}
	return out
}
