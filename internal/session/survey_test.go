package session

import (
	"testing"

	"symchef/internal/interp"
)

// The tier says what an interpreter lacks.
func TestTier(t *testing.T) {
	d, _ := interp.ByName("lua")
	f, err := FindInterpreter(d, interp.FindOptions{}, "")
	if err != nil {
		t.Skip("skipped: ", err)
	}
	for _, c := range []struct {
		tier   string
		change func(*interp.Found, *interp.Image)
	}{
		{TierModelled, func(*interp.Found, *interp.Image) {}},
		{TierCalibrated, func(_ *interp.Found, i *interp.Image) { i.Without = []interp.Missing{{Name: "model x", Why: "y"}} }},
		{TierPlain, func(f *interp.Found, _ *interp.Image) { f.ELF = "/bin/true" }},
	} {
		found, image := *f, *f.Image
		found.Image = &image
		c.change(&found, &image)
		r := Interpreter{Language: "lua", desc: d, found: &found}
		r.tier()
		if r.Tier != c.tier || (r.Todo == "") != (r.Tier == TierModelled) || (len(r.Missing) == 0) != (r.Tier == TierModelled) {
			t.Errorf("want %s: %+v", c.tier, r)
		}
	}
}
