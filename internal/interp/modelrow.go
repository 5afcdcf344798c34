package interp

import (
	"maps"
	"slices"

	"symchef/internal/model"
)

// of holds r, read from n, against the row of the table of models that it names.
func (r *modelRow) of(k *model.Kind, n *sexp) error {
	have := func(list []string) func(string) bool { return func(s string) bool { return slices.Contains(list, s) } }
	if k.Functions != nil {
		for _, need := range k.Functions {
			if r.functions[need] == nil {
				return n.errorf("model %s: the function %s is missing", k.Name, need)
			}
		}
		return nil
	}
	numbers := slices.Collect(maps.Keys(r.numbers))
	for _, need := range k.Places {
		if !have(r.places)(need) {
			return n.errorf("model %s: the place %s is missing", k.Name, need)
		}
	}
	for _, need := range k.Numbers {
		if !have(numbers)(need) {
			return n.errorf("model %s: the number %s is missing", k.Name, need)
		}
	}
	if found := slices.DeleteFunc(slices.Clone(k.OneNumber), func(s string) bool { return !have(numbers)(s) }); len(k.OneNumber) > 0 && len(found) != 1 {
		return n.errorf("model %s: need one number of %s", k.Name, listed(k.OneNumber))
	}
	for _, place := range slices.Sorted(maps.Keys(k.With)) {
		for _, number := range k.With[place] {
			if have(r.places)(place) != have(numbers)(number) {
				return n.errorf("model %s: the place %s and the number %s go together", k.Name, place, number)
			}
		}
	}
	if r.also != "" && !k.Entry {
		return n.errorf("model %s: it has no entry, and no other one", k.Name)
	}
	if k.Entry != (r.entry != "") {
		return n.errorf("model %s: %s", k.Name, map[bool]string{true: "(entry FUNCTION) is missing", false: "it has no entry"}[k.Entry])
	}
	return nil
}
