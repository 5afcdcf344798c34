package high

import (
	"slices"
	"strings"
	"unicode"
)

// longestText bounds the text of a line, in characters.
const longestText = 80

// Syntax is what lines of source look like in a language, as far as a tree tells of them. The zero value is that of a language of which nothing is known.
type Syntax struct {
	Comments   []string // what begins a comment
	Conditions []string // words that begin a statement with a condition, as "else if"
	Bodies     []string // what the line of a condition ends with whose body begins on the next one
	Assertions []string // words that begin a statement which raises where its condition does not hold
	Joints     []string // what joins conditions, one of which may decide
}

// ReadSources sets the texts of d's locations, and what syntax tells of them; lines gives those of a file, or nothing.
func (d *Doc) ReadSources(syntax Syntax, lines func(file string) []string) {
	files := map[string][]string{}
	for i := range d.Nodes {
		for _, l := range []*Location{&d.Nodes[i].First, &d.Nodes[i].Last} {
			text, read := files[l.File]
			if !read && l.File != "" {
				text = lines(l.File)
				files[l.File] = text
			}
			if l.Line < 1 || l.Line > len(text) {
				continue
			}
			line := strings.TrimSpace(text[l.Line-1]) // l.Text may be cut
			l.Text = shown(line)
			if syntax.isCondition(line) {
				l.Body = syntax.nextCode(text, l.Line)
			}
			if l.Stays = syntax.staysIf(line); l.Stays != "" || l.Body != 0 {
				l.Joined = syntax.isJoined(line)
			}
		}
	}
}

// shown is a line of source in one line of output.
func shown(line string) string {
	line = strings.Map(func(r rune) rune {
		switch {
		case r == '\t':
			return ' '
		case unicode.IsPrint(r):
			return r
		}
		return '?'
	}, strings.TrimSpace(line))
	if r := []rune(line); len(r) > longestText {
		line = string(r[:longestText-3]) + "..."
	}
	return line
}

// begins reports whether a line begins with one of words. The end of a block before it does not count.
func begins(line string, words []string) bool {
	line = strings.TrimLeft(line, "} ")
	return slices.ContainsFunc(words, func(w string) bool {
		rest, ok := strings.CutPrefix(line, w)
		return ok && !strings.ContainsFunc(rest[:min(1, len(rest))], unicode.IsLetter)
	})
}

// isCondition reports whether a line is the whole condition of a statement whose body begins on the next one.
func (x *Syntax) isCondition(line string) bool {
	for _, c := range x.Comments {
		line, _, _ = strings.Cut(line, "  "+c)
	}
	line = strings.TrimSpace(line)
	return begins(line, x.Conditions) && slices.ContainsFunc(x.Bodies, func(b string) bool { return strings.HasSuffix(line, b) })
}

// staysIf tells of a statement with a condition, all on one line, what a path that goes on there says of the condition: "true" where the body is on that line,
// too, "false" of an assertion, which raises there; empty: it is no such statement. What is left of a condition with joints is on the line, too.
func (x *Syntax) staysIf(line string) string {
	switch {
	case x.isOpen(line):
		return ""
	case begins(line, x.Conditions) && !x.isCondition(line):
		return "true"
	case begins(line, x.Assertions):
		return "false"
	}
	return ""
}

// isOpen reports whether the statement on a line goes on on the next one: in parentheses, behind what joins conditions or a backslash, or because all
// that stands there is a condition in parentheses.
func (x *Syntax) isOpen(line string) bool {
	for _, c := range x.Comments {
		line, _, _ = strings.Cut(line, "  "+c)
	}
	line = strings.TrimSpace(line)
	depth, closed := 0, -1 // closed: where the first parenthesis is closed
	for i := range len(line) {
		switch {
		case strings.IndexByte("([{", line[i]) >= 0:
			depth++
		case strings.IndexByte(")]}", line[i]) >= 0:
			depth = max(0, depth-1)
			if depth == 0 && closed < 0 && line[i] == ')' {
				closed = i
			}
		}
	}
	head, _, _ := strings.Cut(line, "(")
	return depth > 0 || strings.HasSuffix(line, "\\") || begins(line, x.Conditions) && closed == len(line)-1 && slices.Contains(x.Conditions, strings.TrimLeft(strings.TrimSpace(head), "} ")) ||
		slices.ContainsFunc(x.Joints, func(j string) bool { return strings.HasSuffix(" "+line+" ", " "+strings.TrimSpace(j)+" ") })
}

// isJoined reports whether the condition on a line has parts, one of which may decide.
func (x *Syntax) isJoined(line string) bool {
	return slices.ContainsFunc(x.Joints, func(j string) bool { return strings.Contains(line, j) })
}

// nextCode is the number of the first line after n that has code.
func (x *Syntax) nextCode(lines []string, n int) int {
	for i, l := range lines[n:] {
		l = strings.TrimSpace(l)
		if l != "" && !slices.ContainsFunc(x.Comments, func(c string) bool { return strings.HasPrefix(l, c) }) {
			return n + 1 + i
		}
	}
	return 0
}
