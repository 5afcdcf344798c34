package model

import (
	"slices"
	"testing"
)

// Guards: the table and the models are one. Each row has a model, and each place of a row a hook.
func TestKinds(t *testing.T) {
	data := []string{"allocate", "string-type", "shared"} // what a model calls, or compares with
	for _, k := range Kinds {
		if (k.hooks == nil) != (k.Imports != nil) || k.Family == "" || k.Meaning == "" || (k.At == "") != (k.Imports != nil || k.Functions != nil) || k.Pointer != (k.Native != nil) {
			t.Errorf("the row %s is not whole", k.Name)
		}
		if Of(k.Name) == nil || Of(k.Name).Name != k.Name {
			t.Errorf("%s is not found", k.Name)
		}
		b := Binding{Name: k.Name, Slot: 1, Places: map[string][]uint64{}, Numbers: map[string]uint64{}}
		if k.Entry {
			b.Entry = 2
		}
		for i, name := range k.AllPlaces() {
			b.Places[name] = []uint64{uint64(i + 100)}
		}
		own := Address(3)
		hooks := b.Hooks(own)
		for at := range hooks {
			if k.Imports == nil && at != b.Slot && at != b.Entry && (at < own || at >= own+16) && (at < 100 || at >= 100+uint64(len(b.Places))) {
				t.Errorf("%s: a hook at %#x, which is nothing of it", k.Name, at)
			}
		}
		for name, at := range b.Places {
			if !slices.Contains(data, name) && hooks[at[0]] == nil {
				t.Errorf("%s: no hook at the place %s", k.Name, name)
			}
		}
		for _, at := range b.Concrete(own) {
			if hooks[at] == nil {
				t.Errorf("%s: no hook at %#x", k.Name, at)
			}
		}
	}
	if got := Families(); !slices.Equal(got, []string{"fastpath", "hash", "pointers"}) {
		t.Errorf("families %q", got)
	}
	if Of("other") != nil {
		t.Error("a row of no name")
	}
}

// Guards: what has an address in a binding moves with the image, and nothing else.
func TestRebase(t *testing.T) {
	b := Binding{Name: "unshared", Slot: 0x10, Places: map[string][]uint64{"allocate": {0x20}}, Numbers: map[string]uint64{"kind": 73}}
	got := b.Rebase(0x1000)
	if got.Slot != 0x1010 || got.Entry != 0 || got.Places["allocate"][0] != 0x1020 || got.Numbers["kind"] != 73 || b.Places["allocate"][0] != 0x20 {
		t.Errorf("%+v of %+v", got, b)
	}
	b.Entry = 0x30
	if got := b.Rebase(0x1000); got.Entry != 0x1030 {
		t.Errorf("entry %#x", got.Entry)
	}
}
