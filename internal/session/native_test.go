package session

import (
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"symchef/internal/nativeboot"
	"symchef/internal/testcase"
)

// needPtrace skips where native boot is not possible.
func needPtrace(t *testing.T) {
	t.Helper()
	if err := nativeboot.Probe(); err != nil {
		t.Skipf("skipped: %v", err)
	}
}

// forget removes the boot snapshots of the tests, and leaves the calibrations.
func forget(t *testing.T) {
	t.Helper()
	l, err := filepath.Glob(filepath.Join(cacheDir, "*.snap"))
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range l {
		os.Remove(f)
	}
}

// slow leaves what takes long, and has others beside it, to SYMCHEF_SLOW.
func slow(t *testing.T) {
	t.Helper()
	if os.Getenv("SYMCHEF_SLOW") == "" {
		t.Skip("skipped: it takes long; SYMCHEF_SLOW is not set")
	}
}

// slowExample leaves all examples but two quick ones to SYMCHEF_SLOW.
func slowExample(t *testing.T, name string) {
	t.Helper()
	if !strings.Contains("test_email.py email.lua", name) {
		slow(t)
	}
}

// An interpreter that has started natively and one that has started in the machine behave alike: the
// same paths with the same inputs, outcomes and outputs, by as many instructions.
func TestBootsAlike(t *testing.T) {
	needPython(t)
	needPtrace(t)
	for _, file := range allExamples(t) {
		name := filepath.Base(file)
		t.Run(name, func(t *testing.T) {
			slowExample(t, name)
			interpreter := stockFor(t, name)
			var runs [2]explored
			for i, boot := range []string{BootNative, BootEmulated} {
				forget(t)
				runs[i] = runIt(t, Options{Test: file, Interpreter: interpreter, Boot: boot, MaxPaths: 30, NoReplay: true, AllPaths: true, PathTime: time.Hour})
				for j := range runs[i].tests {
					runs[i].tests[j].FoundAt = 0
				}
			}
			forget(t)
			native, emulated := runs[0], runs[1]
			if native.stderr != "" {
				t.Errorf("native boot said %s", native.stderr)
			}
			if n, m := native.summary.Instructions, emulated.summary.Instructions; n.Boot >= m.Boot || n.Total != m.Total || m.Total == 0 {
				t.Errorf("instructions %+v and %+v", n, m)
			}
			if len(native.tests) == 0 || !reflect.DeepEqual(native.tests, emulated.tests) {
				t.Errorf("%d and %d test cases:\n%+v\n%+v", len(native.tests), len(emulated.tests), native.tests, emulated.tests)
			}
			if !reflect.DeepEqual(native.summary.Paths, emulated.summary.Paths) {
				t.Errorf("paths %+v and %+v", native.summary.Paths, emulated.summary.Paths)
			}
		})
	}
}

// An interpreter that has children while it starts is native before and after them.
func TestBootsAlikeChildren(t *testing.T) {
	needPython(t)
	needPtrace(t)
	dir := t.TempDir()
	for name, text := range map[string]string{
		"sitecustomize.py": "import os\nfor i in range(3):\n    r, w = os.pipe()\n    if os.fork() == 0:\n        os.execv('/bin/sh', ['sh', '-c', 'echo $((6 * 7)) >&%d; exit 3' % os.dup(w)])\n    os.close(w)\n    said, status = os.read(r, 100), os.wait()\n",
		"test_c.py":        "import symchef, sitecustomize\ndef test_c(x: symchef.Bool()):\n    print(x, sitecustomize.said, sitecustomize.status, {'ab': 1}['ab'])\n",
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	t.Setenv("PYTHONPATH", dir)
	var runs [2]explored
	for i, boot := range []string{BootNative, BootEmulated} {
		forget(t)
		runs[i] = runIt(t, Options{Test: filepath.Join(dir, "test_c.py"), Boot: boot, NoReplay: true})
		for j := range runs[i].tests {
			runs[i].tests[j].FoundAt = 0
		}
	}
	forget(t)
	if runs[0].stderr != "" {
		t.Errorf("native boot said %s", runs[0].stderr)
	}
	if len(runs[0].tests) != 2 || !reflect.DeepEqual(runs[0].tests, runs[1].tests) {
		t.Errorf("%+v\n%+v", runs[0].tests, runs[1].tests)
	}
}

// The clock, process IDs, random numbers and the environment are those of the machine, too.
func TestBootsAlikeEnvironment(t *testing.T) {
	needPython(t)
	needPtrace(t)
	file := filepath.Join(t.TempDir(), "test_env.py")
	err := os.WriteFile(file, []byte(`import os, random, resource, sys, tempfile, threading, time, symchef
def test_env(x: symchef.Bool()):
    if x:
        print(time.time(), time.monotonic(), time.process_time(), os.getpid(), os.uname(), os.urandom(8), random.random())
        print(sorted(os.environ.items()), os.getcwd(), sys.argv, sys.flags, id(os) & 0xfff)
        print(open('/proc/self/maps').read(), open('/proc/self/stat').read())
        print(resource.getrlimit(resource.RLIMIT_STACK), tempfile.mktemp(), hash('abc'), {'a', 'b', 'cc'})
        t = threading.Thread(target=lambda: print(threading.get_ident(), time.time()))
        t.start()
        t.join()
`), 0o644)
	if err != nil {
		t.Fatal(err)
	}
	var tests [2][]testcase.Test
	for i, boot := range []string{BootNative, BootEmulated} {
		forget(t)
		e := runIt(t, Options{Test: file, Boot: boot, NoReplay: true})
		for _, x := range e.tests {
			x.FoundAt = 0
			tests[i] = append(tests[i], x)
		}
		if e.stderr != "" {
			t.Errorf("%s boot said %s", boot, e.stderr)
		}
	}
	forget(t)
	if len(tests[0]) != 2 || !reflect.DeepEqual(tests[0], tests[1]) {
		t.Errorf("%+v\n%+v", tests[0], tests[1])
	}
}

// Threads that are alive when the test begins, timers and signals do not keep an interpreter from starting natively.
func TestBootsAlikeThreads(t *testing.T) {
	needPython(t)
	needPtrace(t)
	file := filepath.Join(t.TempDir(), "test_t.py")
	if err := os.WriteFile(file, []byte(`import os, queue, signal, threading, time, symchef
jobs, said = queue.Queue(), []
def work():
    while True:
        said.append(jobs.get())
        jobs.task_done()
for i in range(3):
    threading.Thread(target=work, daemon=True).start()
signal.signal(signal.SIGALRM, lambda *a: said.append("alarm"))
signal.setitimer(signal.ITIMER_REAL, 0.001)
time.sleep(0.01)
os.kill(os.getpid(), signal.SIGALRM)
jobs.put("early")
jobs.join()
import json, decimal
def test_t(x: symchef.Bool()):
    jobs.put("late")
    jobs.join()
    print(x, said, threading.active_count(), json.dumps([1.5]), time.monotonic())
`), 0o644); err != nil {
		t.Fatal(err)
	}
	var runs [2]explored
	for i, boot := range []string{BootNative, BootEmulated} {
		forget(t)
		runs[i] = runIt(t, Options{Test: file, Boot: boot, NoReplay: true})
		for j := range runs[i].tests {
			runs[i].tests[j].FoundAt = 0
		}
	}
	forget(t)
	native, emulated := runs[0], runs[1]
	if native.stderr != "" || native.summary.Instructions.Boot*10 > emulated.summary.Instructions.Boot {
		t.Errorf("native boot said %q, %d and %d instructions", native.stderr, native.summary.Instructions.Boot, emulated.summary.Instructions.Boot)
	}
	if len(native.tests) != 2 || !reflect.DeepEqual(native.tests, emulated.tests) {
		t.Errorf("%+v\n%+v", native.tests, emulated.tests)
	}
}

// What tests import leaves an interpreter native up to the test.
func TestStartsNatively(t *testing.T) {
	needPython(t)
	needPtrace(t)
	for _, setup := range []string{
		"import argparse", "import asyncio", "import concurrent.futures", "import ctypes", "import decimal", "import email.parser", "import http.client",
		"import multiprocessing", "import pytest", "import sqlite3", "import unittest", "import xml.etree.ElementTree",
		"import threading\nt = threading.Thread(target=print)\nt.start()\nt.join()",
		"import subprocess\nsubprocess.run(['/bin/echo', 'hi'])",
		"x = bytearray(300 << 20)",
		"import multiprocessing\nx = multiprocessing.Value('i', 5), multiprocessing.RawArray('d', 1000), multiprocessing.Lock(), multiprocessing.Queue()\nwith x[2]: x[0].value += 1",
	} {
		t.Run(setup, func(t *testing.T) {
			if setup == "import pytest" && exec.Command(python, "-c", setup).Run() != nil {
				t.Skip("skipped: pytest is not installed")
			}
			file := filepath.Join(t.TempDir(), "test_s.py")
			if err := os.WriteFile(file, []byte(setup+"\nimport symchef\ndef test_s(s: symchef.Str(1)):\n    pass\n"), 0o644); err != nil {
				t.Fatal(err)
			}
			e := runIt(t, Options{Test: file, Boot: BootNative, NoReplay: true})
			if n := e.summary.Instructions.Boot; len(e.tests) != 1 || e.stderr != "" || n == 0 || n > 1_000_000 {
				t.Errorf("%d test cases, %d instructions in the machine; %s", len(e.tests), n, e.stderr)
			}
		})
	}
}

// Every start is native, wherever the host's randomisation puts what it maps.
func TestStartsAreNative(t *testing.T) {
	needPython(t)
	needPtrace(t)
	starts := 2
	if os.Getenv("SYMCHEF_SLOW") != "" {
		starts = 100
	}
	for _, file := range []string{"python/test_email.py", "lua/email.lua", "r/test_json.R"} {
		t.Run(filepath.Base(file), func(t *testing.T) {
			o := Options{Test: filepath.Join("../../examples", file), Interpreter: stockFor(t, file), Boot: BootNative, MaxPaths: 1, NoReplay: true}
			for i := range starts {
				forget(t)
				if e := runIt(t, o); e.stderr != "" {
					t.Fatalf("start %d said %s", i, e.stderr)
				}
			}
		})
	}
}
