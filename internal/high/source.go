package high

import (
	"strings"
	"unicode"
)

// longestText bounds the text of a line, in characters.
const longestText = 80

// ReadSources sets the texts of d's locations; lines gives those of a file, or nothing.
func (d *Doc) ReadSources(lines func(file string) []string) {
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
			l.Text = shown(text[l.Line-1])
			if isCondition(l.Text) {
				l.Body = nextCode(text, l.Line)
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

// isCondition reports whether a line is the whole condition of a statement whose body begins on the next one, in Python, Lua or R.
func isCondition(line string) bool {
	line, _, _ = strings.Cut(line, "  #")
	line = strings.TrimSpace(line)
	word := strings.FieldsFunc(line, func(r rune) bool { return !unicode.IsLetter(r) })
	if len(word) == 0 || !strings.HasPrefix(strings.TrimLeft(line, "} "), word[0]) {
		return false
	}
	if word[0] == "else" && len(word) > 1 && word[1] == "if" { // R's and C's
		word = word[1:]
	}
	switch word[0] {
	case "if", "elif", "elseif", "while":
		return strings.HasSuffix(line, ":") || strings.HasSuffix(line, " then") || strings.HasSuffix(line, " do") || strings.HasSuffix(line, "{")
	}
	return false
}

// staysIf tells of a statement with a condition, all on one line, whether a path that goes on there says that the condition holds: it does for `if`
// with its body, and not for `assert`, which raises there. What is left of a condition with `and` or `or` is on the line, too.
func staysIf(line string) (holds, ok bool) {
	word := strings.FieldsFunc(strings.TrimLeft(line, "} "), func(r rune) bool { return !unicode.IsLetter(r) })
	if len(word) > 1 && word[0] == "else" && word[1] == "if" {
		word = word[1:]
	}
	if len(word) == 0 || !strings.HasPrefix(strings.TrimLeft(line, "} "), word[0]) && word[0] != "if" {
		return false, false
	}
	switch word[0] {
	case "if", "elif", "elseif", "while":
		return true, !isCondition(line)
	case "assert":
		return false, true
	}
	return false, false
}

// isJoined reports whether the condition on a line has parts, one of which may decide.
func isJoined(line string) bool {
	for _, word := range []string{" and ", " or ", "&&", "||"} {
		if strings.Contains(line, word) {
			return true
		}
	}
	return false
}

// nextCode is the number of the first line after n that has code.
func nextCode(lines []string, n int) int {
	for i, l := range lines[n:] {
		if l = strings.TrimSpace(l); l != "" && !strings.HasPrefix(l, "#") && !strings.HasPrefix(l, "--") {
			return n + 1 + i
		}
	}
	return 0
}
