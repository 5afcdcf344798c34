// Mutate plants random faults in rewrite rules and in the semantics of instructions, one at a time,
// and runs the tests that have to find it.
//
//	go run ./internal/mutate -n 50 -seed 1
//	go run ./internal/mutate -n 30 -of internal/model
//	go run ./internal/mutate -prove internal/bitblast/words.go:241
//
// The sources are not touched: a fault is an overlay of the go tool. A fault that no test finds is a gap of the tests unless it changes
// nothing: a solver has to say so (prove.go). With -prove that is asked of all faults at a place, without running tests.
package main

import (
	"encoding/json"
	"flag"
	"fmt"
	"go/ast"
	"go/format"
	"go/parser"
	"go/token"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"
)

// subject is files to break, the tests that have to notice, the quick ones first (packages, each with what go test needs to run only some of its tests),
// and the package whose image shows what the files make; "": there is none, so that what survives there has to be read.
type subject struct {
	glob  string
	tests []string
	image string
}

var subjects = []subject{
	{"internal/expr/rules_*.go", []string{"./internal/expr"}, "./internal/expr"},
	{"internal/expr/rewrite.go", []string{"./internal/expr"}, "./internal/expr"},
	{"internal/ir/sem_*.go", []string{"./internal/ir", "./internal/lift", "./internal/cpucheck"}, "./internal/ir"},
	{"internal/ir/cc.go", []string{"./internal/ir", "./internal/lift", "./internal/cpucheck"}, "./internal/ir"},
	{"internal/lift/int_*.go", []string{"./internal/lift", "./internal/cpucheck", "./internal/exec"}, "./internal/lift"},
	{"internal/lift/sse_*.go", []string{"./internal/lift", "./internal/cpucheck", "./internal/exec"}, "./internal/lift"},
	{"internal/jit/*.go", []string{"./internal/jit", "./internal/exec"}, "./internal/jit"},
	{"internal/bitblast/words.go", []string{"./internal/bitblast"}, "./internal/bitblast"},
	{"internal/bitblast/float.go", []string{"./internal/bitblast"}, "./internal/bitblast"},
	{"internal/model/*.go", []string{"./internal/model"}, ""},
	{"internal/kernel/*.go", []string{"./internal/kernel -skip=^TestOrderPairs", "./internal/kernel -run=^TestOrderPairs", "./internal/kernel/programs"}, ""},
	{"internal/explore/*.go", []string{"./internal/explore", "./internal/session -run=" + explorations}, ""},
	{"internal/high/*.go", []string{"./internal/high", "./internal/session -run=" + explorations}, ""},
	{"internal/session/*.go", []string{"./internal/session -run=" + explorations}, ""},
}

// explorations are tests of package session that take seconds, of those that go through the engine from end to end.
const explorations = "^Test(Rerun|SameTree|Numbers|Findings|MinimalInputs|Hang|Resume|Classes)$"

// swaps are the faults in operators.
var swaps = map[token.Token][]token.Token{
	token.ADD: {token.SUB}, token.SUB: {token.ADD}, token.MUL: {token.ADD},
	token.AND: {token.OR}, token.OR: {token.AND}, token.XOR: {token.OR}, token.AND_NOT: {token.AND},
	token.SHL: {token.SHR}, token.SHR: {token.SHL},
	token.LSS: {token.LEQ, token.GEQ}, token.LEQ: {token.LSS}, token.GTR: {token.GEQ}, token.GEQ: {token.GTR},
	token.EQL: {token.NEQ}, token.NEQ: {token.EQL}, token.LAND: {token.LOR}, token.LOR: {token.LAND},
}

// fault is one change of one file.
type fault struct {
	file      string
	tests     []string
	image     string
	line, col int
	what      string
	text      []byte
}

// faults lists what can be changed in a file: how many places, and make, which applies the n-th with a choice.
func places(f *ast.File) (list []func(r *rand.Rand) (what string, pos token.Pos)) {
	ast.Inspect(f, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.GenDecl:
			return n.Tok == token.VAR // constants and types are not semantics
		case *ast.BinaryExpr:
			if to := swaps[n.Op]; to != nil {
				list = append(list, func(r *rand.Rand) (string, token.Pos) {
					old := n.Op
					n.Op = to[r.IntN(len(to))]
					return fmt.Sprintf("%v for %v", n.Op, old), n.OpPos
				})
			}
		case *ast.UnaryExpr:
			if n.Op == token.NOT || n.Op == token.SUB || n.Op == token.XOR {
				list = append(list, func(*rand.Rand) (string, token.Pos) {
					old := n.Op
					n.Op = token.ADD
					if old == token.NOT {
						n.X = &ast.UnaryExpr{Op: token.NOT, X: &ast.ParenExpr{X: n.X}}
						n.Op = token.NOT
					}
					return fmt.Sprintf("no %v", old), n.OpPos
				})
			}
		case *ast.BasicLit:
			if n.Kind == token.INT {
				list = append(list, func(r *rand.Rand) (string, token.Pos) {
					old := n.Value
					v, err := strconv.ParseUint(old, 0, 64)
					if err != nil {
						return "nothing", n.Pos()
					}
					n.Value = fmt.Sprint(v + 1)
					return n.Value + " for " + old, n.Pos()
				})
			}
		case *ast.Ident:
			if n.Name == "true" || n.Name == "false" {
				list = append(list, func(*rand.Rand) (string, token.Pos) {
					old := n.Name
					n.Name = map[string]string{"true": "false", "false": "true"}[old]
					return n.Name + " for " + old, n.Pos()
				})
			}
		}
		return true
	})
	return list
}

// plant makes a random fault.
func plant(r *rand.Rand, root string, among []subject) (fault, error) {
	s := among[r.IntN(len(among))]
	files, err := filepath.Glob(filepath.Join(root, s.glob))
	if err != nil || len(files) == 0 {
		return fault{}, fmt.Errorf("no file %s (%v)", s.glob, err)
	}
	for {
		file := files[r.IntN(len(files))]
		if strings.HasSuffix(file, "_test.go") {
			continue
		}
		f, n, err := s.apply(file, r.IntN, r)
		if err != nil {
			return fault{}, err
		}
		if n > 0 {
			return f, nil
		}
	}
}

// apply makes the fault of a file that choose picks among so many, and returns how many there are.
func (s subject) apply(file string, choose func(n int) int, r *rand.Rand) (fault, int, error) {
	set := token.NewFileSet()
	tree, err := parser.ParseFile(set, file, nil, parser.ParseComments|parser.SkipObjectResolution)
	if err != nil {
		return fault{}, 0, err
	}
	list := places(tree)
	if len(list) == 0 {
		return fault{}, 0, nil
	}
	what, pos := list[choose(len(list))](r)
	at := set.Position(pos)
	var text strings.Builder
	if err := format.Node(&text, set, tree); err != nil {
		return fault{}, 0, err
	}
	return fault{file, s.tests, s.image, at.Line, at.Column, what, []byte(text.String())}, len(list), nil
}

// at returns all faults at a place below root, FILE:LINE or FILE:LINE:COLUMN.
func at(root, place string) (list []fault, err error) {
	file, position, _ := strings.Cut(place, ":")
	number, column, _ := strings.Cut(position, ":")
	line, err := strconv.Atoi(number)
	if err != nil {
		return nil, fmt.Errorf("%s is no FILE:LINE", place)
	}
	for _, s := range subjects {
		if ok, _ := filepath.Match(s.glob, file); !ok {
			continue
		}
		known := map[string]bool{}
		for i, n := 0, 1; i < n; i++ {
			for k := range uint64(8) { // of an operator that has several faults, all
				var f fault
				if f, n, err = s.apply(filepath.Join(root, file), func(int) int { return i }, rand.New(rand.NewPCG(k, 0))); err != nil || n == 0 {
					return nil, err
				}
				if id := fmt.Sprint(f.col, f.what); f.line == line && (column == "" || column == strconv.Itoa(f.col)) && !known[id] {
					known[id] = true
					list = append(list, f)
				}
			}
		}
	}
	if list == nil {
		return nil, fmt.Errorf("no fault can be planted at %s", place)
	}
	return list, nil
}

// patience is what the tests of a package may take: a fault may make them run for ever.
const patience = 5 * time.Minute

// verdicts.
const (
	caught    = "caught"
	endless   = "no end" // caught, too
	survived  = "SURVIVED"
	uncovered = "UNCOVERED" // survived, too: no test comes to its function
	invalid   = "does not compile"
)

// overlay writes what makes the go tool read the fault, and returns its path.
func (f fault) overlay(dir string) (string, error) {
	broken, path := filepath.Join(dir, "broken.go"), filepath.Join(dir, "overlay.json")
	j, err := json.Marshal(map[string]any{"Replace": map[string]string{f.file: broken}})
	if err != nil {
		return "", err
	}
	if err := os.WriteFile(broken, f.text, 0o600); err != nil {
		return "", err
	}
	return path, os.WriteFile(path, j, 0o600)
}

// try runs the tests on f.
func (f fault) try(root, dir string) (string, error) {
	overlay, err := f.overlay(dir)
	if err != nil {
		return "", err
	}
	run := func(args ...string) (string, error) {
		cmd := exec.Command("go", args...)
		cmd.Dir = root
		out, err := cmd.CombinedOutput()
		return string(out), err
	}
	if _, err := run("build", "-overlay="+overlay, "./"+filepath.Dir(strings.TrimPrefix(f.file, root+"/"))); err != nil {
		return invalid, nil
	}
	for _, tests := range f.tests {
		args := append([]string{"test", "-failfast", "-vet=off", "-timeout=" + patience.String(), "-overlay=" + overlay}, strings.Fields(tests)...)
		switch out, err := run(args...); {
		case err != nil && strings.Contains(out, "panic: test timed out"):
			return endless, nil
		case err != nil:
			return caught, nil
		}
	}
	return survived, nil
}

func main() {
	n := flag.Int("n", 50, "faults to plant")
	seed := flag.Uint64("seed", 1, "seed of the choice")
	of := flag.String("of", "", "only in files of this folder, internal/model")
	place := flag.String("prove", "", "FILE:LINE[:COLUMN]: prove of all faults there that they change nothing, without running tests")
	flag.Parse()
	if err := start(*n, *seed, *of, *place); err != nil {
		fmt.Fprintln(os.Stderr, "mutate:", err)
		os.Exit(1)
	}
}

func start(n int, seed uint64, of, place string) error {
	out, err := exec.Command("go", "env", "GOMOD").Output()
	if err != nil {
		return err
	}
	root := filepath.Dir(strings.TrimSpace(string(out)))
	dir, err := os.MkdirTemp("", "symchef-mutate-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	p := newProver(root, dir)
	if place == "" {
		among := slices.DeleteFunc(slices.Clone(subjects), func(s subject) bool { return of != "" && filepath.Dir(s.glob) != of })
		if len(among) == 0 {
			return fmt.Errorf("no fault can be planted in %s", of)
		}
		return mutate(p, among, n, seed)
	}
	faults, err := at(root, place)
	if err != nil {
		return err
	}
	open := 0
	for _, f := range faults {
		answer, err := p.prove(f)
		if err != nil {
			return err
		}
		if answer.verdict != proved {
			open++
		}
		rel, _ := filepath.Rel(root, f.file)
		fmt.Printf("%s:%d:%d: %s: %s: %s\n", rel, f.line, f.col, f.what, answer.verdict, answer.detail)
	}
	if open > 0 {
		return fmt.Errorf("%d of %d faults are not proved to change nothing", open, len(faults))
	}
	return nil
}

// mutate plants n faults in files of among, runs the tests, and has it proved of the survivors that they change nothing.
func mutate(p *prover, among []subject, n int, seed uint64) error {
	r := rand.New(rand.NewPCG(seed, 0))
	var faults []fault
	var at *switched
	if !slices.ContainsFunc(among, func(s subject) bool { return s.image != "" }) { // nothing but tests will look at them
		for range n + n/4 { // some do not compile
			f, err := plant(r, p.root, among)
			if err != nil {
				return err
			}
			faults = append(faults, f)
		}
		var err error
		if at, err = newSwitched(p.root, p.dir, faults); err != nil {
			return err
		}
	}
	count := map[string]int{}
	left := func() int { return count[survived] + count[uncovered] }
	for i := 0; count[caught]+count[endless]+left() < n && (at == nil || i < len(faults)); i++ {
		f, verdict, err := next(p, at, i, r, among)
		if err != nil {
			return err
		}
		count[verdict]++
		if verdict == invalid {
			continue
		}
		rel, _ := filepath.Rel(p.root, f.file)
		fmt.Printf("%-9s %s:%d: %s\n", verdict, rel, f.line, f.what)
		if verdict != survived && verdict != uncovered {
			continue
		}
		answer, err := p.prove(f)
		if err != nil {
			return err
		}
		count[answer.verdict]++
		fmt.Printf("          %s: %s\n", answer.verdict, answer.detail)
	}
	found := count[caught] + count[endless]
	fmt.Printf("seed %d: %d faults, %d caught, %d of them by tests that did not end in %v, %d survived, to %d of them no test comes, %d are proved equal\n",
		seed, found+left(), found, count[endless], patience, left(), count[uncovered], count[proved])
	if open := left() - count[proved]; open > 0 {
		return fmt.Errorf("%d faults were neither found nor proved equal", open)
	}
	return nil
}

// next is fault i and what the tests say of it: one of those of at, which is nil where each is planted for itself.
func next(p *prover, at *switched, i int, r *rand.Rand, among []subject) (f fault, verdict string, err error) {
	if at == nil {
		if f, err = plant(r, p.root, among); err != nil {
			return f, "", err
		}
		verdict, err = f.try(p.root, p.dir)
		return f, verdict, err
	}
	f = at.faults[i]
	if verdict, err = at.try(i); verdict == noFunction {
		verdict, err = f.try(p.root, p.dir)
	}
	return f, verdict, err
}
