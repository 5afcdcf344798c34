package main

import (
	"bufio"
	"context"
	"fmt"
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
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	cmd := exec.CommandContext(ctx, "go", "test", "-count=1", "-run=^TestImage$", option, pkg)
	cmd.Dir, cmd.Env, cmd.WaitDelay = p.root, append(os.Environ(), image.File+"="+path), time.Second
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

// reached reports whether the image without a fault came to a place; what stands in no block is done when a program starts.
func (i imaged) reached(file string, line, col int) bool {
	inner, size := covered{count: 1}, 1<<30
	for _, c := range i.covered {
		after := line > c.startLine || line == c.startLine && col >= c.startCol
		before := line < c.endLine || line == c.endLine && col < c.endCol
		if n := c.endLine - c.startLine; c.file == file && after && before && n < size {
			inner, size = c, n
		}
	}
	return inner.count > 0
}

// prove compares what f makes with what the sources make.
func (p *prover) prove(f fault) (proof, error) {
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
	if !whole.reached(rel, f.line, f.col) {
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
	ownName   = regexp.MustCompile(`\?(\d+|table\d+|side|fresh\d+)\b`)
	notFresh  = regexp.MustCompile(`\?(\d+|table\d+|side)\b`)
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
	mutant := func(names *regexp.Regexp) []string {
		var list []string
		for _, c := range commandsY {
			list = append(list, strings.ReplaceAll(names.ReplaceAllString(c, "!$1"), "|out.", "|mut."))
		}
		return list
	}
	differ := "(assert (or false"
	for _, o := range outs {
		differ += fmt.Sprintf(" (distinct %s %s)", o, strings.Replace(o, "out", "mut", 1))
	}
	status, why := p.ask(slices.Concat(commandsX, mutant(ownName), []string{differ + "))"}))
	if status != smtlib.Unsat || !strings.Contains(y, "(assert ?side)") {
		return status, why
	}
	// Where the conditions of fresh bits cannot be met, nothing differs. They can be wherever they could without the fault if those bits meet them.
	for _, c := range commandsY {
		if freshName.MatchString(c) && !slices.Contains(commandsX, c) {
			return smtlib.Unknown, "other fresh bits"
		}
	}
	narrower := slices.DeleteFunc(mutant(notFresh), func(c string) bool { return c == "(assert !side)" })
	if status, why = p.ask(slices.Concat(commandsX, narrower, []string{"(assert (not !side))"})); status == smtlib.Sat {
		return smtlib.Unknown, "more is demanded of fresh bits"
	}
	return status, why
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

// ask asks the solvers in turn whether commands can be met; a command that is there twice is one.
func (p *prover) ask(commands []string) (smtlib.Status, string) {
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
	for _, solver := range p.solvers {
		answer, err := smtlib.Solve(context.Background(), solver, script.String(), patienceOfSolver)
		switch {
		case err != nil:
			why = err.Error()
		case answer.Status == smtlib.Unsat:
			return smtlib.Unsat, ""
		case answer.Status == smtlib.Sat && strings.Contains(script.String(), "_ftz"):
			why = "floats that flush denormals, of which a solver knows nothing"
		case answer.Status == smtlib.Sat:
			return smtlib.Sat, describe(answer.Model)
		default:
			why = fmt.Sprintf("no answer in %v", patienceOfSolver)
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
