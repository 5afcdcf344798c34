package report

import (
	"os"
	"path/filepath"
	"testing"
)

// TestPut checks that a row replaces the one of its name, that others stay, and what Order leaves out.
func TestPut(t *testing.T) {
	const head, tail = "# Title\n\n| name | n |\n|---|---|\n", "\nend\n"
	path := filepath.Join(t.TempDir(), "doc.md")
	d := &Document{Path: path, Head: head, Tail: tail}
	for _, r := range [][2]string{{"b", "| b | 1 |"}, {"a", "| a | 2 |"}, {"b", "| b | 3 |"}} {
		if err := d.Put(r[0], r[1]); err != nil {
			t.Fatal(err)
		}
	}
	check := func(want string) {
		t.Helper()
		if got, err := os.ReadFile(path); err != nil || string(got) != want {
			t.Errorf("%v\n%s\nwant\n%s", err, got, want)
		}
	}
	check(head + "| a | 2 |\n| b | 3 |\n" + tail)
	gone := &Document{Path: path, Head: head, Tail: tail, Drop: func(name string) bool { return name == "a" }}
	if err := gone.Put("b", "| b | 3 |"); err != nil {
		t.Fatal(err)
	}
	check(head + "| b | 3 |\n" + tail)
	o := &Document{Path: path, Head: head, Tail: tail, Order: []string{"c", "b"}}
	if err := o.Put("c", "| c | 4 |"); err != nil {
		t.Fatal(err)
	}
	check(head + "| c | 4 |\n| b | 3 |\n" + tail)
}
