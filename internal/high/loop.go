package high

import "strings"

// loopSteps is how many of a path's last steps are looked at for a loop.
const loopSteps = 1 << 15

// before lists up to n steps that lead to p, by their numbers in the Table.
func (t *Tree) before(p Place, n int) []uint32 {
	list := make([]uint32, n) // filled from its end
	for p = t.now(p); n > 0; {
		for p.pos == 0 && p.node.up != nil {
			p = Place{p.node.up, p.node.up.Steps.Len()}
		}
		if p.pos == 0 {
			break
		}
		p.pos--
		n--
		list[n] = p.node.Steps.at(p.pos)
	}
	return list[n:]
}

// Loop is where p repeats its last steps, FILE:LINE:FUNCTION: the first line of the loop in the outermost call that is part of it. It is empty where they do
// not repeat, or the place is not known.
func (t *Tracker) Loop(p *Path) string {
	if p.ended {
		return ""
	}
	list := t.Tree.before(p.at, loopSteps)
	long, period := loopAtEnd(list)
	if long < len(list)/2 {
		return ""
	}
	in := map[uint32]bool{}
	for _, n := range list[len(list)-period:] {
		in[n] = true
	}
	for _, f := range p.frames {
		n := t.Graph.nodes[f.at].number
		if n == 0 || !in[n-1] {
			continue
		}
		var first Location
		for k := range in {
			if at := t.Tree.location(t.Tree.Table[k]); t.Tree.Table[k].Code == t.Tree.Table[n-1].Code && at.Line > 0 && (first.Source == "" || at.Line < first.Line) {
				first = at
			}
		}
		place, name, _ := strings.Cut(first.Source, " ")
		return strings.TrimSuffix(place+":"+name, ":")
	}
	return ""
}
