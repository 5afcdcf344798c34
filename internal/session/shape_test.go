package session

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"symchef/internal/testcase"
)

// nativeShape is a line of testdata/shapes/native.py.
type nativeShape struct {
	Name    string
	Paths   int
	First   int
	Results []int
}

// Of each shape every value is found, as many high-level paths as all values take natively, with one low-level path each, and the smallest value first.
func TestShapes(t *testing.T) {
	needPython(t)
	lib, cleanup, err := GuestLibrary()
	if err != nil {
		t.Fatal(err)
	}
	defer cleanup()
	cmd := exec.Command(python, "testdata/shapes/native.py")
	cmd.Env = append(os.Environ(), "PYTHONDONTWRITEBYTECODE=1", "PYTHONPATH="+filepath.Join(lib, "python"))
	cmd.Stderr = os.Stderr
	lines, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	e := runIt(t, Options{Test: "testdata/shapes/test_shapes.py", AllPaths: true})
	e.sound(t)
	of := map[string][]testcase.Test{}
	for _, x := range e.tests {
		name := strings.Trim(x.Inputs[0].Label, "'\"")
		of[name] = append(of[name], x)
	}
	for dec := json.NewDecoder(bytes.NewReader(lines)); ; {
		var want nativeShape
		err := dec.Decode(&want)
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		var results []int
		groups := map[string]bool{}
		for _, x := range of[want.Name] {
			n, err := strconv.Atoi(x.Returned.String())
			if err != nil {
				t.Error(err)
			}
			results = append(results, n)
			groups[x.Group] = true
		}
		if len(results) != want.Paths || len(groups) != want.Paths {
			t.Errorf("%s: %d low-level and %d high-level paths, want %d", want.Name, len(results), len(groups), want.Paths)
		}
		if len(results) > 0 && results[0] != want.First {
			t.Errorf("%s: first %d, want %d", want.Name, results[0], want.First)
		}
		slices.Sort(results)
		if got := slices.Compact(results); !slices.Equal(got, want.Results) {
			t.Errorf("%s: %v, want %v", want.Name, got, want.Results)
		}
		delete(of, want.Name)
	}
	if len(of) > 0 {
		t.Errorf("not told by native.py: %d shapes", len(of))
	}
}
