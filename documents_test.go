package symchef_test

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// documents are the paths of all documents, from here.
func documents(t *testing.T) (list []string) {
	t.Helper()
	for _, glob := range []string{"*.md", "docs/*.md", "docs/rationale/*.md"} {
		found, err := filepath.Glob(glob)
		if err != nil || len(found) < 3 {
			t.Fatalf("%s: %d documents, %v", glob, len(found), err)
		}
		list = append(list, found...)
	}
	return list
}

func read(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

var (
	links    = regexp.MustCompile(`\]\(([^()\s]+)\)`)
	headings = regexp.MustCompile(`(?m)^#+ (.*)$`)
	noAnchor = regexp.MustCompile(`[^\p{L}\p{N} _-]`)
)

// TestDocumentsLinks fails where a document links to a file or a heading that is not there.
func TestDocumentsLinks(t *testing.T) {
	seen := 0
	for _, doc := range documents(t) {
		for _, m := range links.FindAllStringSubmatch(read(t, doc), -1) {
			file, anchor, _ := strings.Cut(m[1], "#")
			if strings.Contains(file, "://") {
				continue
			}
			seen++
			path := doc
			if file != "" {
				path = filepath.Join(filepath.Dir(doc), file)
			}
			if _, err := os.Stat(path); err != nil {
				t.Errorf("%s links to %s: %v", doc, m[1], err)
				continue
			}
			if anchor != "" && !anchors(read(t, path))[anchor] {
				t.Errorf("%s links to %s: there is no such heading", doc, m[1])
			}
		}
	}
	if seen < 60 {
		t.Errorf("only %d links were found", seen)
	}
}

// anchors are the names that the headings of a text have in links.
func anchors(text string) map[string]bool {
	out := map[string]bool{}
	for _, m := range headings.FindAllStringSubmatch(text, -1) {
		out[strings.ReplaceAll(noAnchor.ReplaceAllString(strings.ToLower(m[1]), ""), " ", "-")] = true
	}
	return out
}

// TestDocumentsRationale fails where RATIONALE.md does not list a page of docs/rationale as it is: its room, its subject, how many questions it has.
func TestDocumentsRationale(t *testing.T) {
	index := read(t, "RATIONALE.md")
	pages, err := filepath.Glob("docs/rationale/*.md")
	if err != nil || len(pages) < 15 {
		t.Fatalf("%d pages, %v", len(pages), err)
	}
	if got := strings.Count(index, "](docs/rationale/"); got != len(pages) {
		t.Errorf("RATIONALE.md lists %d pages of %d", got, len(pages))
	}
	for _, page := range pages {
		room := strings.TrimSuffix(filepath.Base(page), ".md")
		if _, err := os.Stat(filepath.Join("internal", room)); err != nil && room != "languages" {
			t.Errorf("%s: there is no room of that name", page)
		}
		text := read(t, page)
		title, _, _ := strings.Cut(text, "\n")
		about, ok := strings.CutPrefix(title, "# "+room+": ")
		if !ok {
			t.Errorf("%s begins with %q", page, title)
		}
		row := fmt.Sprintf("| [%s](%s) | %s | %d |", room, filepath.ToSlash(page), about, strings.Count(text, "\n## Why "))
		if !strings.Contains(index, row) {
			t.Errorf("RATIONALE.md has no row\n%s", row)
		}
	}
}

// place is where a document gives a figure: the groups of an expression.
type place struct{ doc, figure string }

// figures are those that more than one document gives. The first place is the source, which a recorded run has written, or counts are made of.
var figures = map[string][]place{
	"low-level paths of the e-mail test of Lua, without the models of identity and with all": {
		{"docs/models.md", `lua/email\.lua \| [0-9]+ \| ([0-9]+) \| [0-9]+ \| [0-9]+ \| ([0-9]+) \|`},
		{"docs/rationale/model.md", "(?s)email\\.lua`? has\\s+([0-9]+) low-level\\s+paths with the families `fastpath` alone,? and ([0-9]+) with all"},
	},
	"low-level paths of r/lookup.R": {
		{"docs/models.md", `r/lookup\.R: [^|]*\| > ([0-9]+) \|.* ([0-9]+) \|\n`},
		{"docs/rationale/model.md", "(?s)examples/r/lookup\\.R`[^;]*more than ([0-9]+) [^.]*?and ([0-9]+) with"},
	},
	"what tracing costs, on the means of four languages": {
		{"docs/benchmarks.md", `(?s)mean, lua5\.4\*\* \| \| \| ([0-9]+) %.*mean, python3\.11\*\* \| \| \| ([0-9]+) %.*mean, ruby3\.1\*\* \| \| \| ([0-9]+) %.*mean, R\*\* \| \| \| ([0-9]+) %`},
		{"docs/rationale/jit.md", `(?s)Lua\s+([0-9]+) %,\s+Python\s+([0-9]+) %,\s+Ruby\s+([0-9]+) %,\s+R\s+([0-9]+) %`},
	},
	"a pending state of Python by the size of granules": {
		{"docs/benchmarks.md", `(?s)256 B \| ([0-9.]+) \| ([0-9.]+).*?1 KiB \| ([0-9.]+) \| ([0-9.]+).*?4 KiB \| ([0-9.]+) \| ([0-9.]+)`},
		{"docs/rationale/mem.md", `(?s)cost ([0-9.]+) and ([0-9.]+) KiB.*?([0-9.]+) and ([0-9.]+) KiB with 1 KiB, ([0-9.]+) and ([0-9.]+)`},
	},
	"a fork that runs on": {
		{"docs/benchmarks.md", `(?s)256 B \|.*?([0-9]+) µs.*?([0-9]+) µs.*?([0-9]+) µs`},
		{"docs/rationale/mem.md", `takes ([0-9]+), ([0-9]+) and ([0-9]+) µs`},
	},
}

// TestDocumentsFigures fails where a document gives a figure that another one, its source, gives otherwise.
func TestDocumentsFigures(t *testing.T) {
	for what, places := range figures {
		var want []string
		for i, p := range places {
			m := regexp.MustCompile(p.figure).FindStringSubmatch(read(t, p.doc))
			switch {
			case m == nil:
				t.Errorf("%s: %s does not give it", what, p.doc)
			case i == 0:
				want = m[1:]
			case strings.Join(m[1:], " ") != strings.Join(want, " "):
				t.Errorf("%s: %s says %s, %s says %s", what, places[0].doc, strings.Join(want, " "), p.doc, strings.Join(m[1:], " "))
			}
		}
	}
}

// TestDocumentsBombs fails where README counts the logic bombs that are solved otherwise than their table.
func TestDocumentsBombs(t *testing.T) {
	table := read(t, "docs/logic-bombs.md")
	solved := len(regexp.MustCompile(`(?m)\| yes \|$`).FindAllString(table, -1))
	all := solved + len(regexp.MustCompile(`(?m)\| no: [^|]*\|$`).FindAllString(table, -1))
	if want := fmt.Sprintf("%d of %d", solved, all); !strings.Contains(read(t, "README.md"), "| logic bombs solved | "+want+" |") {
		t.Errorf("README does not say that %s are solved", want)
	}
}

// TestDocumentsQueries fails where the rationale counts the targets whose queries take little time otherwise than the table of merging.
func TestDocumentsQueries(t *testing.T) {
	rows := regexp.MustCompile(`(?m)^\| [^|]+ \| [^|]+ \| [^|]+ \| [^|]+ \| [^|]+ \| ([0-9]+) %, [0-9]+ % \|`).FindAllStringSubmatch(read(t, "docs/merging.md"), -1)
	few := 0
	for _, r := range rows {
		if len(r[1]) == 1 || r[1] == "10" {
			few++
		}
	}
	if want := fmt.Sprintf("in %d of %d targets", few, len(rows)); !strings.Contains(strings.Join(strings.Fields(read(t, "docs/rationale/model.md")), " "), want) {
		t.Errorf("docs/rationale/model.md does not say: %s", want)
	}
}
