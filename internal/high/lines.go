package high

import (
	"maps"
	"slices"
)

// Lines returns the source lines that the tree's paths execute, in order, by file, as far as they are known.
func (t *Tree) Lines() map[string][]int {
	set := map[string]map[int]bool{}
	for _, s := range t.Table {
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
	out := map[string][]int{}
	for f, lines := range set {
		out[f] = slices.Sorted(maps.Keys(lines))
	}
	return out
}
