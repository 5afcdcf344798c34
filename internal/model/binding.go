package model

import "symchef/internal/exec"

// Binding is a model with the addresses that one interpreter has for it.
type Binding struct {
	Name      string              // of its Kind
	Slot      uint64              // the location; 0 where the kind has none
	Entry     uint64              // of the function that the model replaces, where the kind has one
	Places    map[string][]uint64 // addresses of functions, by the kind's names
	Numbers   map[string]uint64   // of the description, or found, by the kind's names
	Functions map[string]string   // exported functions that tell the rest when they are called, by the kind's names
	Program   string              // by which the model is held against the stock functions; empty: there is none
	Imports   []string            // functions of other objects that it replaces
}

// Rebase returns a copy with base added to every address.
func (b Binding) Rebase(base uint64) Binding {
	if b.Slot != 0 {
		b.Slot += base
	}
	if b.Entry != 0 {
		b.Entry += base
	}
	places := make(map[string][]uint64, len(b.Places))
	for name, all := range b.Places {
		for _, at := range all {
			places[name] = append(places[name], at+base)
		}
	}
	b.Places = places
	return b
}

// Address is the first address of an interpreter's i-th model. Models live below the lowest address that Linux maps by default
// (vm.mmap_min_addr).
func Address(i int) uint64 { return 0x1000 + uint64(i)*16 }

// place is the address of a place that there is once; 0: it is not known.
func (b Binding) place(name string) uint64 {
	if all := b.Places[name]; len(all) > 0 {
		return all[0]
	}
	return 0
}

// Kind is b's row.
func (b Binding) Kind() *Kind { return Of(b.Name) }

// Hooks is the model, by address; own is its Address. It has none for its Imports.
func (b Binding) Hooks(own uint64) map[uint64]exec.Hook {
	if k := b.Kind(); k.hooks != nil {
		return k.hooks(b, own)
	}
	return nil
}

// Concrete is where the model has hooks that do something though nothing is symbolic.
func (b Binding) Concrete(own uint64) (at []uint64) {
	k := b.Kind()
	if k.Pointer {
		at = append(at, own)
	}
	for _, place := range k.concrete {
		at = append(at, b.Places[place]...)
	}
	return at
}
