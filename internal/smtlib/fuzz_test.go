package smtlib

import "testing"

// FuzzModel reads what a solver says of a model.
func FuzzModel(f *testing.F) {
	f.Add("(\n(define-fun |stdin[0]| () (_ BitVec 8) #x41)\n(define-fun f ((x (_ BitVec 8))) Bool true)\n)")
	f.Add("(model (define-fun a () (_ BitVec 1) #b1))")
	f.Add("(error \"line 1\")")
	f.Fuzz(func(t *testing.T, s string) { parseModel(s) })
}
