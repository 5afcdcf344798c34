package bench

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"symchef/internal/exec"
	"symchef/internal/expr"
	"symchef/internal/kernel"
	"symchef/internal/nativeboot"
	"symchef/internal/session"
)

// starts are command lines that open the device when the interpreter and what it has loaded are up.
var starts = []struct {
	name string
	argv []string
}{
	{"lua5.4", []string{"/usr/bin/lua5.4", "-e", "io.open('/dev/symchef')"}},
	{"perl", []string{"/usr/bin/perl", "-e", "use POSIX; open(F, '/dev/symchef')"}},
	{"python3.11", []string{"/usr/bin/python3.11", "-c", "open('/dev/symchef')"}},
	{"python3.11, argparse, json, re, csv", []string{"/usr/bin/python3.11", "-c", "import argparse, json, re, csv; open('/dev/symchef')"}},
	{"ruby3.1", []string{"/usr/bin/ruby3.1", "-e", "open('/dev/symchef')"}},
	{"php8.2", []string{"/usr/bin/php8.2", "-r", "fopen('/dev/symchef', 'r');"}},
	{"R", []string{"/usr/lib/R/bin/exec/R", "--vanilla", "--no-echo", "-e", "file('/dev/symchef', 'rb', raw = TRUE)"}},
	{"R, jsonlite", []string{"/usr/lib/R/bin/exec/R", "--vanilla", "--no-echo", "-e", "library(jsonlite); file('/dev/symchef', 'rb', raw = TRUE)"}},
}

// firstRuns are tests of whose first run BenchmarkStart measures the beginning.
var firstRuns = []struct{ test, interpreter string }{
	{"python/test_email.py", "/usr/bin/python3.11"},
	{"r/test_json.R", "/usr/bin/R"},
}

// BenchmarkStart prints the processor time that interpreters take to get where a test begins: natively and in the machine; and that of the
// first run of a test up to the end of its first path, with the interpreter's program counter found first or known.
func BenchmarkStart(b *testing.B) {
	for b.Loop() {
		fmt.Printf("\n%-40s %10s %10s\n", "start", "native", "machine")
		for _, x := range starts {
			if _, err := os.Stat(x.argv[0]); err != nil {
				b.Logf("%s is left out: it is not installed", x.argv[0])
				continue
			}
			fmt.Printf("%-40s %8.2f s %8.2f s\n", x.name, start(b, x.argv, true).Seconds(), start(b, x.argv, false).Seconds())
		}
		for _, x := range firstRuns {
			if _, err := os.Stat(x.interpreter); err != nil {
				b.Logf("the first run of %s is left out: %s is not installed", x.test, x.interpreter)
				continue
			}
			for _, known := range []bool{false, true} {
				name := "first run of examples/" + x.test
				if known {
					name = "  its program counter known"
				}
				run := func(boot string) float64 { return firstRun(b, x.test, x.interpreter, boot, known).Seconds() }
				fmt.Printf("%-40s %8.2f s %8.2f s\n", name, run(session.BootNative), run(session.BootEmulated))
			}
		}
	}
}

// used is the processor time that this process and those it has waited for have used.
func used(b *testing.B) (t time.Duration) {
	for _, who := range []int{unix.RUSAGE_SELF, unix.RUSAGE_CHILDREN} {
		var u unix.Rusage
		if err := unix.Getrusage(who, &u); err != nil {
			b.Fatal(err)
		}
		t += time.Duration(u.Utime.Nano() + u.Stime.Nano())
	}
	return t
}

// start measures one start.
func start(b *testing.B, argv []string, native bool) time.Duration {
	env := []string{"PATH=/usr/bin:/bin", "PYTHONHASHSEED=0", "R_HOME=/usr/lib/R", "LD_LIBRARY_PATH=/usr/lib/R/lib", "R_DEFAULT_PACKAGES=NULL", "LC_ALL=C", "TZ=UTC"}
	began := used(b)
	sys, err := kernel.Boot(kernel.Config{Path: argv[0], Argv: argv, Env: env, DeviceEnabled: true})
	if err != nil {
		b.Fatal(err)
	}
	if native {
		n := nativeboot.Boot{Sys: sys, Before: func(path string) bool { return path == kernel.DevicePath }}
		if ended, err := n.Run(context.Background()); err != nil || ended != "" {
			b.Fatalf("%q: %q, %v", argv, ended, err)
		}
	}
	for m := exec.New(expr.New()); !sys.Opened(); {
		if stop := m.Run(sys, &exec.Facts{}, 1<<16); stop.Kind != exec.Budget && !sys.Opened() {
			b.Fatalf("%q: %+v, %s", argv, stop, sys.Stderr().Data)
		}
	}
	return used(b) - began
}

// firstRun measures a run that finds no boot snapshot, up to the end of its first path. Where the program counter is known, a run before
// it has found it.
func firstRun(b *testing.B, test, interpreter, boot string, known bool) time.Duration {
	dir := b.TempDir()
	o := session.Options{Test: "../../examples/" + test, Interpreter: interpreter, CacheDir: dir,
		Boot: boot, Strategy: "dfs", StdinLen: -1, MaxPaths: 1, NoReplay: true, Progress: "none"}
	run := func(out string) time.Duration {
		o.Out = filepath.Join(dir, out)
		began := used(b)
		if status := session.Run(context.Background(), o, io.Discard, os.Stderr); status > session.StatusFailing {
			b.Fatalf("%s: status %d", test, status)
		}
		return used(b) - began
	}
	if !known {
		return run("out")
	}
	run("before")
	snapshots, err := filepath.Glob(filepath.Join(dir, "*.snap"))
	if err != nil || len(snapshots) == 0 {
		b.Fatalf("%s: no snapshots: %v", test, err)
	}
	for _, s := range snapshots {
		if err := os.Remove(s); err != nil {
			b.Fatal(err)
		}
	}
	return run("out")
}
