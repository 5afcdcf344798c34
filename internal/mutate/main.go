// Mutate plants random faults in rewrite rules and in the semantics of instructions, one at a time,
// and runs the tests that have to find it.
//
//	go run ./internal/mutate -n 50 -seed 1
//
// The sources are not touched: a fault is an overlay of the go tool. A fault that no test finds is printed with its
// place; it is a gap of the tests unless it changes nothing.
package main

import (
	"context"
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
	"strconv"
	"strings"
	"time"
)

// subjects are the files to break, and the packages whose tests have to notice.
var subjects = []struct {
	glob  string
	tests []string
}{
	{"internal/expr/rules_*.go", []string{"./internal/expr"}},
	{"internal/expr/rewrite.go", []string{"./internal/expr"}},
	{"internal/ir/sem_*.go", []string{"./internal/ir", "./internal/lift", "./internal/cpucheck"}},
	{"internal/ir/cc.go", []string{"./internal/ir", "./internal/lift", "./internal/cpucheck"}},
	{"internal/lift/int_*.go", []string{"./internal/lift", "./internal/cpucheck", "./internal/exec"}},
	{"internal/lift/sse_*.go", []string{"./internal/lift", "./internal/cpucheck", "./internal/exec"}},
	{"internal/jit/*.go", []string{"./internal/jit", "./internal/exec"}},
	{"internal/bitblast/words.go", []string{"./internal/bitblast"}},
	{"internal/bitblast/float.go", []string{"./internal/bitblast"}},
}

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
	file  string
	tests []string
	line  int
	what  string
	text  []byte
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
func plant(r *rand.Rand, root string) (fault, error) {
	s := subjects[r.IntN(len(subjects))]
	files, err := filepath.Glob(filepath.Join(root, s.glob))
	if err != nil || len(files) == 0 {
		return fault{}, fmt.Errorf("no file %s (%v)", s.glob, err)
	}
	for {
		file := files[r.IntN(len(files))]
		if strings.HasSuffix(file, "_test.go") {
			continue
		}
		set := token.NewFileSet()
		tree, err := parser.ParseFile(set, file, nil, parser.ParseComments|parser.SkipObjectResolution)
		if err != nil {
			return fault{}, err
		}
		list := places(tree)
		if len(list) == 0 {
			continue
		}
		what, pos := list[r.IntN(len(list))](r)
		line := set.Position(pos).Line
		var text strings.Builder
		if err := format.Node(&text, set, tree); err != nil {
			return fault{}, err
		}
		return fault{file: file, tests: s.tests, line: line, what: what, text: []byte(text.String())}, nil
	}
}

// patience is what the tests of one fault may take: a fault may make them run for ever.
const patience = 10 * time.Minute

// verdicts.
const (
	caught   = "caught"
	survived = "SURVIVED"
	invalid  = "does not compile"
)

// try runs the tests on f.
func (f fault) try(root, dir string) (string, error) {
	broken := filepath.Join(dir, "broken.go")
	overlay := filepath.Join(dir, "overlay.json")
	j, err := json.Marshal(map[string]any{"Replace": map[string]string{f.file: broken}})
	if err != nil {
		return "", err
	}
	if err := os.WriteFile(broken, f.text, 0o600); err != nil {
		return "", err
	}
	if err := os.WriteFile(overlay, j, 0o600); err != nil {
		return "", err
	}
	run := func(args ...string) error {
		c, cancel := context.WithTimeout(context.Background(), patience)
		defer cancel()
		cmd := exec.CommandContext(c, "go", args...)
		cmd.Dir = root
		cmd.WaitDelay = time.Second
		return cmd.Run()
	}
	if run("build", "-overlay="+overlay, "./"+filepath.Dir(strings.TrimPrefix(f.file, root+"/"))) != nil {
		return invalid, nil
	}
	for _, tests := range f.tests { // the quick ones first
		if run("test", "-failfast", "-overlay="+overlay, tests) != nil {
			return caught, nil
		}
	}
	return survived, nil
}

func main() {
	n := flag.Int("n", 50, "faults to plant")
	seed := flag.Uint64("seed", 1, "seed of the choice")
	flag.Parse()
	if err := mutate(*n, *seed); err != nil {
		fmt.Fprintln(os.Stderr, "mutate:", err)
		os.Exit(1)
	}
}

func mutate(n int, seed uint64) error {
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
	r := rand.New(rand.NewPCG(seed, 0))
	count := map[string]int{}
	for count[caught]+count[survived] < n {
		f, err := plant(r, root)
		if err != nil {
			return err
		}
		verdict, err := f.try(root, dir)
		if err != nil {
			return err
		}
		count[verdict]++
		if verdict != invalid {
			rel, _ := filepath.Rel(root, f.file)
			fmt.Printf("%-9s %s:%d: %s\n", verdict, rel, f.line, f.what)
		}
	}
	fmt.Printf("seed %d: %d faults, %d caught, %d survived\n", seed, n, count[caught], count[survived])
	if count[survived] > 0 {
		return fmt.Errorf("%d faults were not found", count[survived])
	}
	return nil
}
