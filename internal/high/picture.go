package high

import (
	"cmp"
	"fmt"
	"html"
	"io"
	"slices"
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

// label is node i in one line; ways as Doc.ways has them.
func (d *Doc) label(i int, ways []string) string {
	n := &d.Nodes[i]
	var b strings.Builder
	if n.Way != "" || n.First == (Location{}) && n.Last != (Location{}) { // of decisions
		fmt.Fprintf(&b, "%s: ", cmp.Or(n.Way, "start"))
		if n.Last != (Location{}) {
			fmt.Fprintf(&b, "%s  ", strings.TrimSpace(d.name(n.Last)+"  "+n.Last.Text))
		}
		fmt.Fprintf(&b, "(%s, %s)", count(n.Steps, "decision"), count(n.Low, "path"))
		return printable(b.String())
	}
	if n.Steps == 0 {
		return "start"
	}
	b.WriteString(ways[i] + d.name(n.Last))
	if n.Last.Text != "" {
		b.WriteString("  " + n.Last.Text)
	}
	fmt.Fprintf(&b, "  (%s, %d low-level)", count(n.Steps, "step"), n.Low)
	return printable(b.String())
}

// count is "1 step", "2 steps".
func count(n int, what string) string {
	if n != 1 {
		what += "s"
	}
	return fmt.Sprint(n, " ", what)
}

// ways says for each node which way the path went to it; empty: there was none, or that is not known.
func (d *Doc) ways() []string {
	out := make([]string, len(d.Nodes))
	kids := d.kids()
	for p := range d.Nodes {
		from, list := d.Nodes[p].Last, kids[p]
		if d.Nodes[p].Steps == 0 {
			continue
		}
		for _, k := range list {
			out[k] = way(from, d.Nodes[k].First)
		}
		switch on := func(l Location) bool { return l.Line == from.Line && l.File == from.File }; {
		case from.Line == 0:
		case len(list) == 1 && on(d.Nodes[list[0]].First): // the others have ended
			out[list[0]] = "goes on: "
		case len(list) == 2 && from.Body != 0 && on(d.Nodes[list[0]].First) != on(d.Nodes[list[1]].First):
			stays, leaves := list[0], list[1]
			if !on(d.Nodes[stays].First) {
				stays, leaves = leaves, stays
			}
			n := &d.Nodes[stays]
			raised := slices.ContainsFunc(n.Ends, func(e DocEnd) bool { return e.Outcome != "ok" })
			again := on(n.Last) && len(kids[stays]) > 0 || from.Joined && (!on(n.Last) || raised || from.Body != d.Nodes[leaves].First.Line)
			out[stays] = staying(from, d.Nodes[leaves].First, again)
		case len(list) == 2:
			d.twoWays(from, list[0], list[1], on, out)
		}
	}
	return out
}

// staying says of a path that goes on on the line of the condition at from what this is there, when the other one has gone to other; again tells that
// another part of the condition may decide.
func staying(from, other Location, again bool) string {
	switch {
	case other.File != from.File || other.Line == 0:
		return way(from, from)
	case from.Body == other.Line && again:
		return "false so far: "
	case from.Body == other.Line:
		return "false: "
	case again:
		return "true so far: "
	}
	return way(from, from)
}

// twoWays is ways for the two nodes a and b behind the branch at from; on tells what is on its line.
func (d *Doc) twoWays(from Location, a, b int, on func(Location) bool, out []string) {
	one, other := &d.Nodes[a], &d.Nodes[b]
	stays := func(n *DocNode) bool { return on(n.First) && (from.Joined || on(n.Last)) }
	if from.Stays != "" && stays(one) != stays(other) {
		if stays(other) {
			a, b = b, a
		}
		out[a], out[b] = "true: ", "false: "
		if from.Stays == "false" {
			out[a], out[b] = out[b], out[a]
		}
		return
	}
	l, r := one.First, other.First
	if !on(l) || !on(r) || l.Code != from.Code || r.Code != from.Code || l.Offset == r.Offset {
		return
	}
	// By the code: what follows the branch, or another place.
	if l.Offset <= from.Offset || r.Offset > from.Offset && r.Offset < l.Offset {
		a, b, l = b, a, r
	}
	if l.Offset > from.Offset {
		out[a], out[b] = "goes on: ", "jumps: "
	}
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
	s := fmt.Sprintf("%s  (%d low-level)", printable(e.Outcome), e.Low)
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
	kids, ways := d.kids(), d.ways()
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
			fmt.Fprintf(w, "%s%s%s\n", indent, branch, d.label(kid, ways))
			draw(kid, indent+below)
		}
	}
	for _, root := range kids[-1] {
		fmt.Fprintln(w, d.label(root, ways))
		draw(root, "")
	}
}

// WriteDot writes the tree for Graphviz.
func (d *Doc) WriteDot(w io.Writer) {
	ways := d.ways()
	fmt.Fprintln(w, "digraph tree {\n  rankdir=LR; node [shape=box, fontname=monospace, fontsize=10];")
	for i := range d.Nodes {
		n := &d.Nodes[i]
		fmt.Fprintf(w, "  n%d [label=%q];\n", i, d.label(i, ways))
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
	kids, ways := d.kids(), d.ways()
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
		y := text(depth, d.label(i, ways), "#333")
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
