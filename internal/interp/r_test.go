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
	if !IsELF(f.ELF) || !slices.ContainsFunc(f.Env, func(v string) bool { return v == "R_HOME=/usr/lib/R" }) || len(f.Image.Without) != 0 || len(f.Image.Models) != 3 {
		t.Errorf("%+v, %+v", f, f.Image)
	}
}
