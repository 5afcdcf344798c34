package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"go/ast"
	"go/format"
	"go/parser"
	"go/token"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// Many faults in one binary: each function with a fault is there several times, without and with each of its faults, and a function of its name calls the one that
// the environment chooses. So a fault costs a run of the tests, and no compiler and linker.

// noFunction is said of a fault in what is computed when the program starts: it cannot be switched.
const noFunction = "in no function"

// switchEnv is the number of the fault that counts; markEnv a file that is made when the function with it is called.
const switchEnv, markEnv = "SYMCHEF_FAULT", "SYMCHEF_FAULT_MARK"

// chooser is the file that each package with faults gets.
const chooser = `package %s

import (
	"os"
	"strconv"
	"sync"
)

var plantedFault, _ = strconv.Atoi(os.Getenv("` + switchEnv + `"))

var markFault = sync.OnceFunc(func() {
	if p := os.Getenv("` + markEnv + `"); p != "" {
		_ = os.WriteFile(p, nil, 0o600)
	}
})
`

// switched builds and runs the tests of faults that one binary has.
type switched struct {
	root, dir string
	faults    []fault
	gone      map[int]string    // faults that are in no binary, and why
	binaries  map[string]string // by package of tests
}

// newSwitched prepares faults. Require: all are in packages whose files can be overlaid.
func newSwitched(root, dir string, faults []fault) (*switched, error) {
	s := &switched{root, dir, faults, map[int]string{}, map[string]string{}}
	for range 5 { // until all that is left compiles
		overlay, where, err := s.write()
		if err != nil {
			return nil, err
		}
		bad, out, err := s.build(overlay, where)
		if err != nil {
			return nil, fmt.Errorf("%w\n%s", err, out)
		}
		if len(bad) == 0 {
			return s, nil
		}
		for _, i := range bad {
			s.gone[i] = invalid
		}
	}
	return nil, fmt.Errorf("the faults do not compile")
}

// span is the lines of a file that fault n has made.
type span struct {
	file       string
	begin, end int
	n          int
}

// write writes the sources with all faults, and an overlay of the go tool.
func (s *switched) write() (overlay string, where []span, err error) {
	byFile := map[string][]int{}
	for i, f := range s.faults {
		if s.gone[i] == "" {
			byFile[f.file] = append(byFile[f.file], i)
		}
	}
	replace := map[string]string{}
	for k, file := range slices.Sorted(maps.Keys(byFile)) {
		first := len(where)
		text, name, err := s.file(file, byFile[file], &where)
		if err != nil {
			return "", nil, err
		}
		at := filepath.Join(s.dir, fmt.Sprintf("switched%d.go", k))
		for i := range where[first:] {
			where[first+i].file = filepath.Base(at)
		}
		choose := filepath.Join(filepath.Dir(file), "zz_planted_fault.go")
		replace[file], replace[choose] = at, filepath.Join(s.dir, "choose_"+name+".go")
		if err := os.WriteFile(at, text, 0o600); err != nil {
			return "", nil, err
		}
		if err := os.WriteFile(replace[choose], fmt.Appendf(nil, chooser, name), 0o600); err != nil {
			return "", nil, err
		}
	}
	j, err := json.Marshal(map[string]any{"Replace": replace})
	if err != nil {
		return "", nil, err
	}
	overlay = filepath.Join(s.dir, "switched.json")
	return overlay, where, os.WriteFile(overlay, j, 0o600)
}

// file is the text of a file with the faults of these numbers, and the name of its package.
func (s *switched) file(path string, numbers []int, where *[]span) ([]byte, string, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, "", err
	}
	set := token.NewFileSet()
	tree, err := parser.ParseFile(set, path, text, parser.SkipObjectResolution)
	if err != nil {
		return nil, "", err
	}
	at := func(p token.Pos) int { return set.Position(p).Offset }
	var added bytes.Buffer
	line := bytes.Count(text, []byte("\n")) + 1
	for _, d := range slices.Backward(tree.Decls) { // names are replaced from the end on
		fn, ok := d.(*ast.FuncDecl)
		if !ok || fn.Body == nil || fn.Name.Name == "init" || fn.Name.Name == "_" {
			continue
		}
		var in []int
		for _, i := range numbers {
			if p := s.faults[i]; p.line >= set.Position(fn.Body.Lbrace).Line && p.line <= set.Position(fn.Body.Rbrace).Line {
				in = append(in, i)
			}
		}
		if len(in) == 0 {
			continue
		}
		for _, i := range in {
			body, err := s.faults[i].function(fn.Name.Name, set.Position(fn.Pos()).Line, i)
			if err != nil {
				return nil, "", err
			}
			begin := line + bytes.Count(added.Bytes(), []byte("\n"))
			added.WriteString("\n" + body + "\n")
			*where = append(*where, span{path, begin, line + bytes.Count(added.Bytes(), []byte("\n")), i})
		}
		added.WriteString(chooses(fn, in, func(n ast.Node) string { return string(text[at(n.Pos()):at(n.End())]) }))
		text = slices.Concat(text[:at(fn.Name.Pos())], []byte(faulty(fn.Name.Name, -1)), text[at(fn.Name.End()):])
	}
	for _, i := range numbers {
		if !slices.ContainsFunc(*where, func(x span) bool { return x.n == i }) {
			s.gone[i] = noFunction
		}
	}
	return append(text, added.Bytes()...), tree.Name.Name, nil
}

// faulty is the name of a function with fault n; -1: without.
func faulty(name string, n int) string {
	if n < 0 {
		return name + "NoFault"
	}
	return name + "Fault" + strconv.Itoa(n)
}

// function returns the function of f's file that begins at a line, with the fault and another name.
func (f fault) function(name string, line, n int) (string, error) {
	set := token.NewFileSet()
	tree, err := parser.ParseFile(set, "", f.text, parser.SkipObjectResolution)
	if err != nil {
		return "", err
	}
	var best *ast.FuncDecl // of several methods of that name the nearest one: format may have moved lines
	far := func(d *ast.FuncDecl) int {
		return max(set.Position(d.Pos()).Line-line, line-set.Position(d.Pos()).Line)
	}
	for _, d := range tree.Decls {
		if fn, ok := d.(*ast.FuncDecl); ok && fn.Name.Name == name && (best == nil || far(fn) < far(best)) {
			best = fn
		}
	}
	if best == nil {
		return "", fmt.Errorf("no function %s", name)
	}
	best.Name.Name, best.Doc = faulty(name, n), nil
	var b strings.Builder
	err = format.Node(&b, set, best)
	return b.String(), err
}

// chooses is the function that calls fn without or with one of the faults.
func chooses(fn *ast.FuncDecl, faults []int, text func(ast.Node) string) string {
	var b strings.Builder
	b.WriteString("\nfunc ")
	prefix := ""
	if fn.Recv != nil {
		fmt.Fprintf(&b, "(plantedIn %s) ", text(fn.Recv.List[0].Type))
		prefix = "plantedIn."
	}
	b.WriteString(fn.Name.Name)
	types := ""
	if t := fn.Type.TypeParams; t != nil {
		b.WriteString(text(t))
		var names []string
		for _, f := range t.List {
			for _, n := range f.Names {
				names = append(names, n.Name)
			}
		}
		types = "[" + strings.Join(names, ", ") + "]"
	}
	var params, args []string
	for _, p := range fn.Type.Params.List {
		for range max(len(p.Names), 1) {
			name := fmt.Sprintf("planted%d", len(params))
			params = append(params, name+" "+text(p.Type))
			if _, more := p.Type.(*ast.Ellipsis); more {
				name += "..."
			}
			args = append(args, name)
		}
	}
	fmt.Fprintf(&b, "(%s) ", strings.Join(params, ", "))
	returns := ""
	if fn.Type.Results != nil {
		b.WriteString(text(fn.Type.Results) + " ")
		returns = "return "
	}
	b.WriteString("{\n\tswitch plantedFault {\n")
	call := func(n int) string {
		return returns + prefix + faulty(fn.Name.Name, n) + types + "(" + strings.Join(args, ", ") + ")"
	}
	for _, i := range faults {
		fmt.Fprintf(&b, "\tcase %d:\n\t\tmarkFault()\n\t\t%s\n", i+1, call(i))
	}
	fmt.Fprintf(&b, "\tdefault:\n\t\t%s\n\t}\n", call(-1))
	if returns != "" {
		b.WriteString("\tpanic(\"unreachable\")\n")
	}
	b.WriteString("}\n")
	return b.String()
}

// build builds the binary of each package of tests. bad are the faults that do not compile.
func (s *switched) build(overlay string, where []span) (bad []int, out string, err error) {
	for _, f := range s.faults {
		for _, tests := range f.tests {
			pkg := strings.Fields(tests)[0]
			if s.binaries[pkg] != "" {
				continue
			}
			path := filepath.Join(s.dir, strings.ReplaceAll(strings.TrimPrefix(pkg, "./"), "/", "-")+".test")
			cmd := exec.Command("go", "test", "-c", "-vet=off", "-gcflags=-e", "-overlay="+overlay, "-o", path, pkg)
			cmd.Dir = s.root
			text, err := cmd.CombinedOutput()
			if err == nil {
				s.binaries[pkg] = path
				continue
			}
			for l := range strings.Lines(string(text)) {
				file, rest, _ := strings.Cut(l, ":")
				number, _, _ := strings.Cut(rest, ":")
				at, _ := strconv.Atoi(number)
				for _, x := range where {
					if x.file == filepath.Base(file) && at >= x.begin && at <= x.end && !slices.Contains(bad, x.n) {
						bad = append(bad, x.n)
					}
				}
			}
			if len(bad) == 0 {
				return nil, string(text), err
			}
			clear(s.binaries)
			return bad, "", nil
		}
	}
	return nil, "", nil
}

// try runs the tests on fault i.
func (s *switched) try(i int) (string, error) {
	if why := s.gone[i]; why != "" {
		return why, nil
	}
	mark := filepath.Join(s.dir, "mark")
	_ = os.Remove(mark)
	for _, tests := range s.faults[i].tests {
		words := strings.Fields(tests)
		args := []string{"-test.failfast", "-test.timeout=" + patience.String()}
		for _, w := range words[1:] {
			args = append(args, "-test."+strings.TrimPrefix(w, "-"))
		}
		cmd := exec.Command(s.binaries[words[0]], args...)
		cmd.Dir = filepath.Join(s.root, words[0])
		cmd.Env = append(os.Environ(), switchEnv+"="+strconv.Itoa(i+1), markEnv+"="+mark)
		switch out, err := cmd.CombinedOutput(); {
		case err != nil && strings.Contains(string(out), "panic: test timed out"):
			return endless, nil
		case err != nil:
			return caught, nil
		}
	}
	if _, err := os.Stat(mark); err != nil {
		return uncovered, nil
	}
	return survived, nil
}
