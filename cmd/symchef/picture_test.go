package main

import (
	"flag"
	"fmt"
	"html"
	"os"
	"regexp"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "write docs/finding.svg")

// pictureRun is what the picture of README shows.
const pictureRun = "symchef run test_toml.py"

// TestPicture compares docs/finding.svg with what the run that it shows prints today.
func TestPicture(t *testing.T) {
	b := pythonBox(t)
	if _, err := os.Stat("/usr/lib/python3/dist-packages/toml"); err != nil {
		t.Skip("skipped: python3-toml is not installed")
	}
	text, err := readFile("../../examples/debian/test_toml.py")
	if err != nil {
		t.Fatal(err)
	}
	b.write("test_toml.py", text)
	got := picture(b.run(strings.Fields(pictureRun)[1:]...).want(1, "! exception IndexError").stdout)
	const file = "../../docs/finding.svg"
	if *update {
		if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if want, err := readFile(file); err != nil || got != want {
		t.Errorf("%v; make picture makes %s anew, it would be\n%s", err, file, got)
	}
}

// names are those of test cases, which depend on the order in which paths were found.
var names = regexp.MustCompile(`\bt[0-9]{6}[;,] `)

// picture draws the findings and classes of a run's text as a terminal shows them; what differs from run to run is not in it.
func picture(text string) string {
	const line, letter, margin = 18, 7.9, 14
	var lines []string
	for _, l := range append([]string{"$ " + pictureRun}, strings.Split(strings.TrimSpace(text), "\n")...) {
		switch {
		case strings.Contains(l, " test cases (") || strings.HasPrefix(l, "covered:") || strings.HasPrefix(l, "next:"):
			continue
		case strings.HasPrefix(l, "  expected") && len(lines) > 0 && strings.HasPrefix(lines[len(lines)-1], "  ..."):
			continue
		case strings.HasPrefix(l, "  expected") && len(lines) > 0 && strings.HasPrefix(lines[len(lines)-1], "  expected"):
			l = "  ..."
		}
		lines = append(lines, names.ReplaceAllString(l, ""))
	}
	widest := 0
	var body strings.Builder
	for i, l := range lines {
		colour := "#d8dee9"
		switch {
		case strings.HasPrefix(l, "$"):
			colour = "#8fbcbb"
		case strings.HasPrefix(l, "!"):
			colour = "#ff7b72"
		case strings.HasPrefix(l, "    text="):
			colour = "#ffd866"
		case strings.HasPrefix(l, "exhausted"), strings.HasPrefix(l, "  ok"):
			colour = "#a3be8c"
		}
		widest = max(widest, len(l))
		fmt.Fprintf(&body, "<text x=\"%d\" y=\"%d\" fill=\"%s\" xml:space=\"preserve\">%s</text>\n", margin, margin+line*(i+1)-4, colour, html.EscapeString(l))
	}
	width, height := int(float64(widest)*letter)+2*margin, line*len(lines)+2*margin
	return fmt.Sprintf("<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" height=\"%d\" font-family=\"monospace\" font-size=\"13\">\n"+
		"<rect width=\"%d\" height=\"%d\" rx=\"8\" fill=\"#20252e\"/>\n%s</svg>\n", width, height, width, height, body.String())
}
