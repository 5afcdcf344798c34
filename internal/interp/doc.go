// Package interp reads interpreter descriptions: one declarative file per
// language (languages/NAME/language.desc) that says how to start the interpreter, where its hash
// slot is, and what its objects look like.
//
//	d, ok := interp.ForFile("/abs/test_x" + suffix)
//	found, err := d.Find(interp.FindOptions{Test: path})    // which interpreter
//	img, err := d.Locate(found.ELF, found.Version, "")        // addresses in it
//	p, err := d.Layouts["int1"].Build(ctx, interp.Input{Kind: device.KindInt, Value: v, Min: 0, Max: 9})
//
// A description is one s-expression: lists in parentheses, names, numbers
// (decimal or 0x hexadecimal, with - for negative), "strings", comments from ;
// to the end of the line. What may stand in one is a table, forms.go, and for models that of package model; all else is an error
// with line and column. A name that is nothing in an interpreter is an error, too, or named where (optional ...) says so.
//
// A second kind of description, calibrate.desc beside it, is the script by which an interpreter shows its
// high-level program counter; docs/your-own-language.md explains its clauses.
//
// To add a language: make its folder in languages, and test its layouts against the running interpreter.
//
// Glossary: d a description, img an image, l a layout, n a node of the file.
package interp
