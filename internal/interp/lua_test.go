package interp

import (
	"os"
	"testing"
)

// Guards: every installed Lua exports the functions by which its models are found.
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
		if img := f.Image; len(img.Without) != 0 || len(img.Models) != 2 || img.Models[1].Functions["push-string"] != "lua_pushlstring" || img.Models[1].Program == "" {
			t.Errorf("%s: %q, %+v", path, img.Without, img.Models)
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
