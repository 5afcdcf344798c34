package session

import (
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

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

// An interpreter that has started natively and one that has started in the machine behave alike: the
// same paths with the same inputs, outcomes and outputs, by as many instructions.
func TestBootsAlike(t *testing.T) {
	needPython(t)
	needPtrace(t)
	var files []string
	for _, pattern := range []string{"../../examples/python/*.py", "../../examples/lua/*.lua", "../../examples/r/*.R"} {
		l, err := filepath.Glob(pattern)
		if err != nil {
			t.Fatal(err)
		}
		files = append(files, l...)
	}
	fast := "test_email.py email.lua test_json.R"
	for _, file := range files {
		name := filepath.Base(file)
		t.Run(name, func(t *testing.T) {
			if os.Getenv("SYMCHEF_SLOW") == "" && !strings.Contains(fast, name) {
				t.Skip("skipped: SYMCHEF_SLOW is not set")
			}
			interpreter := stockFor(t, name)
			var runs [2]explored
			for i, boot := range []string{BootNative, BootEmulated} {
				forget(t)
				runs[i] = runIt(t, Options{Test: file, Interpreter: interpreter, Boot: boot, MaxPaths: 30, NoReplay: true, AllPaths: true})
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
