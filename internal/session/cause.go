package session

import (
	"context"
	"slices"
	"strings"
	"sync"

	"symchef/internal/explore"
	"symchef/internal/kernel"
	"symchef/internal/replay"
	"symchef/internal/rundir"
	"symchef/internal/testcase"
)

// causes are what the outcome of a path may depend on though it is no input. Each is tried: the test case is executed again in a machine where
// only that part is as it is elsewhere. What changes the outcome there is a cause, so a path that merely looks at the clock has none.
var causes = []struct {
	name  string
	timed bool // it changes how many instructions things take: what shows the clock shows that, too
	part  func(elsewhere) elsewhere
}{
	{name: "the clock", part: func(e elsewhere) elsewhere { return elsewhere{World: kernel.World{Later: e.Later}} }},
	{name: "what it takes (time, memory)", timed: true, part: func(elsewhere) elsewhere { return elsewhere{World: kernel.World{Pace: 1009}} }},
	{name: "process ids", part: func(e elsewhere) elsewhere { return elsewhere{World: kernel.World{PIDs: e.PIDs}} }},
	{name: "random numbers", part: func(e elsewhere) elsewhere { return elsewhere{seed: e.seed} }},
	{name: "addresses", timed: true, part: func(e elsewhere) elsewhere { return elsewhere{World: kernel.World{Lower: e.Lower}} }},
	{name: "the host (name, kernel, processors, memory, disk, limits)", part: func(elsewhere) elsewhere { return elsewhere{World: kernel.World{Elsewhere: true, Beyond: true}} }},
	{name: "the order of directories", timed: true, part: func(elsewhere) elsewhere { return elsewhere{World: kernel.World{Backwards: true}} }},
	{name: "numbers of inodes", part: func(e elsewhere) elsewhere { return elsewhere{World: kernel.World{Inodes: e.Inodes}} }},
	{name: "the seed of hashes", timed: true, part: func(e elsewhere) elsewhere { return elsewhere{hashes: e.hashes} }},
}

// mostExplained is how many test cases of a run are executed again for their causes: the tests of one function mostly share theirs.
const mostExplained = 50

// mostElsewhere is how many instructions a test case is followed in another world, where it may never end.
const mostElsewhere = 300_000_000

// Causes returns what replay asks about test cases of a run that disagree.
func Causes(d *rundir.Reader) func(context.Context, testcase.Test, replay.Doubt) string {
	seen, err := pictureOf(d)
	if err != nil {
		return func(context.Context, testcase.Test, replay.Doubt) string { return "" } // it would meet something else
	}
	return causesOf(d.Summary, seen)
}

// causesOf is Causes for a run that was told seen of the host.
func causesOf(sum rundir.Summary, seen *picture) func(context.Context, testcase.Test, replay.Doubt) string {
	var mu sync.Mutex // one at a time: each has an engine
	asked := 0
	return func(c context.Context, t testcase.Test, d replay.Doubt) string {
		mu.Lock()
		defer mu.Unlock()
		if asked++; asked > mostExplained {
			return ""
		}
		var found []string
		a := again{sum: sum, seen: seen, high: d == replay.OtherWay}
		in := func(e elsewhere) (testcase.Test, error) {
			got, _, err := a.at(e).follow(c, t.Inputs, &explore.Trail{Unlogged: true, Most: mostElsewhere})
			return got, err
		}
		same, err := in(elsewhere{})
		if err != nil || t.Difference(same.Observation) != nil {
			return "" // the machine does not confirm the test case: that is worse
		}
		asks := a.asks(same)
		for _, e := range elsewheres { // what depends on a single bit may be the same in one of them
			for _, cause := range causes {
				if cause.timed && slices.Contains(found, causes[0].name) {
					continue
				}
				if got, err := in(cause.part(e)); err == nil && a.doubt(t, got, asks) >= d {
					found = append(found, cause.name)
				}
			}
			if len(found) > 0 {
				break
			}
		}
		return strings.Join(found, " and ")
	}
}
