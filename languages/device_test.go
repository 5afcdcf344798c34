package languages_test

import (
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"symchef/internal/interp"
	"symchef/languages"
)

// TestDeviceIsNeverMade: outside the machine there is no device, and no guest library makes a file of its name: a write would go there, and a
// later run would take it for the device. The libraries are told of another place, where anybody may make files.
func TestDeviceIsNeverMade(t *testing.T) {
	if err := interp.Add("../examples/mruby"); err != nil {
		t.Fatal(err)
	}
	for _, d := range interp.All() {
		found, err := d.Find(interp.FindOptions{})
		if err != nil {
			t.Logf("skipped: %v", err)
			continue
		}
		dir := t.TempDir()
		guest, device := filepath.Join(dir, "guest"), filepath.Join(dir, "device")
		if err := languages.Extract(guest); err != nil {
			t.Fatal(err)
		}
		told := 0
		err = filepath.WalkDir(guest, func(path string, e fs.DirEntry, err error) error {
			if err != nil || !e.Type().IsRegular() {
				return err
			}
			text, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			if strings.HasPrefix(path, filepath.Join(guest, d.Language)+"/") {
				told += strings.Count(string(text), `/dev/symchef`)
			}
			return os.WriteFile(path, []byte(strings.ReplaceAll(string(text), "/dev/symchef", device)), 0o644)
		})
		if err != nil || told == 0 {
			t.Fatalf("%s: the device is named %d times, %v", d.Language, told, err)
		}
		text, err := fs.ReadFile(d.Folder.Files, "conformance/branches"+d.Suffixes[0])
		if err != nil {
			t.Fatal(err)
		}
		test := filepath.Join(dir, "test_branches"+d.Suffixes[0])
		if err := os.WriteFile(test, text, 0o644); err != nil {
			t.Fatal(err)
		}
		argv := d.Argv(found.Argv0, test)
		for i := range argv {
			argv[i] = strings.ReplaceAll(argv[i], languages.Root, guest)
		}
		cmd := exec.Command(found.ELF, argv[1:]...)
		cmd.Args, cmd.Dir = argv, dir
		cmd.Env = append(d.Environ(os.Environ(), filepath.Join(guest, d.Language)), found.Env...)
		if out, err := cmd.CombinedOutput(); err == nil || !strings.Contains(string(out), "symchef") && !strings.Contains(string(out), device) {
			t.Errorf("%s: %v\n%s", d.Language, err, out)
		}
		if _, err := os.Lstat(device); err == nil {
			t.Errorf("%s makes the device", d.Language)
		}
	}
}
