package interp

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// A program that has its libraries in itself tells by its table of symbols where its functions are; without the table it is not supported.
func TestStatic(t *testing.T) {
	if _, err := exec.LookPath("gcc"); err != nil {
		t.Skip("skipped: gcc is not installed")
	}
	d, ok := ByName("lua")
	if !ok {
		t.Fatal("no description")
	}
	dir := t.TempDir()
	source, program, stripped := filepath.Join(dir, "lua.c"), filepath.Join(dir, "lua"), filepath.Join(dir, "stripped")
	text := "void *memchr(const void *s, int c, unsigned long n) { return 0; }\nstatic int strlen(const char *s) { return 0; }\n" +
		"const char *lua_pushlstring(const char *s) { return memchr(s, 0, strlen(s)); }\nvoid _start(void) { lua_pushlstring(0); for (;;); }\n"
	if err := os.WriteFile(source, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{{"-o", program}, {"-s", "-o", stripped}} {
		if out, err := exec.Command("gcc", append([]string{"-nostdlib", "-static", "-fno-builtin", source}, args...)...).CombinedOutput(); err != nil {
			t.Fatalf("%v: %s", err, out)
		}
	}
	img, err := d.Locate(program, "5.4", "")
	if err != nil {
		t.Fatal(err)
	}
	if img.Locations["interpreter"] == 0 || len(img.Models) != 1 || !slices.Equal(img.Models[0].Imports, []string{"memchr"}) {
		t.Fatalf("%+v", img)
	}
	at, _ := img.Bound(img.Models[0].Imports, nil, nil)
	if o, err := openObject(program); err != nil || at["memchr"] == 0 || at["memchr"] != o.symbols["memchr"] {
		t.Errorf("memchr is at %#x, %v", at["memchr"], err)
	}
	if !slices.ContainsFunc(img.Without, func(m Missing) bool { return m.Name == "import strlen" }) {
		t.Errorf("without %v", img.Without)
	}
	if _, err := d.Locate(stripped, "5.4", ""); err == nil || !strings.Contains(err.Error(), "exports lua_pushlstring") {
		t.Errorf("stripped: %v", err)
	}
}
