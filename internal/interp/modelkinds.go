package interp

import (
	"maps"
	"slices"
)

// ModelKind is a row of the table of models: what a description has to say about one. The functions are in internal/session, where
// a test holds them against this table.
type ModelKind struct {
	Name   string
	Family string // of --opt: "hash", "pointers", "fastpath"
	At     string // what its location is, for people; empty: it has none, but imports
	Entry  bool   // it has (entry FUNCTION): the function that it replaces, the location being a variable
	// Places are the names of its further locations, which must be there; those of May may be.
	Places, May []string
	// Numbers must be there, one of OneNumber, and MayNumbers be.
	Numbers, OneNumber, MayNumbers []string
	// With are numbers that a place needs, by the place; without the place they must not be there.
	With map[string][]string
	// Imports are the functions that it can model.
	Imports []string
	Meaning string
}

// ModelKinds is the table of models, in the order of docs/descriptions.md. None changes what an interpreter does, so exploring without one is as
// sound and as complete: there are more paths, and harder queries. A model is had whole or not at all: deferred-identity without one of
// its places would compare addresses where contents are meant.
var ModelKinds = []ModelKind{
	{Name: "hash-length", Family: "hash", At: "a pointer to a function",
		Meaning: "the function becomes hash(src=rdi, len=rsi) = f(len)"},
	{Name: "decline-symbolic", Family: "pointers", At: "a variable", Entry: true, Numbers: []string{"length", "payload"},
		Meaning: "the function at entry returns NULL where its first argument is the object in the variable and the second one (its length and payload at these offsets) has symbolic bytes"},
	{Name: "deferred-identity", Family: "pointers", At: "the function that looks for a string's object",
		Places: []string{"get", "get-string", "equal", "next", "name"}, May: []string{"get-internal", "raw-equal", "hash-long", "hash-bytes"},
		Numbers:   []string{"global", "strings", "kind", "hash", "length", "length-bytes", "chain", "bytes", "tag", "log", "nodes", "node-bytes", "key", "key-tag"},
		OneNumber: []string{"next", "next-address"}, MayNumbers: []string{"most"},
		With:    map[string][]string{"hash-long": {"hashed", "long-length"}},
		Meaning: "strings that are one object per content are compared by content where one has symbolic bytes"},
	{Name: "unshared", Family: "pointers", At: "the function that makes a string", Places: []string{"allocate"},
		Numbers: []string{"kind", "flags", "ascii", "utf8", "latin1", "bytes", "payload"},
		Meaning: "strings with symbolic characters are not put into the table of strings"},
	{Name: "early-exit", Family: "fastpath",
		Imports: []string{"memchr", "memcmp", "memrchr", "strchr", "strcmp", "strcspn", "strlen", "strncmp", "strnlen", "strpbrk", "strspn"},
		Meaning: "these functions of the C library do not split the path at each symbolic byte that they look at"},
	{Name: "decimal-width", Family: "fastpath", At: "a function of a number",
		Meaning: "the digits of a number >= 0 are counted by comparisons, not by a logarithm"},
}

func modelKind(name string) *ModelKind {
	for i := range ModelKinds {
		if ModelKinds[i].Name == name {
			return &ModelKinds[i]
		}
	}
	return nil
}

// places and numbers are all names that the kind knows.
func (k *ModelKind) places() []string { return slices.Concat(k.Places, k.May) }

func (k *ModelKind) numbers() []string {
	out := slices.Concat(k.Numbers, k.OneNumber, k.MayNumbers)
	for _, place := range slices.Sorted(maps.Keys(k.With)) {
		out = append(out, k.With[place]...)
	}
	return out
}

// check holds r, read from n, against the kind.
func (k *ModelKind) check(n *sexp, r *modelRow) error {
	have := func(list []string) func(string) bool { return func(s string) bool { return slices.Contains(list, s) } }
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
	if k.Entry != (r.entry != "") {
		return n.errorf("model %s: %s", k.Name, map[bool]string{true: "(entry FUNCTION) is missing", false: "it has no entry"}[k.Entry])
	}
	return nil
}
