package main

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"symchef/internal/smtlib"
)

func testProver(t *testing.T) *prover {
	p := newProver("../..", t.TempDir())
	if len(p.solvers) == 0 {
		t.Skip("skipped: neither cvc5 nor z3 is installed: nothing can be proved")
	}
	root, err := filepath.Abs(p.root)
	if err != nil {
		t.Fatal(err)
	}
	p.root = root
	return p
}

// TestEqual asks about forms without and with a fault.
func TestEqual(t *testing.T) {
	p := testProver(t)
	const x = "(declare-const |x| (_ BitVec 8))\n"
	out := func(term string) string { return x + "(define-fun |out.0| () (_ BitVec 8) " + term + ")\n" }
	const half = "(declare-const ?fresh0 Bool)\n(define-fun ?1 () Bool (= ?fresh0 (= ((_ extract 7 7) |x|) #b1)))\n"
	fresh := func(side string) string {
		return x + half + "(define-fun ?side () Bool " + side + ")\n(assert ?side)\n(define-fun |out.0| () (_ BitVec 1) (ite ?fresh0 #b1 #b0))\n"
	}
	for _, test := range []struct {
		name, x, y string
		want       smtlib.Status
	}{
		{"another text", out("(bvadd |x| |x|)"), out("(bvshl |x| #x01)"), smtlib.Unsat},
		{"another value", out("(bvlshr |x| #x01)"), out("(bvashr |x| #x01)"), smtlib.Sat},
		{"a name of its own", "(define-fun ?1 () (_ BitVec 8) #x01)\n" + out("?1"), "(define-fun ?1 () (_ BitVec 8) #x02)\n" + out("(bvsub ?1 #x01)"), smtlib.Unsat},
		{"the same event", "; load\n" + out("#x01"), "; load\n" + out("(bvand #x01 #x03)"), smtlib.Unsat},
		{"another event", "; load\n" + out("#x01"), "; store\n" + out("(bvand #x01 #x03)"), smtlib.Unknown},
		{"another width", out("#x01"), strings.Replace(out("#b1"), "8) #", "1) #", 1), smtlib.Sat},
		{"no results", "; 90", "; cc", smtlib.Unknown},
		{"the same demand", fresh("?1"), fresh("(not (not ?1))"), smtlib.Unsat},
		{"too little demanded", fresh("?1"), fresh("true"), smtlib.Sat},
		{"too much demanded", fresh("?1"), fresh("(and ?1 (= |x| #x05))"), smtlib.Unknown},
		{"nothing is possible", fresh("?1"), fresh("false"), smtlib.Unknown},
	} {
		if got, why := p.equal(test.x, test.y); got != test.want {
			t.Errorf("%s: %v (%s), want %v", test.name, got, why, test.want)
		}
	}
}

// TestBeside: what a mutant shares with the original is the original's, whatever its name; the rest has names of its own.
func TestBeside(t *testing.T) {
	x := []string{"(declare-const |x| (_ BitVec 8))", "(declare-const ?fresh0 Bool)", "(define-fun ?0 () Bool (= |x| #x00))", "(define-fun ?1 () Bool (not ?0))",
		"(define-fun ?side () Bool (or ?1 ?fresh0))", "(assert ?side)", "(define-fun |out.0| () (_ BitVec 8) (ite ?1 #x01 |x|))"}
	y := []string{"(declare-const |x| (_ BitVec 8))", "(declare-const ?fresh0 Bool)", "(define-fun ?0 () Bool (= |x| #x01))", "(define-fun ?1 () Bool (= |x| #x00))", "(define-fun ?2 () Bool (not ?1))",
		"(define-fun ?3 () Bool (and ?2 ?0))", "(define-fun ?side () Bool (or ?2 ?fresh0))", "(assert ?side)", "(define-fun |out.0| () (_ BitVec 8) (ite ?3 #x01 |x|))"}
	for _, sameFresh := range []bool{false, true} {
		got, names := beside(x, y, sameFresh)
		want := []string{y[0], "(declare-const !fresh0 Bool)", "(define-fun !0 () Bool (= |x| #x01))", "(define-fun !3 () Bool (and ?1 !0))",
			"(define-fun !side () Bool (or ?1 !fresh0))", "(assert !side)", "(define-fun |mut.0| () (_ BitVec 8) (ite !3 #x01 |x|))"}
		side := "!side"
		if sameFresh { // then all that is demanded of them is the same
			want = slices.Delete(want, 4, 5)
			want[1], want[4], side = y[1], "(assert ?side)", "?side"
		}
		if !slices.Equal(got, want) || names["?side"] != side {
			t.Errorf("fresh bits the same %v: %q, %v; want %q", sameFresh, got, names, want)
		}
	}
}

// TestProve plants faults in the semantics of instructions.
func TestProve(t *testing.T) {
	p := testProver(t)
	for _, test := range []struct{ file, old, new, want string }{
		{"cc.go", "of = (a ^ b) & (a ^ res) >> top & 1", "of = (a ^ b) &^ (b ^ res) >> top & 1", proved}, // of numbers
		{"cc.go", "e.Eq(a, e.Const(lim, w))", "e.Eq(a, e.Const(lim+1, w))", differs},
		{"sem_float.go", "a&expr.Mask(w), b&expr.Mask(w), max)", "b&expr.Mask(w), a&expr.Mask(w), max)", notProvable}, // floats of numbers
	} {
		file := filepath.Join(p.root, "internal/ir", test.file)
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		before, _, ok := strings.Cut(string(text), test.old)
		if !ok {
			t.Fatalf("%s is not in %s", test.old, file)
		}
		line := 1 + strings.Count(before, "\n")
		f := fault{file: file, image: "./internal/ir", line: line, col: len(before) - strings.LastIndex(before, "\n"),
			text: []byte(strings.Replace(string(text), test.old, test.new, 1))}
		got, err := p.prove(f)
		if err != nil || got.verdict != test.want || test.want == proved && strings.Contains(got.detail, " 0 of them by solver") {
			t.Errorf("%s for %s: %v %v, want %s", test.new, test.old, got, err, test.want)
		}
		t.Log(got)
	}
}

// TestAt lists all faults of a place.
func TestAt(t *testing.T) {
	dir := t.TempDir()
	name := filepath.Join(dir, "internal/expr")
	if err := os.MkdirAll(name, 0o700); err != nil {
		t.Fatal(err)
	}
	const source = "package expr\n\nfunc f(a, b int) bool { return a < b+1 }\n"
	if err := os.WriteFile(filepath.Join(name, "rewrite.go"), []byte(source), 0o600); err != nil {
		t.Fatal(err)
	}
	list, err := at(dir, "internal/expr/rewrite.go:3")
	if err != nil {
		t.Fatal(err)
	}
	found := map[string]bool{}
	for _, f := range list {
		found[f.what] = true
	}
	for _, want := range []string{"<= for <", ">= for <", "- for +", "2 for 1"} {
		if !found[want] {
			t.Errorf("%s is missing", want)
		}
	}
	if len(list) != 4 {
		t.Errorf("%d faults", len(list))
	}
	if list, err = at(dir, "internal/expr/rewrite.go:3:38"); err != nil || len(list) != 1 || list[0].what != "2 for 1" {
		t.Errorf("%v, %v", list, err)
	}
	if _, err := at(dir, "internal/expr/rewrite.go:1"); err == nil {
		t.Error("a fault in the package clause")
	}
}

// TestReached: where the coverage says that a fault stands on the way of an image.
func TestReached(t *testing.T) {
	dir := t.TempDir()
	const source = "package p\n\nvar n = 1\n\nfunc f(a int) int {\n\tswitch {\n\tcase a == 1:\n\t\treturn 1\n\tdefault:\n\t\ta = a + 4\n\tcase a == 2:\n\tcase a == 3:\n\t\treturn 3\n\t}\n\treturn a\n}\n"
	if err := os.WriteFile(filepath.Join(dir, "p.go"), []byte(source), 0o600); err != nil {
		t.Fatal(err)
	}
	const one, other, two, three, end = "p.go:7.14,8.11 1 ", "p.go:9.10,10.12 1 ", "p.go:11.14,11.14 0 ", "p.go:12.14,13.11 1 ", "p.go:15.2,15.10 1 "
	for _, test := range []struct {
		counts string // of the blocks above
		want   map[int]bool
	}{
		{"00000", map[int]bool{3: true, 7: false, 8: false, 10: false, 11: false, 12: false, 13: false, 15: false}},
		{"10000", map[int]bool{3: true, 7: true, 8: true, 10: false, 11: false, 12: false, 13: false, 15: false}},
		{"00101", map[int]bool{3: true, 7: true, 8: false, 10: false, 11: true, 12: false, 13: false, 15: true}},
		{"00010", map[int]bool{3: true, 7: true, 8: false, 10: false, 11: true, 12: true, 13: true, 15: false}},
		{"01001", map[int]bool{3: true, 7: true, 8: false, 10: true, 11: true, 12: true, 13: false, 15: true}},
	} {
		profile := "mode: set\nsymchef/p.go:5.19,6.9 1 1\n"
		for i, block := range []string{one, other, two, three, end} {
			profile += "symchef/" + block + test.counts[i:i+1] + "\n"
		}
		image := imaged{covered: parseCover(profile)}
		for line, want := range test.want {
			if got, err := image.reached(dir, "p.go", line, 9); err != nil || got != want {
				t.Errorf("counts %s, line %d: %v, %v", test.counts, line, got, err)
			}
		}
	}
}
