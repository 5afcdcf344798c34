package session

import (
	"bytes"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"testing"

	"symchef/internal/guest"
	"symchef/internal/testcase"
)

// Plain programs that call the tests of testdata/ends: FILE N.
const (
	endsPython = `
import os, sys, types
sys.modules["symchef"] = types.SimpleNamespace(Int=lambda least, most: None)
sys.path.insert(0, os.path.dirname(sys.argv[1]))
import ends
try:
    ends.test_end(int(sys.argv[2]))
except ValueError:
    pass
`
	endsLua = `
package.preload.symchef = function() return { integer = function() return tonumber(arg[2]) end } end
pcall(dofile(arg[1]))
`
	endsR = `
symchef <- list(integer = function(...) as.integer(commandArgs(TRUE)[2L]))
source(commandArgs(TRUE)[1L])
invisible(tryCatch(test_end(), error = function(e) NULL))
`
)

// What is done at the end of a process, by handlers, finalizers and buffers that are flushed, is what a plain run does: standard output and error,
// files, status or signal; and how the test itself ended is kept.
func TestEnds(t *testing.T) {
	type row struct {
		name, file, plain string
		argv              []string // of the plain run, before the program
		cases             int
		hangs             int // the input that does not end
	}
	rows := []row{
		{"python", "ends.py", endsPython, []string{python, "-B"}, 16, 13},
		{"R", "ends.R", endsR, []string{stockR, "--no-echo", "--no-restore", "--no-save", "-f"}, 10, -1},
	}
	for _, v := range []string{"5.1", "5.2", "5.3", "5.4"} {
		rows = append(rows, row{"lua" + v, "ends.lua", endsLua, []string{"/usr/bin/lua" + v}, 9, 2})
	}
	for _, tt := range rows {
		t.Run(tt.name, func(t *testing.T) {
			if !exists(tt.argv[0]) {
				t.Skipf("skipped: %s is not installed", tt.argv[0])
			}
			home := t.TempDir()
			t.Setenv("HOME", home)
			file, err := filepath.Abs("testdata/ends/" + tt.file)
			if err != nil {
				t.Fatal(err)
			}
			plain := filepath.Join(t.TempDir(), "plain")
			if err := os.WriteFile(plain, []byte(tt.plain), 0o644); err != nil {
				t.Fatal(err)
			}
			e := runIt(t, Options{Test: file, Interpreter: tt.argv[0]})
			if r := e.summary.Replay; r.Agreed != tt.cases || len(e.tests) != tt.cases {
				t.Errorf("%d test cases, want %d: %+v\n%s%s", len(e.tests), tt.cases, r, e.stdout, e.stderr)
			}
			for _, x := range e.tests {
				n, err := x.Inputs[0].Int()
				if err != nil {
					t.Fatal(err)
				}
				if int(n) == tt.hangs {
					if x.Outcome.Kind != testcase.Hang {
						t.Errorf("%d: %v, want a hang", n, x.Outcome)
					}
					continue
				}
				argv := append(slices.Clone(tt.argv), plain)
				if tt.name == "R" {
					argv = append(argv, "--args")
				}
				cmd := exec.Command(argv[0], append(argv[1:], file, strconv.Itoa(int(n)))...)
				cmd.Env = []string{"PATH=/usr/bin:/bin", "HOME=" + home, "LANG=C.UTF-8"}
				var stdout, stderr bytes.Buffer
				cmd.Stdout, cmd.Stderr = &stdout, &stderr
				var exit *exec.ExitError
				if err := cmd.Run(); err != nil && !errors.As(err, &exit) {
					t.Fatal(err)
				}
				end := cmd.ProcessState
				signal := ""
				if end.ExitCode() < 0 {
					signal = guest.SignalName(11)
				}
				test := testcase.Outcome{Kind: testcase.OK}
				if n == 5 || n == 6 && tt.name != "R" {
					test = testcase.Outcome{Kind: testcase.Exception, Type: x.Outcome.Type, Message: x.Outcome.Message}
				}
				if want := test.Then(max(end.ExitCode(), 0), signal); !x.Outcome.Same(want) {
					t.Errorf("%d: %v, in a plain run %v", n, x.Outcome, want)
				}
				if x.OutputSHA256 != testcase.OutputDigest(stdout.Bytes()) {
					t.Errorf("%d: %d bytes of output, in a plain run %q", n, x.OutputBytes, stdout.String())
				}
				if (x.StderrBytes > 0) != (stderr.Len() > 0) {
					t.Errorf("%d: %d bytes of standard error, in a plain run %q", n, x.StderrBytes, stderr.String())
				}
				var files []testcase.FileEffect
				left := filepath.Join(home, "left")
				if content, err := os.ReadFile(left); err == nil {
					files = []testcase.FileEffect{{Path: testcase.Text(left), Change: testcase.Made, Kind: testcase.RegularFile, Mode: "0644", Size: int64(len(content)), SHA256: testcase.OutputDigest(content)}}
					os.Remove(left)
				}
				if !slices.Equal(x.Files, files) {
					t.Errorf("%d: files %v, in a plain run %v", n, x.Files, files)
				}
			}
		})
	}
}

// A test that leaves nothing behind does not pay for it: to free everything takes Python some ten million instructions.
func TestEndsCheaply(t *testing.T) {
	file := filepath.Join(t.TempDir(), "nothing.py")
	if err := os.WriteFile(file, []byte("import argparse, logging, symchef, tempfile, threading\ndef test_it(n: symchef.Int(0, 9)): return n\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	others, _ := filepath.Glob(os.Getenv("HOME") + "/.pyenv/versions/3.[189]*/bin/python3") // from 3.8 on; what is installed there may do something at the end
	for _, interpreter := range append([]string{""}, others...) {
		most := uint64(1_000_000)
		if interpreter != "" {
			most *= 3
		}
		e := runIt(t, Options{Test: file, Interpreter: interpreter})
		if n := e.summary.Instructions.Total; len(e.tests) != 1 || n > most {
			t.Errorf("%s: %d test cases, %d instructions\n%s%s", interpreter, len(e.tests), n, e.stdout, e.stderr)
		}
	}
}

// TestEndIsCheap guards that a path ends in some thousand instructions where nothing that is freed acts, whatever of Python's own was imported.
func TestEndIsCheap(t *testing.T) {
	needPython(t)
	file := writeFile(t, "test_end.py", "import asyncio, concurrent.futures, importlib.resources, logging, multiprocessing, sqlite3, tempfile, unittest, weakref, xml.dom.minidom\nimport symchef\n"+
		"def plain():\n  yield 1\ngenerator = plain()\nnext(generator)\ndef test_end(x: symchef.Int(0, 9)):\n  return x > 3\n")
	e := runIt(t, Options{Test: file, NoReplay: true})
	if n := e.summary.Instructions; n.Total-n.Boot > 20_000_000 {
		t.Errorf("%d instructions in %d paths", n.Total-n.Boot, e.summary.Paths.Low)
	}
}
