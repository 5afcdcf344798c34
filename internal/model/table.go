package model

import (
	"maps"
	"slices"

	"symchef/internal/exec"
)

// Version changes where a model does what it did not before: what was found for it is then looked for again.
const Version = 3

// Kind is a row of the table of models: what a description has to say about one, and what it does.
type Kind struct {
	Name   string
	Family string // of --opt: "hash", "pointers", "fastpath" (CHEF, section 4.2)
	At     string // what its location is, for people; empty: it has none, but imports or Functions
	Entry  bool   // it has (entry FUNCTION): the function that it replaces, the location being a variable
	// Places are the names of its further locations, which must be there; those of May may be.
	Places, May []string
	More        bool // it may have any others beside
	// Numbers must be there, one of OneNumber, and MayNumbers be.
	Numbers, OneNumber, MayNumbers []string
	// With are numbers that a place needs, by the place; without the place they must not be there.
	With map[string][]string
	// Functions are exported ones that a description names by what they do. Where they are not nil, places and numbers are found by calling
	// functions (internal/probe) and stand in no description; where there are none, by what functions do with numbers.
	Functions []string
	// Imports are the functions that it can model.
	Imports []string
	Meaning string

	// Pointer: the location is a variable that holds a function's address. It gets the model's own one at the program's entry, when
	// the image is relocated and main has not run.
	Pointer bool
	// Native does as machine code, without a symbolic operand, what a Pointer's hook does: for a start on the host's processor.
	Native []byte
	// hooks are the model of a binding, by address; own is the first of 16 addresses of its own, where nothing is mapped. A kind with
	// Imports has none: see EarlyExit.
	hooks func(b Binding, own uint64) map[uint64]exec.Hook
	// concrete are the places where a hook does something though nothing is symbolic.
	concrete []string
}

// Kinds is the table of models, in the order of docs/descriptions.md. None changes what an interpreter does, so exploring without one is as
// sound and as complete: there are more paths, and harder queries. A model is had whole or not at all: deferred-identity without one of
// its places would compare addresses where contents are meant.
var Kinds = []Kind{
	{Name: "hash-length", Family: "hash", At: "a pointer to a function", Pointer: true, Native: hashLengthCode,
		Meaning: "the function becomes hash(src=rdi, len=rsi) = f(len)",
		hooks:   func(_ Binding, own uint64) map[uint64]exec.Hook { return map[uint64]exec.Hook{own: hashLength} }},
	{Name: "decline-symbolic", Family: "pointers", At: "a variable", Entry: true, May: []string{"shared", "lookup"}, Numbers: []string{"length", "payload"},
		Meaning: "the function at entry returns NULL where its first argument is the object in the variable and the second one (its length and payload at these offsets) has symbolic bytes; so does that at lookup, of the table in the variable shared, where there is one",
		hooks:   newDeclined},
	{Name: "uninterned", Family: "pointers", At: "the function that interns a string", Places: []string{"string-type"}, May: []string{"intern-forever"},
		Numbers: []string{"type", "length", "payload"},
		Meaning: "strings with symbolic bytes are not interned: the function, to which a pointer to the variable that holds the string is the first or the second argument, returns at once",
		hooks:   newUninterned},
	{Name: "deferred-identity", Family: "pointers",
		Functions: []string{"new-state", "push-string", "push-number", "new-thread", "new-table", "set", "set-height", "collect", "load", "call", "text", "libraries"},
		Places:    []string{"intern", "get", "get-string", "equal", "next", "name"}, May: []string{"raw-equal", "hash-long", "hash-bytes"},
		Numbers:   []string{"global", "strings", "kind", "hash", "length", "length-bytes", "chain", "bytes", "tag", "log", "nodes", "node-bytes", "key", "key-tag"},
		OneNumber: []string{"next", "next-address"}, MayNumbers: []string{"most"},
		With:    map[string][]string{"hash-long": {"hashed", "long-length"}},
		Meaning: "strings that are one object per content are compared by content where one has symbolic bytes",
		hooks:   newDeferred, concrete: []string{"hash-long", "hash-bytes"}},
	{Name: "unshared", Family: "pointers", At: "the function that makes a string", Places: []string{"allocate"},
		Numbers: []string{"kind", "flags", "ascii", "utf8", "latin1", "bytes", "payload"},
		Meaning: "strings with symbolic characters are not put into the table of strings",
		hooks:   newUnshared},
	{Name: "early-exit", Family: "fastpath", Imports: slices.Sorted(maps.Keys(libc)),
		Meaning: "these functions of the C library do not split the path at each symbolic byte that they look at"},
	{Name: "one-result", Family: "fastpath", At: "a function of no more than six arguments", More: true,
		Meaning: "a call that depends on symbolic values gives its result as one expression where it can: both ways of a branch are followed to where they meet, and one state goes on",
		hooks:   newOneResult},
	{Name: "decimal-width", Family: "fastpath", Functions: []string{}, Places: []string{"width"},
		Meaning: "the digits of a number >= 0 are counted by comparisons, not by a logarithm; the function that counts them is found by what it does",
		hooks:   newDecimalWidth},
}

// Of is the row of a name; nil: there is none.
func Of(name string) *Kind {
	for i := range Kinds {
		if Kinds[i].Name == name {
			return &Kinds[i]
		}
	}
	return nil
}

// Names lists the table.
func Names() (names []string) {
	for _, k := range Kinds {
		names = append(names, k.Name)
	}
	return names
}

// Families lists the families of models.
func Families() (families []string) {
	for _, k := range Kinds {
		families = append(families, k.Family)
	}
	slices.Sort(families)
	return slices.Compact(families)
}

// AllPlaces and AllNumbers are all names that the kind knows.
func (k *Kind) AllPlaces() []string { return slices.Concat(k.Places, k.May) }

func (k *Kind) AllNumbers() []string {
	out := slices.Concat(k.Numbers, k.OneNumber, k.MayNumbers)
	for _, place := range slices.Sorted(maps.Keys(k.With)) {
		out = append(out, k.With[place]...)
	}
	return out
}
