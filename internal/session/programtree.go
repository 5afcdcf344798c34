package session

import (
	"fmt"
	"strings"

	"symchef/internal/high"
	"symchef/internal/rundir"
)

// ProgramTree is the tree of the test cases of a program: where they part, by instruction, and by function and source line where the
// program's file says these; in a library, by its name and function.
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
			at := high.Location{Source: d.Symbol}
			if d.Symbol == "" {
				at = places.location(uint64(d.PC))
			}
			p.Steps = append(p.Steps, high.Decision{At: at, Way: way})
		}
		paths = append(paths, p)
	}
	doc := high.DocOf(paths, r.Summary.Exhausted)
	doc.ReadSources(high.Syntax{}, sourceLines)
	return doc, nil
}
