package session

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// Models of interpreter functions change which low-level paths there are, and never what the program does: without
// them, with each family and with all the classes and the high-level paths are the same.
func TestModelFamilies(t *testing.T) {
	needPython(t)
	for _, file := range []string{"test_email.py", "test_casefold.py"} {
		t.Run(file, func(t *testing.T) {
			want := ""
			for _, families := range [][]string{nil, {}, {"hash"}, {"pointers"}} {
				e := runIt(t, Options{Test: filepath.Join("../../examples/python", file), Models: families})
				e.sound(t)
				got := strings.Join(e.classes(), "\n")
				if want == "" {
					want = got
				}
				if got != want {
					t.Errorf("models %q: classes\n%s\nwith all of them\n%s", families, got, want)
				}
			}
		})
	}
}

// What the models are for: attributes with symbolic names and dictionaries with symbolic keys are explored whole.
func TestSymbolicKeys(t *testing.T) {
	needPython(t)
	for name, x := range map[string]struct {
		source string
		low    int
	}{
		"attributes": {"import symchef\nclass Box: pass\ndef test_box(a: symchef.Str(3), b: symchef.Str(3)):\n    box = Box()\n    setattr(box, a, 1)\n    print(getattr(box, b, 0))\n", 2},
		"dictionary": {"import symchef\ndef test_dict(key: symchef.Bytes(6)):\n    print({key: 1}.get(b'abcdef', 0))\n", 3},
		"constants":  {"import symchef\nD = {'ab': 1, 'cd': 2, 'ef': 3}\ndef test_dict(s: symchef.Str(2)):\n    print(D.get(s, 0))\n", 4},
	} {
		t.Run(name, func(t *testing.T) {
			file := filepath.Join(t.TempDir(), "test_keys.py")
			if err := os.WriteFile(file, []byte(x.source), 0o644); err != nil {
				t.Fatal(err)
			}
			e := runIt(t, Options{Test: file})
			e.sound(t)
			if e.summary.Paths.Low > x.low {
				t.Errorf("%d low-level paths, want at most %d", e.summary.Paths.Low, x.low)
			}
		})
	}
}
