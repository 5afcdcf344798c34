package high

import (
	"cmp"
	"fmt"
	"html"
	"io"
	"strings"
)

// kids lists the children of each node, and with -1 the roots.
func (d *Doc) kids() map[int][]int {
	out := map[int][]int{}
	for i, n := range d.Nodes {
		out[n.Parent] = append(out[n.Parent], i)
	}
	return out
}

// name names a location: by its source, else by digest and offset.
func (d *Doc) name(l Location) string {
	switch {
	case l.Source != "":
		return l.Source
	case int(l.Code) >= len(d.Codes):
		return "?"
	}
	return fmt.Sprintf("%.8s+%d", d.Codes[l.Code], l.Offset)
}

func (n *DocNode) label(d *Doc) string {
	var b strings.Builder
	if n.Way != "" || n.First == (Location{}) && n.Last != (Location{}) { // of decisions
		fmt.Fprintf(&b, "%s: ", cmp.Or(n.Way, "start"))
		if n.Last != (Location{}) {
			fmt.Fprintf(&b, "%s  ", strings.TrimSpace(d.name(n.Last)+"  "+n.Last.Text))
		}
		fmt.Fprintf(&b, "(%d decisions, %d paths)", n.Steps, n.Low)
		return b.String()
	}
	if n.Steps == 0 {
		return "start"
	}
	if n.Parent >= 0 && d.Nodes[n.Parent].Steps > 0 {
		b.WriteString(way(d.Nodes[n.Parent].Last, n.First))
	}
	b.WriteString(d.name(n.Last))
	if n.Last.Text != "" {
		b.WriteString("  " + n.Last.Text)
	}
	fmt.Fprintf(&b, "  (%d steps, %d low-level)", n.Steps, n.Low)
	return b.String()
}

// way says which way a path goes that leaves the branch at from for to.
func way(from, to Location) string {
	switch {
	case to.Line == 0 || from.Line == 0:
		return ""
	case to.File != from.File:
		return "to " + to.Source + ": "
	case to.Line == from.Line:
		return "on that line: "
	case from.Body == to.Line:
		return "true: "
	case from.Body != 0:
		return "false: "
	}
	return fmt.Sprintf("to line %d: ", to.Line)
}

// maxTests is how many test cases of an end are all named in its line.
const maxTests = 3

// String is the end in one line.
func (e DocEnd) String() string {
	s := fmt.Sprintf("%s  (%d low-level)", e.Outcome, e.Low)
	if n := len(e.Tests); n > maxTests {
		s += fmt.Sprintf("  %s, %d more", e.Tests[0], n-1)
	} else if n > 0 {
		s += "  " + strings.Join(e.Tests, " ")
	}
	if !e.Complete {
		s += "  incomplete"
	}
	return s
}

// WriteText draws the tree with lines of text.
func (d *Doc) WriteText(w io.Writer) {
	kids := d.kids()
	var draw func(i int, indent string)
	draw = func(i int, indent string) {
		n := &d.Nodes[i]
		items := len(n.Ends) + len(kids[i])
		for k := range items {
			branch, below := "├─ ", "│  "
			if k == items-1 {
				branch, below = "└─ ", "   "
			}
			if k < len(n.Ends) {
				fmt.Fprintf(w, "%s%s%s\n", indent, branch, n.Ends[k])
				continue
			}
			kid := kids[i][k-len(n.Ends)]
			fmt.Fprintf(w, "%s%s%s\n", indent, branch, d.Nodes[kid].label(d))
			draw(kid, indent+below)
		}
	}
	for _, root := range kids[-1] {
		fmt.Fprintln(w, d.Nodes[root].label(d))
		draw(root, "")
	}
}

// WriteDot writes the tree for Graphviz.
func (d *Doc) WriteDot(w io.Writer) {
	fmt.Fprintln(w, "digraph tree {\n  rankdir=LR; node [shape=box, fontname=monospace, fontsize=10];")
	for i := range d.Nodes {
		n := &d.Nodes[i]
		fmt.Fprintf(w, "  n%d [label=%q];\n", i, n.label(d))
		if n.Parent >= 0 {
			fmt.Fprintf(w, "  n%d -> n%d;\n", n.Parent, i)
		}
		for k, e := range n.Ends {
			fmt.Fprintf(w, "  e%d_%d [label=%q, shape=oval];\n  n%d -> e%d_%d;\n", i, k, e.String(), i, i, k)
		}
	}
	fmt.Fprintln(w, "}")
}

// Measures of the picture, in pixels.
const (
	rowHeight   = 22
	columnWidth = 36
	letterWidth = 7
)

// WriteSVG draws the tree as a picture: one row per node and end, children indented.
func (d *Doc) WriteSVG(w io.Writer) {
	kids := d.kids()
	var body strings.Builder
	row, widest := 0, 0
	text := func(depth int, s, colour string) int {
		y := row*rowHeight + rowHeight
		x := depth*columnWidth + 8
		fmt.Fprintf(&body, "<text x=\"%d\" y=\"%d\" fill=\"%s\">%s</text>\n", x+6, y, colour, html.EscapeString(s))
		fmt.Fprintf(&body, "<circle cx=\"%d\" cy=\"%d\" r=\"3\" fill=\"%s\"/>\n", x, y-4, colour)
		widest = max(widest, x+len(s)*letterWidth)
		row++
		return y - 4
	}
	line := func(depth, from, to int) {
		x := depth*columnWidth + 8
		fmt.Fprintf(&body, "<path d=\"M%d %d V%d H%d\" fill=\"none\" stroke=\"#999\"/>\n", x, from, to, x+columnWidth)
	}
	var draw func(i, depth int) int
	draw = func(i, depth int) int {
		n := &d.Nodes[i]
		y := text(depth, n.label(d), "#333")
		for _, e := range n.Ends {
			line(depth, y, text(depth+1, e.String(), outcomeColour(e.Outcome)))
		}
		for _, k := range kids[i] {
			line(depth, y, draw(k, depth+1))
		}
		return y
	}
	for _, root := range kids[-1] {
		draw(root, 0)
	}
	fmt.Fprintf(w, "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" height=\"%d\" font-family=\"monospace\" font-size=\"12\">\n%s</svg>\n",
		widest+20, row*rowHeight+rowHeight, body.String())
}

// outcomeColour tells failures from the rest.
func outcomeColour(outcome string) string {
	kind, _, _ := strings.Cut(outcome, " ")
	switch kind {
	case "ok", "expected", "exit":
		return "#087f23"
	}
	return "#b00020"
}
