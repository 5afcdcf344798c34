package session

import (
	"fmt"
	"strings"

	"symchef/internal/high"
	"symchef/internal/rundir"
)

// ProgramTree is the tree of the test cases of a program: where they part, by instruction, and by function and source line where the
// program's file says these.
func ProgramTree(r *rundir.Reader) (*high.Doc, error) {
	tests, _, err := r.Tests()
	if err != nil {
		return nil, err
	}
	places, err := programPlaces(r.Summary.Target.Path)
	if err != nil {
		return nil, err
	}
	var paths []high.Decided
	for _, t := range tests {
		p := high.Decided{Outcome: strings.TrimSpace(string(t.Outcome.Kind) + " " + string(t.Outcome.Type) + t.Outcome.Signal), Test: t.ID}
		for _, d := range t.Decisions {
			way := fmt.Sprintf("%s %#x", d.Kind, uint64(d.Value))
			if d.Kind == "branch" {
				way = map[uint64]string{0: "not taken", 1: "taken"}[uint64(d.Value)]
			}
			p.Steps = append(p.Steps, high.Decision{At: places.location(uint64(d.PC)), Way: way})
		}
		paths = append(paths, p)
	}
	doc := high.DocOf(paths, r.Summary.Exhausted)
	doc.ReadSources(sourceLines)
	return doc, nil
}
