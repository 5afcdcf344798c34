package symchef_test

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"strings"
	"testing"
)

// Bars of the house. A function over one of them is a question: whether its cases are rows of a table, whether it holds a type that has no name yet.
const (
	maxLines      = 80 // of a function
	maxComplexity = 25 // decisions of a function, and one
)

// mayBeOver are the functions that may be over a bar, each with the reason why it is one piece.
var mayBeOver = map[string]string{
	"internal/exec (*Machine).fast":         "the evaluator's loop: a call for each micro-op would cost a third of its speed",
	"internal/exec (*Machine).concolicUops": "the concolic evaluator's loop",
	"internal/expr (*laneNode).run":         "one loop over 64 values for each kind, in place: a function for each value would cost more than the value",
}

// TestHouse fails where a function is longer or has more decisions than the bars allow, and where a row of mayBeOver is needed no longer.
func TestHouse(t *testing.T) {
	list := functions(t)
	if len(list) < 4000 {
		t.Errorf("only %d functions were found", len(list))
	}
	over := map[string]bool{}
	for _, f := range list {
		if f.lines <= maxLines && f.complexity <= maxComplexity {
			continue
		}
		over[f.name] = true
		if mayBeOver[f.name] == "" {
			t.Errorf("%v: %s has %d lines (at most %d) and a complexity of %d (at most %d)", f.at, f.name, f.lines, maxLines, f.complexity, maxComplexity)
		}
	}
	for name := range mayBeOver {
		if !over[name] {
			t.Errorf("%s is below both bars, and needs no row in mayBeOver", name)
		}
	}
}

// function is one function of the code that is no test.
type function struct {
	at         token.Position
	name       string // folder, receiver and name
	lines      int    // from func to the closing brace
	complexity int    // 1 and its decisions: if, for, a case of a switch or select, && and ||; those of function literals inside count, too
}

// functions are all of them, in the order of files.
func functions(t *testing.T) (list []function) {
	t.Helper()
	set := token.NewFileSet()
	err := filepath.WalkDir(".", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			return err
		}
		file, err := parser.ParseFile(set, path, nil, 0)
		if err != nil {
			return err
		}
		for _, d := range file.Decls {
			if f, ok := d.(*ast.FuncDecl); ok {
				at := set.Position(f.Pos())
				list = append(list, function{at: at, name: filepath.ToSlash(filepath.Dir(path)) + " " + nameOf(f),
					lines: set.Position(f.End()).Line - at.Line + 1, complexity: complexity(f)})
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return list
}

// nameOf is how a function is called in a message: f, T.f, (*T).f.
func nameOf(f *ast.FuncDecl) string {
	if f.Recv == nil {
		return f.Name.Name
	}
	switch r := f.Recv.List[0].Type.(type) {
	case *ast.StarExpr:
		return fmt.Sprintf("(*%v).%s", typeName(r.X), f.Name.Name)
	default:
		return fmt.Sprintf("%v.%s", typeName(r), f.Name.Name)
	}
}

// typeName is the name of a receiver's type without its parameters.
func typeName(e ast.Expr) string {
	switch e := e.(type) {
	case *ast.Ident:
		return e.Name
	case *ast.IndexExpr:
		return typeName(e.X)
	case *ast.IndexListExpr:
		return typeName(e.X)
	}
	return "?"
}

// complexity is McCabe's: 1 and the number of decisions.
func complexity(f *ast.FuncDecl) int {
	n := 1
	ast.Inspect(f, func(x ast.Node) bool {
		switch x := x.(type) {
		case *ast.IfStmt, *ast.ForStmt, *ast.RangeStmt:
			n++
		case *ast.CaseClause:
			if x.List != nil {
				n++
			}
		case *ast.CommClause:
			if x.Comm != nil {
				n++
			}
		case *ast.BinaryExpr:
			if x.Op == token.LAND || x.Op == token.LOR {
				n++
			}
		}
		return true
	})
	return n
}

func TestComplexity(t *testing.T) {
	for _, c := range []struct {
		body string
		want int
	}{
		{"", 1}, {"if a { }", 2}, {"if a { } else { }", 2}, {"if a && b || c { }", 4}, {"for { }", 2}, {"for range a { }", 2}, {"switch a { case b, c: case d: default: }", 3},
		{"select { case <-a: default: }", 2}, {"func() { if a { } }()", 2},
	} {
		file, err := parser.ParseFile(token.NewFileSet(), "", "package p\nfunc f() {\n"+c.body+"\n}", 0)
		if err != nil {
			t.Fatal(err)
		}
		if got := complexity(file.Decls[0].(*ast.FuncDecl)); got != c.want {
			t.Errorf("%s: %d and not %d", c.body, got, c.want)
		}
	}
}
