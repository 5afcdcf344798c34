package high

import (
	"maps"
	"slices"
)

// Lines returns the source lines that the tree's paths execute, in order, by file, as far as they are known.
func (t *Tree) Lines() map[string][]int {
	seen := map[Step]bool{}
	set := map[string]map[int]bool{}
	var walk func(*Node)
	walk = func(n *Node) {
		for _, s := range n.Steps {
			if seen[s] {
				continue
			}
			seen[s] = true
			l := t.Labels[t.Codes[s.Code-1]]
			line := l.Line(s.Offset)
			if l.File == "" || line == 0 {
				continue
			}
			if set[l.File] == nil {
				set[l.File] = map[int]bool{}
			}
			set[l.File][line] = true
		}
		for _, k := range n.Kids {
			walk(k)
		}
	}
	walk(&t.Root)
	out := map[string][]int{}
	for f, lines := range set {
		out[f] = slices.Sorted(maps.Keys(lines))
	}
	return out
}
