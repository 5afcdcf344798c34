package high

// A Decided is a path told by its decisions, for programs that are not interpreted.
type Decided struct {
	Steps   []Decision
	Outcome string
	Test    string
}

// Decision is a place and the way taken there.
type Decision struct {
	At  Location
	Way string
}

// DocOf is the tree of paths, folded where they do not part; complete says that there are no others.
func DocOf(paths []Decided, complete bool) *Doc {
	d := &Doc{Codes: []string{}, Nodes: []DocNode{}}
	if len(paths) > 0 {
		d.fold(paths, 0, -1, "", complete)
	}
	return d
}

// fold adds the node that all of paths share from their decision at on, and those below it.
func (d *Doc) fold(paths []Decided, at, parent int, way string, complete bool) {
	me := len(d.Nodes)
	end := at
	for len(paths[0].Steps) > end {
		same := true
		for _, p := range paths {
			same = same && len(p.Steps) > end && p.Steps[end] == paths[0].Steps[end]
		}
		if !same {
			break
		}
		end++
	}
	n := DocNode{Parent: parent, Steps: end - at, Low: len(paths), Way: way}
	var order []string // of the ways on, as they were found
	ways := map[string][]Decided{}
	for _, p := range paths {
		if len(p.Steps) == end {
			n.Ends = append(n.Ends, DocEnd{After: end - at, Outcome: p.Outcome, Low: 1, Tests: []string{p.Test}, Complete: complete})
			continue
		}
		n.Last = p.Steps[end].At // where they part
		w := p.Steps[end].Way
		if ways[w] == nil {
			order = append(order, w)
		}
		ways[w] = append(ways[w], p)
	}
	d.Nodes = append(d.Nodes, n)
	for _, w := range order {
		d.fold(ways[w], end, me, w, complete)
	}
}
