package probe

import (
	"os"
	"testing"

	"symchef/internal/interp"
	"symchef/internal/kernel"
	"symchef/internal/model"
)

// Guards: width.go. The function of a stock R that counts digits is found, and no other.
func TestWidth(t *testing.T) {
	d, ok := interp.ByName("r")
	if !ok {
		t.Fatal("no description")
	}
	if _, err := os.Stat(d.Default); err != nil {
		t.Skipf("skipped: %s is not installed", d.Default)
	}
	f, err := d.Find(interp.FindOptions{Test: "/none.R", Explicit: d.Default})
	if err != nil {
		t.Fatal(err)
	}
	b := model.Binding{Name: "decimal-width"}
	base, err := Find(kernel.Config{Path: f.ELF, Argv: []string{f.Argv0}, Env: f.Env, Cwd: "/"}, f.Image.Path, &b)
	if err != nil {
		t.Fatal(err)
	}
	// As read in the disassembly of Debian 12's build.
	places := b.Rebase(-base).Places["width"]
	if f.Image.BuildID == "ec1970cd82835ac65e5b537e151a430a144030a3" && (len(places) != 1 || places[0] != 0x1d2c40) {
		t.Errorf("functions at %#x count digits", places)
	}
	t.Logf("%#x", places)
}
