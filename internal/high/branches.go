package high

import "strings"

// A Branch is a line of the program at which paths part.
type Branch struct {
	File string
	Line int
	Ways []BranchWay // in the order in which the tree has them first
}

// BranchWay is one way to go on from a line, and how many low-level paths went it.
type BranchWay struct {
	Way string // "true", "false", ..., or where it leads
	Low int
}

// Labels says for each node what a picture writes at it.
func (d *Doc) Labels() []string {
	ways, out := d.ways(), make([]string, len(d.Nodes))
	for i := range d.Nodes {
		out[i] = d.label(i, ways)
	}
	return out
}

// Branches are the lines at which paths part, in the order of the tree.
func (d *Doc) Branches() (out []Branch) {
	type place struct {
		file string
		line int
	}
	at := map[place]int{}
	ways, kids := d.ways(), d.kids()
	for p := range d.Nodes {
		n := &d.Nodes[p]
		if n.Last.File == "" || n.Last.Line == 0 || len(kids[p]) < 2 {
			continue
		}
		key := place{n.Last.File, n.Last.Line}
		i, known := at[key]
		if !known {
			i = len(out)
			at[key], out = i, append(out, Branch{File: key.file, Line: key.line})
		}
		for _, k := range kids[p] {
			out[i].add(d.wayName(k, ways), d.Nodes[k].Low)
		}
	}
	return out
}

// wayName is what the way to node k is called.
func (d *Doc) wayName(k int, ways []string) string {
	n := &d.Nodes[k]
	switch {
	case n.Way != "":
		return n.Way
	case ways[k] != "":
		return strings.TrimSuffix(strings.TrimSpace(ways[k]), ":")
	}
	return "to " + d.name(n.First)
}

func (b *Branch) add(way string, low int) {
	for i := range b.Ways {
		if b.Ways[i].Way == way {
			b.Ways[i].Low += low
			return
		}
	}
	b.Ways = append(b.Ways, BranchWay{way, low})
}
