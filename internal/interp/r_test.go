package interp

import (
	"os"
	"slices"
	"testing"
)

// R's shell script says where R is and what it needs; the places that its models need are found in libR.
func TestLocateR(t *testing.T) {
	d, ok := ByName("r")
	if !ok {
		t.Fatal("no description")
	}
	if _, err := os.Stat(d.Default); err != nil {
		t.Skipf("skipped: %s is not installed", d.Default)
	}
	f, err := d.Find(FindOptions{Test: "/none.R", Explicit: d.Default, Getenv: environment(nil)})
	if err != nil {
		t.Fatal(err)
	}
	if !isELF(f.ELF) || !slices.ContainsFunc(f.Env, func(v string) bool { return v == "R_HOME=/usr/lib/R" }) || len(f.Image.Without) != 0 || len(f.Image.Models) != 3 {
		t.Errorf("%+v, %+v", f, f.Image)
	}
	// As read in the disassembly of Debian 12's build.
	if at := f.Image.Locations["width"]; f.Image.BuildID == "ec1970cd82835ac65e5b537e151a430a144030a3" && at != 0x1d2c40 {
		t.Errorf("width is at %#x", at)
	}
}
