package main

import (
	"bufio"
	"context"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"symchef/internal/mutate/image"
	"symchef/internal/smtlib"
)

// A fault that no test finds changes nothing, or the tests have a gap. prover tells by images (package image): a package's TestImage
// writes what it makes of symbolic operands, form by form, with the fault and without. Forms with the same text are
// equal; of the others a solver has to find no operands on which they differ. So a proof holds for all values of the operands
// of every form in the image. It says nothing about forms that are not there; a fault that no form comes to is not provable.

// proof is what is known of a fault after the comparison.
type proof struct {
	verdict string
	detail  string
}

// verdicts of a prover.
const (
	proved      = "PROVED EQUAL"
	differs     = "DIFFERS"
	notProvable = "NOT PROVABLE"
)

// prover compares images.
type prover struct {
	root, dir string
	solvers   []string
	whole     map[string]imaged // by package: the image without a fault
}

// imaged is the image of a package and what its statements did for it.
type imaged struct {
	path    string
	covered []covered
}

// covered is a block of statements of a coverage profile.
type covered struct {
	file                                 string // below the module's root
	startLine, startCol, endLine, endCol int
	count                                int
}

const (
	// patienceOfSolver is what a solver may take for one form.
	patienceOfSolver = 10 * time.Second
	// mostOpen is after how many forms without an answer a comparison ends.
	mostOpen = 5
)

func newProver(root, dir string) *prover {
	return &prover{root: root, dir: dir, solvers: smtlib.Find(), whole: map[string]imaged{}}
}

// image makes the image of a package, as name; overlay "" is that without a fault.
func (p *prover) image(pkg, name, overlay string) (path string, err error) {
	path = filepath.Join(p.dir, name)
	return path, p.test(pkg, path, "-overlay="+overlay)
}

// coverage returns what the statements of a package without a fault do for its image. It is a run of its own: the go tool covers the
// sources that an overlay replaces, and functions whose machine code is in the image are others when they count.
func (p *prover) coverage(pkg string) ([]covered, error) {
	profile := filepath.Join(p.dir, "cover")
	if err := p.test(pkg, os.DevNull, "-coverprofile="+profile); err != nil {
		return nil, err
	}
	text, err := os.ReadFile(profile)
	return parseCover(string(text)), err
}

// test runs the TestImage of a package.
func (p *prover) test(pkg, path, option string) error {
	cmd := exec.Command("go", "test", "-count=1", "-timeout="+patience.String(), "-run=^TestImage$", option, pkg)
	cmd.Dir, cmd.Env = p.root, append(os.Environ(), image.File+"="+path)
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("TestImage of %s: %w\n%s", pkg, err, out)
	}
	return nil
}

var coverLine = regexp.MustCompile(`(?m)^symchef/(\S+):(\d+)\.(\d+),(\d+)\.(\d+) \d+ (\d+)$`)

func parseCover(text string) (list []covered) {
	for _, m := range coverLine.FindAllStringSubmatch(text, -1) {
		c := covered{file: m[1]}
		for i, v := range []*int{&c.startLine, &c.startCol, &c.endLine, &c.endCol, &c.count} {
			*v, _ = strconv.Atoi(m[i+2])
		}
		list = append(list, c)
	}
	return list
}

// reached reports whether the image without a fault came to a place of a file below root. What a case compares with is in no block: it came
// there if it came to the statements of the clause, or of one that is tried later. What else stands in no block is done when a
// program starts.
func (i imaged) reached(root, file string, line, col int) (bool, error) {
	later, err := clauses(filepath.Join(root, file), line, col)
	if err != nil || later != nil {
		return slices.ContainsFunc(i.covered, func(c covered) bool {
			return c.file == file && c.count > 0 && slices.ContainsFunc(later, func(p token.Position) bool { return p.Line == c.startLine && p.Column == c.startCol })
		}), err
	}
	inner, size := covered{count: 1}, 1<<30
	for _, c := range i.covered {
		after := line > c.startLine || line == c.startLine && col >= c.startCol
		before := line < c.endLine || line == c.endLine && col < c.endCol
		if n := c.endLine - c.startLine; c.file == file && after && before && n < size {
			inner, size = c, n
		}
	}
	return inner.count > 0, nil
}

// clauses returns where the statements of a clause begin that has an expression at a place, and those of the clauses after it, the
// default among them; nil if there is no clause.
func clauses(file string, line, col int) (begin []token.Position, err error) {
	set := token.NewFileSet()
	tree, err := parser.ParseFile(set, file, nil, parser.SkipObjectResolution)
	if err != nil {
		return nil, err
	}
	place := set.File(tree.Pos()).LineStart(line) + token.Pos(col-1)
	ast.Inspect(tree, func(n ast.Node) bool {
		s, ok := n.(*ast.SwitchStmt)
		if !ok {
			return true
		}
		var later, otherwise []token.Position
		for _, c := range s.Body.List {
			c := c.(*ast.CaseClause)
			switch body := set.Position(c.Colon + 1); {
			case c.List == nil:
				otherwise = append(otherwise, body)
			case later != nil || c.Case <= place && place < c.Colon:
				later = append(later, body)
			}
		}
		if later != nil {
			begin = append(later, otherwise...)
		}
		return true
	})
	return begin, nil
}

// prove compares what f makes with what the sources make.
func (p *prover) prove(f fault) (proof, error) {
	if f.image == "" {
		return proof{notProvable, "its package has no image"}, nil
	}
	whole, ok := p.whole[f.image]
	if !ok {
		var err error
		if whole.covered, err = p.coverage(f.image); err != nil {
			return proof{}, err
		}
		if whole.path, err = p.image(f.image, strings.ReplaceAll(strings.TrimPrefix(f.image, "./"), "/", "-"), ""); err != nil {
			return proof{}, err
		}
		p.whole[f.image] = whole
	}
	rel, err := filepath.Rel(p.root, f.file)
	if err != nil {
		return proof{}, err
	}
	reached, err := whole.reached(p.root, rel, f.line, f.col)
	if err != nil {
		return proof{}, err
	}
	if !reached {
		return proof{notProvable, "no form of " + f.image + " comes to it with symbolic operands"}, nil
	}
	overlay, err := f.overlay(p.dir)
	if err != nil {
		return proof{}, err
	}
	broken, err := p.image(f.image, "fault", overlay)
	if err != nil {
		return proof{differs, "with it " + firstLine(err.Error())}, nil
	}
	return p.compare(whole.path, broken)
}

func firstLine(s string) string {
	first, rest, _ := strings.Cut(s, "\n")
	for line := range strings.Lines(rest) {
		if strings.Contains(line, "panic:") {
			return first + " " + strings.TrimSpace(line)
		}
	}
	return first
}

// compare compares two images form by form.
func (p *prover) compare(whole, broken string) (proof, error) {
	x, closeX, err := forms(whole)
	if err != nil {
		return proof{}, err
	}
	defer closeX()
	y, closeY, err := forms(broken)
	if err != nil {
		return proof{}, err
	}
	defer closeY()
	n, bySolver := 0, 0
	open := map[string]int{} // forms without an answer, by why
	for unanswered := 0; unanswered < mostOpen; {
		a, okX := x()
		b, okY := y()
		if !okX && !okY {
			break
		}
		if a.name != b.name {
			return proof{notProvable, "the images have different forms"}, nil
		}
		n++
		if a.text == b.text {
			continue
		}
		switch status, why := p.equal(a.text, b.text); status {
		case smtlib.Sat:
			return proof{differs, a.name + ": " + why}, nil
		case smtlib.Unknown:
			open[why]++
			unanswered++
		default:
			bySolver++
		}
	}
	if len(open) == 0 {
		return proof{proved, fmt.Sprintf("%d forms, %d of them by solver, the others have the same text", n, bySolver)}, nil
	}
	var why []string
	for _, k := range slices.Sorted(maps.Keys(open)) {
		why = append(why, fmt.Sprintf("%d forms: %s", open[k], k))
	}
	return proof{notProvable, fmt.Sprintf("%s; %d forms, %d of them by solver", strings.Join(why, "; "), n, bySolver)}, nil
}

// form is one form of an image.
type form struct{ name, text string }

// forms returns what reads a file of forms one by one.
func forms(path string) (next func() (form, bool), done func() error, err error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, nil, err
	}
	r := bufio.NewReaderSize(f, 1<<20)
	head, _ := r.ReadString('\n')
	return func() (form, bool) {
		if head == "" {
			return form{}, false
		}
		x := form{name: strings.TrimSpace(strings.TrimPrefix(head, image.Head))}
		var text strings.Builder
		for {
			if head, _ = r.ReadString('\n'); head == "" || strings.HasPrefix(head, image.Head) {
				x.text = text.String()
				return x, true
			}
			text.WriteString(head)
		}
	}, f.Close, nil
}

var (
	ownName   = regexp.MustCompile(`\?(?:\d+|table\d+|side|fresh\d+)\b`)
	defined   = regexp.MustCompile(`^\(define-fun (\?\w+) `)
	value     = regexp.MustCompile(`^\(define-fun (\?\d+) \(\) (Bool|\(_ BitVec \d+\)) `)
	freshName = regexp.MustCompile(`^\(declare-const \?fresh`)
	result    = regexp.MustCompile(`^\((?:declare-const|define-fun) (\|out\.\d+\|) (?:\(\) )?(\(_ BitVec \d+\))`)
)

// equal asks for operands on which the texts of a form, without and with a fault, have different results; unsat: there are
// none. What it says of the others is why, or for which operands.
func (p *prover) equal(x, y string) (smtlib.Status, string) {
	commandsX, commentsX := split(x)
	commandsY, commentsY := split(y)
	outs, sortsX := results(commandsX)
	_, sortsY := results(commandsY)
	switch {
	case len(outs) == 0:
		return smtlib.Unknown, "nothing in it is for a solver"
	case commentsX != commentsY:
		return smtlib.Unknown, "other events"
	case sortsX != sortsY:
		return smtlib.Sat, "results of other widths"
	}
	differ := "(assert (or false"
	for _, o := range outs {
		differ += fmt.Sprintf(" (distinct %s %s)", o, strings.Replace(o, "out", "mut", 1))
	}
	mutant, names := beside(commandsX, commandsY, false)
	status, why := p.near(slices.Concat(commandsX, mutant, []string{differ + "))"}), names)
	if status != smtlib.Unsat || !strings.Contains(y, "(assert ?side)") {
		return status, why
	}
	// Where the conditions of fresh bits cannot be met, nothing differs. They can be wherever they could without the fault if those bits meet them.
	for _, c := range commandsY {
		if freshName.MatchString(c) && !slices.Contains(commandsX, c) {
			return smtlib.Unknown, "other fresh bits"
		}
	}
	mutant, names = beside(commandsX, commandsY, true)
	side := "(assert " + names["?side"] + ")"
	narrower := slices.DeleteFunc(mutant, func(c string) bool { return c == side })
	if status, why = p.near(slices.Concat(commandsX, narrower, []string{"(assert (not " + names["?side"] + "))"}), names); status == smtlib.Sat {
		return smtlib.Unknown, "more is demanded of fresh bits"
	}
	return status, why
}

// beside returns the mutant's commands y so that they can stand beside those of the original, x, and what the mutant's own names have
// become. A definition with the same text as one of the original is the original's; so what both compute need not be proved
// equal. The others get names of their own, the fresh bits only if they are not to be those of the original.
func beside(x, y []string, sameFresh bool) (commands []string, names map[string]string) {
	original := map[string]string{} // the name by all that follows it
	for _, c := range x {
		if m := defined.FindStringSubmatchIndex(c); m != nil {
			if text := c[m[3]:]; original[text] == "" {
				original[text] = c[m[2]:m[3]]
			}
		}
	}
	names = map[string]string{}
	rename := func(name string) string {
		if names[name] == "" {
			names[name] = name
			if !sameFresh || !strings.HasPrefix(name, "?fresh") {
				names[name] = "!" + name[1:]
			}
		}
		return names[name]
	}
	for _, c := range y {
		if m := defined.FindStringSubmatchIndex(c); m != nil {
			text := ownName.ReplaceAllStringFunc(c[m[3]:], rename)
			if name := original[text]; name != "" {
				names[c[m[2]:m[3]]] = name
				continue
			}
		}
		commands = append(commands, strings.ReplaceAll(ownName.ReplaceAllStringFunc(c, rename), "|out.", "|mut."))
	}
	return commands, names
}

// near asks whether commands can be met, at first of fewer of them: where original and mutant differ a little and late, what both
// compute from the same definitions may be anything. names are those of the mutant. Of the shared definitions those within so many steps
// from the others are kept, four times as many after each answer other than no. What cannot be met so cannot be met at all.
func (p *prover) near(commands []string, names map[string]string) (smtlib.Status, string) {
	shared := map[string]bool{}
	for _, name := range names {
		shared[name] = true
	}
	values := map[string]string{} // the commands that define shared values, by name
	var next []string             // those that are so many steps away
	seen := map[string]bool{}
	use := func(c string) {
		for _, name := range ownName.FindAllString(c, -1) {
			if values[name] != "" && !seen[name] {
				seen[name] = true
				next = append(next, name)
			}
		}
	}
	for _, c := range commands {
		if m := value.FindStringSubmatch(c); m != nil && shared[m[1]] {
			values[m[1]] = c
		}
	}
	for _, c := range commands {
		if m := value.FindStringSubmatch(c); m == nil || values[m[1]] == "" {
			use(c)
		}
	}
	kept := map[string]bool{}
	for steps, limit := 0, 1; ; limit *= 4 {
		for ; steps < limit; steps++ {
			border := next
			next = nil
			for _, name := range border {
				kept[name] = true
				use(strings.SplitN(values[name], " ", 3)[2])
			}
		}
		if len(next) == 0 {
			return p.ask(commands, patienceOfSolver/5, patienceOfSolver)
		}
		var fewer []string
		for _, c := range commands {
			switch m := value.FindStringSubmatch(c); {
			case m == nil || values[m[1]] == "" || kept[m[1]]:
				fewer = append(fewer, c)
			case seen[m[1]]:
				fewer = append(fewer, "(declare-const "+m[1]+" "+m[2]+")")
			}
		}
		if status, _ := p.ask(fewer, patienceOfSolver/5); status == smtlib.Unsat {
			return status, ""
		}
	}
}

// split returns the commands of a text that declare, define and assert, one each, and its comments.
func split(text string) (commands []string, comments string) {
	var cmd strings.Builder
	depth := 0
	for line := range strings.Lines(text) {
		switch {
		case strings.HasPrefix(line, ";"):
			comments += line
			continue
		case depth == 0 && (strings.HasPrefix(line, "(set-") || strings.HasPrefix(line, "(check-sat")):
			continue
		}
		cmd.WriteString(line)
		depth += strings.Count(line, "(") - strings.Count(line, ")")
		if depth == 0 {
			commands = append(commands, strings.TrimSpace(cmd.String()))
			cmd.Reset()
		}
	}
	return commands, comments
}

// results returns the names of the results and, as one text, their sorts.
func results(commands []string) (names []string, sorts string) {
	for _, c := range commands {
		if m := result.FindStringSubmatch(c); m != nil {
			names = append(names, m[1])
			sorts += m[1] + m[2]
		}
	}
	return names, sorts
}

// ask asks the solvers in turn whether commands can be met, each with the first patience, then with the next; a command that is
// there twice is one.
func (p *prover) ask(commands []string, patience ...time.Duration) (smtlib.Status, string) {
	var script strings.Builder
	script.WriteString("(set-option :produce-models true)\n(set-logic ALL)\n")
	seen := map[string]bool{}
	for _, c := range commands {
		if !seen[c] {
			seen[c] = true
			script.WriteString(c + "\n")
		}
	}
	script.WriteString("(check-sat)\n")
	why := "no solver is installed"
	for _, d := range patience {
		for i, solver := range p.solvers {
			answer, err := smtlib.Solve(context.Background(), solver, script.String(), d)
			switch {
			case err != nil:
				why = err.Error()
			case answer.Status == smtlib.Unsat: // it is asked first from now on: forms that a fault changes are alike
				p.solvers[0], p.solvers[i] = solver, p.solvers[0]
				return smtlib.Unsat, ""
			case answer.Status == smtlib.Sat && strings.Contains(script.String(), "_ftz"):
				why = "floats that flush denormals, of which a solver knows nothing"
			case answer.Status == smtlib.Sat:
				return smtlib.Sat, describe(answer.Model)
			default:
				why = fmt.Sprintf("no answer in %v", d)
			}
		}
	}
	return smtlib.Unknown, why
}

// describe prints a model: the inputs, and the results that differ.
func describe(model map[string]uint64) string {
	var in, out []string
	for _, name := range slices.Sorted(maps.Keys(model)) {
		i, isResult := strings.CutPrefix(name, "out.")
		switch mutant := model["mut."+i]; {
		case isResult && model[name] != mutant:
			out = append(out, fmt.Sprintf("result %s is %#x, not %#x", i, mutant, model[name]))
		case !isResult && !strings.HasPrefix(name, "mut.") && !strings.HasPrefix(name, "?") && !strings.HasPrefix(name, "!"):
			in = append(in, fmt.Sprintf("%s=%#x", name, model[name]))
		}
	}
	return strings.Join(append(in, out...), " ")
}
