package interp

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"testing"
)

// The models of every installed Lua are found; where the code of one of its functions is another, the interpreter is
// explored without them.
func TestLocateLua(t *testing.T) {
	d, ok := ByName("lua")
	if !ok {
		t.Fatal("no description")
	}
	for _, v := range d.Versions {
		path := "/usr/bin/lua" + v
		if _, err := os.Stat(path); err != nil {
			t.Logf("skipped: %s is not installed", path)
			continue
		}
		f, err := d.Find(FindOptions{Test: "/none.lua", Explicit: path, Getenv: environment(nil)})
		if err != nil || f.Version != v || f.ELF != path {
			t.Errorf("%s: %+v, %v", path, f, err)
			continue
		}
		img := f.Image
		last := len(img.Models) - 1
		if len(img.Without) != 0 || last != len(d.variants[v].models) || len(img.Models[last].Places) != len(d.variants[v].locations)-1 {
			t.Errorf("%s: %q, %+v", path, img.Without, img.Models)
			continue
		}
		seen := map[uint64]bool{}
		for name, at := range img.Locations {
			if seen[at] {
				t.Errorf("%s: %s is where another one is", path, name)
			}
			seen[at] = true
		}
		data, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		at := img.Locations["intern"] // in these programs, address and offset of code are the same
		changed := filepath.Join(t.TempDir(), "lua")
		if err := os.WriteFile(changed, append(append(bytes.Clone(data[:at]), bytes.Repeat([]byte{0x90}, 160)...), data[at+160:]...), 0o755); err != nil {
			t.Fatal(err)
		}
		img, err = d.Locate(changed, v)
		want := []string{"location intern: 0 functions have its shape", "model deferred-identity: without the location intern"}
		if err != nil || fmt.Sprint(img.Without) != fmt.Sprint(want) || len(img.Models) != last {
			t.Errorf("%s, changed: %+v, %v", path, img, err)
		}
	}
	if _, err := d.Find(FindOptions{Test: "/none.lua", Explicit: "/bin/true", Getenv: environment(nil)}); err == nil {
		t.Error("/bin/true is a Lua")
	}
}

func TestMatchText(t *testing.T) {
	for _, c := range []struct {
		pattern, text string
		want          bool
	}{
		{"ret", "ret", true}, {"ret", "retf", false}, {"mov *, qword ptr [*+0x8]", "mov rax, qword ptr [rdi+0x8]", true},
		{"mov *, qword ptr [*+0x8]", "mov rax, qword ptr [rdi+0x80]", false}, {"*", "", true}, {"a*a", "a", false}, {"a*b*c", "axbxc", true}, {"a*b*c", "axcxb", false},
	} {
		if got := matchText(c.pattern, c.text); got != c.want {
			t.Errorf("%q, %q: %v", c.pattern, c.text, got)
		}
	}
}
