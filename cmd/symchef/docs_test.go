package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// Documents are tested: every block of commands runs, from top to bottom, in a folder that has the examples and symchef, and prints what
// the document says; every command within a sentence exists, with its flags, targets and tests.
//
//	```sh        commands; each ends with status 0, symchef run, check and diff also with 1
//	```console   "$ " and a command, then what it prints; ... is any text, a line or part of one

// notRun are commands that tests do not run, by their beginning, and why.
var notRun = map[string]string{
	"make":            "the test has built the binary already",
	"docker":          "TestImage builds the image and runs it",
	"apt-get install": "what a document needs is installed before, or the document is skipped",
}

// needs is what a document's commands need beside the stock interpreter; without it the document is skipped.
var needs = map[string][]string{
	"README.md":                 {"/usr/bin/lua5.4", "/usr/bin/gcc", "/usr/bin/R"},
	"docs/check.md":             {"/usr/lib/python3/dist-packages/toml"},
	"docs/tutorial.md":          {"/usr/lib/python3/dist-packages/toml", "/usr/lib/python3/dist-packages/pytest"},
	"docs/your-own-language.md": {"/usr/bin/gcc", "/usr/bin/mruby"},
}

// block is a block of a document.
type block struct {
	kind string // its first word after the fence
	line int
	text []string
}

// documents are the paths of all documents.
func documents(t *testing.T) []string {
	t.Helper()
	var list []string
	for _, glob := range []string{"../../docs/*.md", "../../docs/rationale/*.md", "../../*.md"} {
		found, err := filepath.Glob(glob)
		if err != nil || len(found) < 4 {
			t.Fatalf("%s: %d documents, %v", glob, len(found), err)
		}
		list = append(list, found...)
	}
	return list
}

// blocksOf are the fenced blocks of a document.
func blocksOf(t *testing.T, path string) (out []block) {
	t.Helper()
	text, err := readFile(path)
	if err != nil {
		t.Fatal(err)
	}
	open := false
	for i, line := range strings.Split(text, "\n") {
		if kind, fence := strings.CutPrefix(line, "```"); fence {
			if open = !open; open {
				out = append(out, block{kind: kind, line: i + 2})
			}
		} else if open {
			b := &out[len(out)-1]
			b.text = append(b.text, line)
		}
	}
	return out
}

// commands is a script that does what b says, and what each part of it is to print; nil: nothing is said.
func (b block) commands() (parts []string, want [][]string) {
	if b.kind == "sh" {
		return []string{strings.Join(b.text, "\n")}, [][]string{nil}
	}
	for _, line := range b.text {
		if c, ok := strings.CutPrefix(line, "$ "); ok {
			parts, want = append(parts, c), append(want, []string{})
		} else if n := len(want); n > 0 {
			want[n-1] = append(want[n-1], line)
		}
	}
	return parts, want
}

func TestDocumentsRun(t *testing.T) {
	for _, path := range documents(t) {
		name, _ := filepath.Rel("../..", path)
		var blocks []block
		for _, b := range blocksOf(t, path) {
			if b.kind == "sh" || b.kind == "console" {
				blocks = append(blocks, b)
			}
		}
		if len(blocks) == 0 {
			continue
		}
		t.Run(name, func(t *testing.T) {
			b := pythonBox(t)
			for _, file := range needs[name] {
				if _, err := os.Stat(file); err != nil {
					t.Skipf("skipped: %s is not installed", file)
				}
			}
			b.checkout()
			for _, x := range blocks {
				parts, want := x.commands()
				for i, part := range parts {
					if !b.does(part, want[i]) {
						t.Fatalf("that was %s, from line %d", name, x.line)
					}
				}
			}
		})
	}
}

// checkout makes the box look like a checkout in which make has run.
func (b *box) checkout() {
	b.t.Helper()
	if err := os.CopyFS(b.path("examples"), os.DirFS("../../examples")); err != nil {
		b.t.Fatal(err)
	}
	// As a shell runs it with set -e; findings are no error.
	b.write("symchef", fmt.Sprintf("#!/bin/sh\n%s \"$@\"\ns=$?\ntest $s = 1 && case \"$1\" in run|check|diff) exit 0; esac\nexit $s\n", binary))
}

// does runs one command, or several lines of them, and compares what it prints with want if that is not nil.
func (b *box) does(script string, want []string) bool {
	b.t.Helper()
	var run []string
	for _, line := range strings.Split(script, "\n") {
		for begin := range notRun {
			line = regexp.MustCompile(`(^|&& |\|\| )`+begin+`\b[^&|]*`).ReplaceAllString(line, "${1}true ")
		}
		run = append(run, line)
	}
	cmd := exec.Command("bash", "-e", "-o", "pipefail", "-c", strings.Join(run, "\n"))
	cmd.Dir, cmd.Env = b.dir, append(b.env, "PATH="+b.dir+":/usr/bin:/bin:/usr/sbin:/sbin", "PYTHONDONTWRITEBYTECODE=1")
	out, err := cmd.CombinedOutput()
	if err != nil {
		b.t.Errorf("%v:\n%s\n%s", err, script, out)
		return false
	}
	if want != nil && !matches(string(out), want) {
		b.t.Errorf("%s\nprints\n%s\nand not\n%s", script, out, strings.Join(want, "\n"))
		return false
	}
	return true
}

// matches compares what was printed with lines in which ... is any text.
func matches(out string, lines []string) bool {
	var p strings.Builder
	for _, line := range lines {
		if line == "..." {
			p.WriteString(`(?:.*\n)*?`)
			continue
		}
		for i, part := range strings.Split(line, "...") {
			if i > 0 {
				p.WriteString(`.*`)
			}
			p.WriteString(regexp.QuoteMeta(strings.TrimRight(part, " ")))
			if strings.HasSuffix(part, " ") {
				p.WriteString(` *`)
			}
		}
		p.WriteString(`\n`)
	}
	return regexp.MustCompile(`^` + p.String() + `$`).MatchString(out)
}

func TestMatches(t *testing.T) {
	for _, c := range []struct {
		out, lines string
		want       bool
	}{
		{"a\nb\n", "a\nb", true}, {"a\nx\ny\nb\n", "a\n...\nb", true}, {"a\nb\n", "a\n...\nb", true}, {"a\nb\n", "a", false}, {"a 12 b\n", "a ... b", true},
		{"a\nb\n", "b\na", false}, {"", "", false}, {"b\n", "...\nb\n...", true}, {"a.c\n", "abc", false}, {"abc\n", "a.c", false},
	} {
		if got := matches(c.out, strings.Split(c.lines, "\n")); got != c.want {
			t.Errorf("%q, %q: %v", c.out, c.lines, got)
		}
	}
}

var spans = regexp.MustCompile("`([^`\n]+)`")

// Commands within sentences: symchef's subcommands and flags, make's targets, and tests that `go test` names exist.
func TestDocumentsCommands(t *testing.T) {
	makefile, err := readFile("../../Makefile")
	if err != nil {
		t.Fatal(err)
	}
	help := map[string]string{}
	seen := 0
	for _, path := range documents(t) {
		text, err := readFile(path)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range spans.FindAllStringSubmatch(text, -1) {
			m[1] = strings.ReplaceAll(m[1], `\|`, "|") // as tables have it
			words := strings.Fields(m[1])
			for len(words) > 0 && strings.Contains(words[0], "=") { // variables of the environment
				words = words[1:]
			}
			switch {
			case len(words) > 1 && (words[0] == "symchef" || words[0] == "./symchef"):
				seen++
				sub := words[1]
				if strings.HasPrefix(sub, "-") {
					continue
				}
				if _, known := help[sub]; !known {
					out, err := exec.Command(binary, sub, "--help").CombinedOutput()
					if help[sub] = string(out); err != nil || !strings.Contains(help[sub], "symchef "+sub) {
						t.Errorf("%s: `%s`: there is no such command", path, m[1])
					}
				}
				for _, w := range words[2:] {
					if w == "--" || sub == "exec" {
						break
					}
					if flag, _, _ := strings.Cut(w, "="); strings.HasPrefix(flag, "-") && !regexp.MustCompile(`(^|\s)`+regexp.QuoteMeta(flag)+`\b`).MatchString(help[sub]) {
						t.Errorf("%s: `%s`: there is no flag %s", path, m[1], flag)
					}
				}
			case len(words) == 2 && words[0] == "make" && regexp.MustCompile(`^[a-z-]+$`).MatchString(words[1]):
				seen++
				if !strings.Contains(makefile, "\n"+words[1]+":") {
					t.Errorf("%s: `%s`: there is no such target", path, m[1])
				}
			case len(words) > 2 && words[0] == "go" && words[1] == "test":
				seen++
				testsOf(t, path, m[1])
			}
		}
	}
	if seen < 30 {
		t.Errorf("only %d commands were found", seen)
	}
}

// testsOf checks that a command `go test -run REGEXP FOLDER...` names tests that there are.
func testsOf(t *testing.T, path, command string) {
	t.Helper()
	m := regexp.MustCompile(`-(run|bench) (?:'([^']*)'|(\S+))`).FindAllStringSubmatch(command, -1)
	if m == nil {
		return
	}
	what := m[len(m)-1] // -bench comes after -run '^$'
	top, _, _ := strings.Cut(what[2]+what[3], "/")
	want, err := regexp.Compile(top)
	if err != nil {
		t.Errorf("%s: `%s`: %v", path, command, err)
		return
	}
	prefix := map[string]string{"run": "Test", "bench": "Benchmark"}[what[1]]
	named := regexp.MustCompile(`(?m)^func ((?:` + prefix + `|Fuzz)\w+)\(`)
	for _, dir := range regexp.MustCompile(`(?:\./\S*|\s\.)(?:\s|$)`).FindAllString(command+" ", -1) {
		dir = strings.TrimSpace(dir)
		files, _ := filepath.Glob(filepath.Join("../..", dir, "*_test.go"))
		if strings.HasSuffix(dir, "...") {
			files, _ = filepath.Glob(filepath.Join("../..", strings.TrimSuffix(dir, "..."), "*_test.go"))
		}
		found := false
		for _, f := range files {
			text, _ := readFile(f)
			for _, n := range named.FindAllStringSubmatch(text, -1) {
				found = found || want.MatchString(strings.TrimPrefix(n[1], prefix)) || want.MatchString(n[1])
			}
		}
		if !found && !strings.HasSuffix(dir, "...") {
			t.Errorf("%s: `%s`: no test in %s is called so", path, command, dir)
		}
	}
}

// Every figure of README's table against others stands in the document that its row names.
func TestReadmeFigures(t *testing.T) {
	text, err := readFile("../../README.md")
	if err != nil {
		t.Fatal(err)
	}
	_, table, _ := strings.Cut(text, "## Against others")
	table, _, _ = strings.Cut(table, "\n## ")
	figures := 0
	for _, row := range strings.Split(table, "\n") {
		link := regexp.MustCompile(`\]\(([^)]+)\) \|$`).FindStringSubmatch(row)
		if link == nil {
			continue
		}
		source, err := readFile("../../" + link[1])
		if err != nil {
			t.Errorf("%s: %v", row, err)
		}
		for _, n := range regexp.MustCompile(`\b[0-9]+(\.[0-9]+)?\b`).FindAllString(row[:len(row)-len(link[0])], -1) {
			figures++
			if !regexp.MustCompile(`\b` + regexp.QuoteMeta(n) + `x?\b`).MatchString(source) {
				t.Errorf("%s: %s has no %s", row, link[1], n)
			}
		}
	}
	if figures < 8 {
		t.Errorf("only %d figures were found", figures)
	}
}
