// Package model holds models of functions: what the machine does in place of a function of an interpreter, or of the C library, that
// would split a path where the interpreted program asks nothing. No model changes what a program does. Each either leaves
// what the stock function leaves (comparison, search, numbers), or another state that the interpreter, by its own rules, cannot tell from
// it (hashes, strings that are one object per content); so there are fewer paths, and easier queries, and the same outcomes.
//
//	k := model.Of("unshared")                       // its row: what a description must say about it
//	b := model.Binding{Name: k.Name, Slot: make, Places: ..., Numbers: ...} // where one interpreter has it
//	maps.Copy(m.Hooks, b.Hooks(model.Address(0)))   // the machine runs it
//
// A model is a hook: it returns what happens next. It declines, and the code runs, where it cannot tell the result; it asks
// for a decision where the stock function would; and it works on the system that it is given alone, so a path that runs again from its
// log takes the same way.
//
// To add one: a row of Kinds, its function in the file of its family, whose header says what it models, why it is exact and which test
// holds it against the original, executed in the machine.
//
//	table.go     the rows
//	binding.go   a row with the addresses of one interpreter
//	call.go      how a model returns, and what it leaves on the stack of the function it wraps
//	libc.go      functions of the C library, without early exit: scan.go, search.go, compare.go
//	oneresult.go functions that say where something is: branches are merged while they run
//	decimal.go   numbers as text
//	hash.go      hashes
//	intern.go    strings not to be interned
//	unshared.go  strings beside the table of strings
//	identity.go  strings that are compared by address: identity_*.go
//
// Glossary: m a machine, c a processor at the function's entry, s its memory, e expressions, b a binding, k a kind.
package model
