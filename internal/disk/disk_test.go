package disk

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"symchef/internal/pace"
)

// What is no regular file is an error at once.
func TestRead(t *testing.T) {
	dir := t.TempDir()
	at := func(name string) string { return filepath.Join(dir, name) }
	if err := errors.Join(os.WriteFile(at("file"), []byte("text"), 0o600), unix.Mkfifo(at("pipe"), 0o600), os.Mkdir(at("folder"), 0o700),
		os.Symlink("file", at("link")), os.WriteFile(at("empty"), nil, 0o600)); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{"file": "text", "empty": ""} {
		if b, err := Read(at(name)); err != nil || string(b) != want {
			t.Errorf("%s: %q, %v", name, b, err)
		}
	}
	for _, name := range []string{"pipe", "folder", "link"} {
		if _, err := Read(at(name)); !errors.Is(err, ErrNotRegular) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := Read(at("gone")); !errors.Is(err, os.ErrNotExist) {
		t.Error(err)
	}
	if b, err := Read("/proc/self/status"); err != nil || len(b) < 100 { // has no size
		t.Errorf("%d bytes, %v", len(b), err)
	}
}

// A folder that is held stays, what a killed process has left goes, and other folders are not touched.
func TestTemp(t *testing.T) {
	if dir := os.Getenv("DISK_TEST_HOLD"); dir != "" {
		if _, _, err := Temp("run"); err != nil {
			os.Exit(1)
		}
		os.WriteFile(filepath.Join(dir, "ready"), nil, 0o600)
		time.Sleep(time.Minute)
	}
	tmp := t.TempDir()
	t.Setenv("TMPDIR", tmp)
	count := func() int {
		l, err := filepath.Glob(filepath.Join(tmp, "symchef-run-*"))
		if err != nil {
			t.Fatal(err)
		}
		return len(l)
	}
	ready := t.TempDir()
	other := exec.Command(os.Args[0], "-test.run", "^TestTemp$")
	other.Env = append(os.Environ(), "DISK_TEST_HOLD="+ready)
	if err := other.Start(); err != nil {
		t.Fatal(err)
	}
	for began := time.Now(); ; time.Sleep(time.Millisecond) {
		if _, err := os.Stat(filepath.Join(ready, "ready")); err == nil {
			break
		}
		if pace.Exceeds(t, began, 10*time.Second) {
			t.Fatal("the other process makes no folder")
		}
	}
	mine := filepath.Join(tmp, "symchef-notes")
	if err := os.Mkdir(mine, 0o700); err != nil {
		t.Fatal(err)
	}
	dir, remove, err := Temp("run")
	if err != nil || count() != 2 {
		t.Fatalf("%d folders, %v", count(), err)
	}
	if err := os.MkdirAll(filepath.Join(dir, "a/b"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(filepath.Join(dir, "a"), 0); err != nil {
		t.Fatal(err)
	}
	remove()
	if count() != 1 {
		t.Errorf("%d folders after one was removed", count())
	}
	other.Process.Kill()
	other.Wait()
	swept.Delete(tmp)
	_, remove, err = Temp("run")
	if err != nil || count() != 1 {
		t.Errorf("%d folders after a kill, %v", count(), err)
	}
	remove()
	if _, err := os.Stat(mine); err != nil || count() != 0 {
		t.Errorf("%d folders, %v", count(), err)
	}
	t.Setenv("TMPDIR", filepath.Join(tmp, "gone"))
	if _, _, err := Temp("run"); err == nil {
		t.Error("a folder in no folder")
	}
}
