package languages_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// hooks are what a test may ask the interpreter to do beside its own code. Each ends all that it is told of, by an exception or the whole process.
var hooks = []struct{ name, code string }{
	{"trace", "def h(frame, event, arg): raise PermissionError(event)\n  sys.settrace(h)"},
	{"recursion limit", "sys.setrecursionlimit(len(__import__('traceback').extract_stack()) + 8)"},
	{"codecs", "import codecs\n  def h(e): raise PermissionError\n  for n in ('backslashreplace', 'surrogatepass', 'surrogateescape', 'replace'): codecs.register_error(n, h)"},
	{"collector", "import gc\n  gc.callbacks.append(lambda *a: print('collects'))"},
	{"collector that exits", "import gc\n  gc.callbacks.append(lambda *a: os._exit(9))"},
	{"at exit", "import atexit\n  atexit.register(lambda: 1/0)"},
	{"switch interval", "sys.setswitchinterval(1e-6)"},
	{"asynchronous generators", "sys.set_asyncgen_hooks(lambda *a: os._exit(9), lambda *a: os._exit(9))"},
	{"descriptors", "import resource\n  resource.setrlimit(resource.RLIMIT_NOFILE, (3, 3))"},
}

// TestHooks: what a test asks the interpreter to do does not see what the library does, and the outcome is that of the plain interpreter.
func TestHooks(t *testing.T) {
	lib := library(t)
	for _, h := range hooks {
		for what, end := range map[string]string{"returns": "return id", "uses the library and raises": "symchef.log('x'); raise ValueError('caf\u00e9 \\udc80')"} {
			t.Run(h.name+" "+what, func(t *testing.T) {
				// The plain run has no library.
				text := "# -*- coding: utf-8 -*-\nimport os, sys\ntry:\n  import symchef\nexcept ImportError:\n  class symchef: log = print\ndef test_a():\n  " + h.code + "\n  " + end + "\n"
				file := filepath.Join(t.TempDir(), "test_m.py")
				plain := text + "if __name__ == '__main__':\n  try:\n    test_a()\n  except ValueError:\n    print('raised')\n  else:\n    print('returned')\n  sys.stdout.flush()\n"
				if err := os.WriteFile(file, []byte(plain), 0o644); err != nil {
					t.Fatal(err)
				}
				cmd := exec.Command(stock, "-I", file)
				said, err := cmd.Output()
				status := cmd.ProcessState.ExitCode()
				want := "ok"
				if strings.Contains(string(said), "raised") {
					want = "exception"
				} else if !strings.Contains(string(said), "returned") {
					t.Fatalf("plain: %v %q", err, said)
				}
				r := replay(t, lib, file)
				if r.Kind != want || r.status != status {
					t.Errorf("replay: %s %s, status %d; plain: %s, status %d\n%s", r.Kind, r.Type, r.status, want, status, r.stderr)
				}
				if h.name == "at exit" { // it writes to standard error, as it should
					return
				}
				if d := machine(t, lib, text, nil); string(d.kind) != want || d.typ != r.Type || d.message != r.Message {
					t.Errorf("machine: %s %s %q; replay: %s %s %q", d.kind, d.typ, d.message, r.Kind, r.Type, r.Message)
				}
			})
		}
	}
}
