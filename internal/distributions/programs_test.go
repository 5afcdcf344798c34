package distributions

import (
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"symchef/internal/seed"
)

// A random test has an integer n from -8 to 20, a boolean b and a text s of at most three characters, and does the same in every language:
// arithmetic, comparisons, loops, texts as keys of a table, errors. It is written down by a printer for each language.
//
//	program    a function that ends with the value of its variables
//	statement  assign, put, branch, repeat, end or fail
//	number     a constant, n, a variable, length of s, what a key has, or an operation
//	condition  of numbers, texts and b
//
// What languages differ in does not appear: remainders have positive divisors, texts are ordered by nothing, numbers stay small.
type program struct{ body []statement }

type statement struct {
	kind       string // of those above
	name       string // the variable that is assigned, or the text that ends or fails
	key        text
	value      number
	when       condition
	then, rest []statement
	times      int
}

type number struct {
	kind  string // constant, variable, length, get, or + - * %
	value int
	name  string
	key   text
	left  *number
	right *number
}

// text is s, or a constant where it is not empty.
type text string

type condition struct {
	kind  string // < <= ==, b, same, begins, holds, and, or, not
	left  *number
	right *number
	text  text
	a, b  *condition
}

var variables = []string{"x", "y", "z"}

var texts = []text{"a", "ab", "a-b", "-", "b"}

// random makes a program: the same one for the same state of r.
func random(r *rand.Rand) program { return program{statements(r, 3, 2+r.IntN(4))} }

func statements(r *rand.Rand, depth, count int) []statement {
	var body []statement
	for range count {
		body = append(body, randomStatement(r, depth))
	}
	return body
}

func randomStatement(r *rand.Rand, depth int) statement {
	name := variables[r.IntN(len(variables))]
	switch k := r.IntN(10); {
	case depth == 0 || k < 2:
		return statement{kind: "assign", name: name, value: randomNumber(r, 2)}
	case k < 4:
		return statement{kind: "put", key: randomText(r), value: randomNumber(r, 1)}
	case k < 7:
		s := statement{kind: "branch", when: randomCondition(r, 2), then: statements(r, depth-1, 1+r.IntN(2))}
		if r.IntN(2) == 0 {
			s.rest = statements(r, depth-1, 1)
		}
		return s
	case k < 8:
		return statement{kind: "repeat", times: 2 + r.IntN(2), then: statements(r, depth-1, 1)}
	case k < 9:
		return statement{kind: "branch", when: randomCondition(r, 1), then: []statement{{kind: "end", name: fmt.Sprintf("end %d", r.IntN(5))}}}
	default:
		return statement{kind: "branch", when: randomCondition(r, 1), then: []statement{{kind: "fail", name: fmt.Sprintf("error %d", r.IntN(5))}}}
	}
}

func randomText(r *rand.Rand) text {
	if r.IntN(2) == 0 {
		return ""
	}
	return texts[r.IntN(len(texts))]
}

func randomNumber(r *rand.Rand, depth int) number {
	if k := r.IntN(9); depth > 0 && k < 5 {
		left, right := randomNumber(r, depth-1), randomNumber(r, depth-1)
		kind := string("++-*%"[k])
		if kind == "*" || kind == "%" {
			right = number{kind: "constant", value: 2 + r.IntN(4)}
		}
		return number{kind: kind, left: &left, right: &right}
	}
	switch r.IntN(6) {
	case 0:
		return number{kind: "constant", value: r.IntN(12) - 3}
	case 1, 2:
		return number{kind: "variable", name: "n"}
	case 3:
		return number{kind: "variable", name: variables[r.IntN(len(variables))]}
	case 4:
		return number{kind: "length"}
	default:
		return number{kind: "get", key: randomText(r)}
	}
}

func randomCondition(r *rand.Rand, depth int) condition {
	if k := r.IntN(8); depth > 0 && k < 3 {
		a, b := randomCondition(r, depth-1), randomCondition(r, depth-1)
		return condition{kind: []string{"and", "or", "not"}[k], a: &a, b: &b}
	}
	switch k := r.IntN(8); {
	case k < 4:
		left, right := randomNumber(r, 1), number{kind: "constant", value: r.IntN(16) - 4}
		return condition{kind: []string{"<", "<=", "=="}[r.IntN(3)], left: &left, right: &right}
	case k == 4:
		return condition{kind: "b"}
	default:
		return condition{kind: []string{"same", "begins", "holds"}[k-5], text: texts[r.IntN(len(texts))]}
	}
}

// printer is how a language writes a program down. Words with %s and %d take what stands in them, in the order of the fields above.
type printer struct {
	suffix                     string
	head, foot                 string // around the body, at indentation 1
	assign, put, end, fail     string
	branch, rest, repeat, done string // done closes branch and repeat, rest stands between
	length, get, key, mod      string
	b, same, begins, holds     string // of a constant text; begins has its length first
	and, or, not               string
}

var printers = map[string]*printer{
	"python": {
		suffix: ".py",
		head:   "import symchef\n\n\ndef test_random(n: symchef.Int(-8, 20), b: symchef.Bool(), s: symchef.Str(3, 0)):\n    x, y, z, t = 0, 0, 0, {}\n",
		foot:   "    return x < 3, y == z, len(t)\n",
		assign: "%s = %s", put: "t[%s] = %s", end: "return %q", fail: "raise ValueError(%q)",
		branch: "if %s:", rest: "else:", repeat: "for _ in range(%d):",
		length: "len(s)", get: "t.get(%s, 1)", key: "%q", mod: "(%s %% %s)",
		b: "b", same: "s == %q", begins: "s[:%d] == %q", holds: "%q in s",
		and: "(%s and %s)", or: "(%s or %s)", not: "(not %s)",
	},
	"lua": {
		suffix: ".lua",
		head: "local symchef = require \"symchef\"\n\nreturn function()\n" +
			"    local n, b, s = symchef.integer(\"n\", -8, 20), symchef.boolean(\"b\"), symchef.string(\"s\", 3, 0)\n    local x, y, z, t = 0, 0, 0, {}\n",
		foot:   "    return x < 3, y == z\nend\n",
		assign: "%s = %s", put: "t[%s] = %s", end: "do return %q end", fail: "error(%q, 0)",
		branch: "if %s then", rest: "else", repeat: "for _ = 1, %d do", done: "end",
		length: "#s", get: "(t[%s] or 1)", key: "%q", mod: "(%s %% %s)",
		b: "b", same: "s == %q", begins: "s:sub(1, %d) == %q", holds: "s:find(%q, 1, true) ~= nil",
		and: "(%s and %s)", or: "(%s or %s)", not: "(not (%s))",
	},
	"r": {
		suffix: ".R",
		head: "test_random <- function() {\n    n <- symchef$integer(\"n\", -8L, 20L)\n    b <- symchef$logical(\"b\")\n    s <- symchef$string(\"s\", 3L, 0L)\n" +
			"    x <- y <- z <- 0L\n    t <- list()\n    get <- function(k) if (is.null(t[[k]])) 1L else t[[k]]\n",
		foot:   "    c(x < 3L, y == z)\n}\n",
		assign: "%s <- %s", put: "t[[%s]] <- %s", end: "return(%q)", fail: "stop(%q)",
		branch: "if (%s) {", rest: "} else {", repeat: "for (i in 1:%d) {", done: "}",
		length: "nchar(s)", get: "get(%s)", key: "%q", mod: "(%s %%%% %s)",
		b: "b", same: "s == %q", begins: "substr(s, 1L, %dL) == %q", holds: "grepl(%q, s, fixed = TRUE)",
		and: "(%s && %s)", or: "(%s || %s)", not: "(!(%s))",
	},
}

// print is the source of a program.
func (p *printer) print(g program) string {
	var b strings.Builder
	b.WriteString(p.head)
	p.statements(&b, g.body, "    ")
	b.WriteString(p.foot)
	return b.String()
}

func (p *printer) statements(b *strings.Builder, body []statement, indent string) {
	line := func(format string, args ...any) { fmt.Fprintf(b, indent+format+"\n", args...) }
	for _, s := range body {
		switch s.kind {
		case "assign":
			line(p.assign, s.name, p.number(s.value))
		case "put":
			line(p.put, p.text(s.key), p.number(s.value))
		case "end":
			line(p.end, s.name)
		case "fail":
			line(p.fail, s.name)
		case "branch", "repeat":
			if s.kind == "branch" {
				line(p.branch, p.condition(s.when))
			} else {
				line(p.repeat, s.times)
			}
			p.statements(b, s.then, indent+"    ")
			if s.rest != nil {
				line(p.rest)
				p.statements(b, s.rest, indent+"    ")
			}
			if p.done != "" {
				line(p.done)
			}
		}
	}
}

func (p *printer) text(t text) string {
	if t == "" {
		return "s"
	}
	return fmt.Sprintf(p.key, string(t))
}

func (p *printer) number(n number) string {
	switch n.kind {
	case "constant":
		return fmt.Sprintf("(%d)", n.value)
	case "variable":
		return n.name
	case "length":
		return p.length
	case "get":
		return fmt.Sprintf(p.get, p.text(n.key))
	case "%":
		return fmt.Sprintf(p.mod, p.number(*n.left), p.number(*n.right))
	}
	return fmt.Sprintf("(%s %s %s)", p.number(*n.left), n.kind, p.number(*n.right))
}

func (p *printer) condition(c condition) string {
	switch c.kind {
	case "b":
		return p.b
	case "same":
		return fmt.Sprintf(p.same, string(c.text))
	case "begins":
		return fmt.Sprintf(p.begins, len(c.text), string(c.text))
	case "holds":
		return fmt.Sprintf(p.holds, string(c.text))
	case "and":
		return fmt.Sprintf(p.and, p.condition(*c.a), p.condition(*c.b))
	case "or":
		return fmt.Sprintf(p.or, p.condition(*c.a), p.condition(*c.b))
	case "not":
		return fmt.Sprintf(p.not, p.condition(*c.a))
	}
	return fmt.Sprintf("(%s %s %s)", p.number(*c.left), c.kind, p.number(*c.right))
}

// randomPrograms are the random tests of a seed.
func randomPrograms(start uint64) []program {
	r := rand.New(rand.NewPCG(start, 0))
	var l []program
	for range *programs {
		l = append(l, random(r))
	}
	return l
}

// TestPrograms: a random test is one that its language takes, and the same for the same seed.
func TestPrograms(t *testing.T) {
	start := seed.Of(t)
	for name, command := range map[string]string{
		"python": "python3 -c 'import sys\nfor f in sys.argv[1:]: compile(open(f).read(), f, \"exec\")' \"$@\"",
		"lua":    "for f; do lua5.4 -e \"assert(loadfile('$f'))\" || exit 1; done",
		"r":      "Rscript -e 'for (f in commandArgs(TRUE)) parse(f)' \"$@\"",
	} {
		dir, p := t.TempDir(), printers[name]
		args := []string{"-c", command, "sh"}
		again := randomPrograms(start)
		for i, g := range randomPrograms(start) {
			text := p.print(g)
			if text != p.print(again[i]) {
				t.Fatal("another program for the same seed")
			}
			file := filepath.Join(dir, fmt.Sprintf("%02d%s", i, p.suffix))
			if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
				t.Fatal(err)
			}
			args = append(args, file)
		}
		if tool := map[string]string{"python": "python3", "lua": "lua5.4", "r": "Rscript"}[name]; !installed(tool) {
			t.Logf("skipped: %s is not installed", tool)
			continue
		}
		if out, err := exec.Command("sh", args...).CombinedOutput(); err != nil {
			t.Errorf("%s: %v\n%s", name, err, out)
		}
	}
}

func installed(tool string) bool {
	_, err := exec.LookPath(tool)
	return err == nil
}
