package high

import (
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
)

// Doc is a Tree as a run directory keeps it (tree.json): nodes in the order of a
// depth-first walk, so that a parent comes before its children.
type Doc struct {
	Codes []string  `json:"codes"` // digests of code objects, hexadecimal
	Nodes []DocNode `json:"nodes"`
}

// DocNode is a sequence of high-level instructions that all paths through it share.
type DocNode struct {
	Parent int      `json:"parent"` // index; -1: the root
	Steps  int      `json:"steps"`
	First  Location `json:"first"` // of the first instruction whose source is known, where the paths have parted
	Last   Location `json:"last"`  // of the last one, which branches or ends; of the parent's, if no source is known
	Low    int      `json:"low"`   // low-level paths that ended in or below it
	Ends   []DocEnd `json:"ends,omitempty"`
	Way    string   `json:"way,omitempty"` // which way it went where the parent ends; empty: First tells
}

// Location is a high-level instruction.
type Location struct {
	Code   uint32 `json:"code"` // index in Codes
	Offset uint32 `json:"offset"`
	// Source is FILE:LINE NAME, as far as it is known.
	Source string `json:"source,omitempty"`
	// File and Line are the same in full, Text what stands there.
	File string `json:"file,omitempty"`
	Line int    `json:"line,omitempty"`
	Text string `json:"text,omitempty"`
	// Body is the line that a condition at the end of Text leads to where it holds; 0: Text is no condition, or that is not known.
	Body int `json:"body,omitempty"`
	// Stays says of a path that goes on on the line whether a condition in Text holds there, "true" or "false"; empty: it is no such statement, or that is
	// not known. Joined: the condition has parts, one of which may decide.
	Stays  string `json:"stays,omitempty"`
	Joined bool   `json:"joined,omitempty"`
}

// DocEnd is how low-level paths ended that are one high-level path.
type DocEnd struct {
	After   int      `json:"after"` // steps of the node
	Outcome string   `json:"outcome"`
	Low     int      `json:"low"`
	Tests   []string `json:"tests,omitempty"`
	// Complete: no low-level path of the high-level path is left, so its path condition is the
	// disjunction of theirs.
	Complete bool `json:"complete"`
}

// Doc returns the tree in the form to keep.
func (t *Tree) Doc() *Doc {
	d := &Doc{Codes: []string{}, Nodes: []DocNode{}}
	for _, c := range t.Codes {
		d.Codes = append(d.Codes, hex.EncodeToString(c[:]))
	}
	d.add(t, &t.Root, -1, true)
	return d
}

// Check says what makes d no tree.
func (d *Doc) Check() error {
	if len(d.Nodes) == 0 {
		return errors.New("it has no nodes")
	}
	for i, n := range d.Nodes {
		if root := n.Parent == -1; root != (i == 0) || !root && (n.Parent < 0 || n.Parent >= i) {
			return fmt.Errorf("node %d has no parent before it", i)
		}
	}
	return nil
}

// Keep takes test cases out of the ends for which keep is false.
func (d *Doc) Keep(keep func(id string) bool) {
	for i := range d.Nodes {
		for k := range d.Nodes[i].Ends {
			e := &d.Nodes[i].Ends[k]
			e.Tests = slices.DeleteFunc(e.Tests, func(id string) bool { return !keep(id) })
		}
	}
}

// Complete counts the high-level paths whose path conditions are complete.
func (d *Doc) Complete() (n int) {
	for i := range d.Nodes {
		at := map[int]bool{}
		for _, e := range d.Nodes[i].Ends {
			if e.Complete && !at[e.After] {
				at[e.After] = true
				n++
			}
		}
	}
	return n
}

func (t *Tree) location(s Step) Location {
	l := t.Labels[t.Codes[s.Code-1]]
	at := Location{Code: s.Code - 1, Offset: s.Offset, Source: l.At(s.Offset)}
	if at.Source != "" {
		at.File, at.Line = l.File, l.Line(s.Offset)
	}
	return at
}

// add appends n and what is below; complete tells that nothing is left above it. Where paths end within n it is a node for each part, so that an end
// stands at the step where it is.
func (d *Doc) add(t *Tree, n *Node, parent int, complete bool) int {
	steps := n.Steps.Len()
	first := steps + 1 // where something is left
	for _, p := range slices.Concat(n.Lost, n.open) {
		first = min(first, p)
	}
	cuts := []int{steps}
	for _, e := range n.Ends {
		cuts = append(cuts, e.Pos)
	}
	slices.Sort(cuts)
	top, from := len(d.Nodes), 0
	for _, to := range slices.Compact(cuts) {
		out := DocNode{Parent: parent, Steps: to - from}
		if to > from {
			out.First, out.Last = t.span(&n.Steps, from, to)
			if out.Last.Source == "" && parent >= 0 && d.Nodes[parent].Last.Source != "" { // all of it was called from there
				out.First, out.Last = d.Nodes[parent].Last, d.Nodes[parent].Last
			}
		}
		for _, e := range n.Ends {
			if e.Pos != to {
				continue
			}
			i := slices.IndexFunc(out.Ends, func(o DocEnd) bool { return o.Outcome == e.Outcome })
			if i < 0 {
				i = len(out.Ends)
				out.Ends = append(out.Ends, DocEnd{After: out.Steps, Outcome: e.Outcome, Complete: complete && e.Pos < first})
			}
			out.Ends[i].Low++
			if e.Test != "" {
				out.Ends[i].Tests = append(out.Ends[i].Tests, e.Test)
			}
		}
		parent, from = len(d.Nodes), to
		d.Nodes = append(d.Nodes, out)
	}
	low := 0
	for _, k := range n.Kids {
		low += d.add(t, k, parent, complete && first > steps)
	}
	for i := parent; i >= top; i-- {
		for _, e := range d.Nodes[i].Ends {
			low += e.Low
		}
		d.Nodes[i].Low = low
	}
	return low
}

// maxSpan is how many steps are looked at for one whose source is known.
const maxSpan = 1 << 16

// span is where the steps from from to to begin and end: the first and the last of them whose line is known, or else whose source is, if there is one. The
// others are the interpreter's own, as functions are that raise errors, or code that a compiler has added, as to leave a handler.
func (t *Tree) span(s *Steps, from, to int) (first, last Location) {
	at := func(i int) Location { return t.location(t.Table[s.at(i)]) }
	first, last = at(from), at(to-1)
	better := func(l *Location, i int) {
		if o := at(i); o.Line != 0 || l.Source == "" && o.Source != "" {
			*l = o
		}
	}
	for i := from; i < min(to, from+maxSpan) && first.Line == 0; i++ {
		better(&first, i)
	}
	for i := to - 1; i >= max(from, to-maxSpan) && last.Line == 0; i-- {
		better(&last, i)
	}
	return first, last
}

// Merge adds the paths of u, which another worker has explored.
func (t *Tree) Merge(u *Tree) {
	for d, l := range u.Labels {
		t.label(d, l)
	}
	t.merge(u, &u.Root, Place{})
}

func (t *Tree) merge(u *Tree, n *Node, at Place) {
	ends := slices.Clone(n.Ends)
	slices.SortStableFunc(ends, func(a, b End) int { return a.Pos - b.Pos })
	lost, open := slices.Sorted(slices.Values(n.Lost)), slices.Sorted(slices.Values(n.open))
	here := func(list *[]int, pos int) (found bool) {
		for len(*list) > 0 && (*list)[0] <= pos {
			found, *list = found || (*list)[0] == pos, (*list)[1:]
		}
		return found
	}
	list := make([]uint32, 0, chunkLen)
	for pos := 0; ; {
		for len(ends) > 0 && ends[0].Pos == pos {
			t.End(at, ends[0].Outcome, ends[0].Test)
			ends = ends[1:]
		}
		if here(&lost, pos) {
			t.Lose(at)
		}
		if here(&open, pos) {
			t.Open(at)
		}
		next := n.Steps.Len() // the next place where something is, or the end of the steps that are at hand
		if pos == next {
			break
		}
		if len(ends) > 0 {
			next = ends[0].Pos
		}
		for _, l := range [][]int{lost, open} {
			if len(l) > 0 {
				next = min(next, l[0])
			}
		}
		list = list[:0]
		for _, i := range n.Steps.from(pos) {
			if len(list) == cap(list) || pos+len(list) == next {
				break
			}
			s := u.Table[i]
			list = append(list, t.number(Step{t.code(u.Codes[s.Code-1]), s.Offset}))
		}
		at = t.Advance(at, list)
		pos += len(list)
	}
	for _, k := range n.Kids {
		t.merge(u, k, at)
	}
}
