package session

import (
	"context"
	"slices"
	"strings"
	"sync"

	"symchef/internal/explore"
	"symchef/internal/expr"
	"symchef/internal/kernel"
	"symchef/internal/replay"
	"symchef/internal/rundir"
	"symchef/internal/state"
	"symchef/internal/testcase"
)

// causes are what the outcome of a path may depend on though it is no input. Each is tried: the test case is executed again in a machine where
// only that part is as it is elsewhere. What changes the outcome there is a cause, so a path that merely looks at the clock has none.
var causes = []struct {
	name  string
	after string // what shows that cause shows this one, too; the clock, where a part changes how many instructions things take
	part  func(elsewhere) elsewhere
}{
	{name: "the clock", part: func(e elsewhere) elsewhere { return elsewhere{World: kernel.World{Later: e.Later}} }},
	{name: "what it takes (time, memory)", after: "the clock", part: func(elsewhere) elsewhere { return elsewhere{World: kernel.World{Pace: 1009}} }},
	{name: "process ids", part: func(e elsewhere) elsewhere { return elsewhere{World: kernel.World{PIDs: e.PIDs}} }},
	{name: "random numbers", part: func(e elsewhere) elsewhere { return elsewhere{World: kernel.World{Inverse: e.Inverse}, seed: e.seed} }},
	{name: "addresses", after: "the clock", part: func(e elsewhere) elsewhere { return elsewhere{World: kernel.World{Lower: e.Lower}} }},
	{name: "the host (name, kernel, processors, memory, disk, limits)", part: func(elsewhere) elsewhere { return elsewhere{World: kernel.World{Elsewhere: true, Beyond: true}} }},
	{name: "the order of directories", after: "the clock", part: func(elsewhere) elsewhere { return elsewhere{World: kernel.World{Backwards: true}} }},
	{name: "numbers of inodes", part: func(e elsewhere) elsewhere { return elsewhere{World: kernel.World{Inodes: e.Inodes}} }},
	{name: "rights of the superuser, which a replay does not have", part: func(elsewhere) elsewhere { return elsewhere{World: kernel.World{OtherRights: true}} }},
	{name: "who owns files", part: func(elsewhere) elsewhere { return elsewhere{World: kernel.World{Owned: true}} }},
	{name: "the sandbox of replay (owners of files, file systems, attributes of processes)", after: "who owns files", part: func(elsewhere) elsewhere { return elsewhere{World: kernel.World{Sandbox: true}} }},
	{name: "the seed of hashes", after: "the clock", part: func(e elsewhere) elsewhere { return elsewhere{hashes: e.hashes} }},
}

// mostExplained is how many test cases of a run are executed again for their causes: the tests of one function mostly share theirs.
const mostExplained = 50

// mostElsewhere is how many instructions a test case is followed in another world, where it may never end.
const mostElsewhere = 300_000_000

// A why answers what replay asks about test cases of a run that disagree, about so many of them. It has one engine at a time.
type why struct {
	again
	mu             sync.Mutex
	asked, bounded int
	left           effort // of searches for moments
}

// Causes and Bounds are what replay asks about test cases of a run; nil if there is nothing to ask.
func Causes(d *rundir.Reader) func(context.Context, testcase.Test, replay.Doubt) string {
	seen, err := pictureOf(d)
	if err != nil {
		return nil // they would meet something else
	}
	return causesOf(d.Summary, seen).causes
}

// Bounds is Causes for the bounds of a replay.
func Bounds(d *rundir.Reader) func(context.Context, testcase.Test, replay.Limits) string {
	seen, err := pictureOf(d)
	if err != nil {
		return nil
	}
	return causesOf(d.Summary, seen).bound
}

// causesOf is for a run that was told seen of the host.
func causesOf(sum rundir.Summary, seen *picture) *why {
	return &why{again: again{sum: sum, seen: seen}, left: newEffort()}
}

// in is test case t executed again in e.
func (y *why) in(c context.Context, t testcase.Test, e elsewhere) (testcase.Test, error) {
	got, _, err := y.at(e).follow(c, t.Inputs, &explore.Trail{Unlogged: true, Most: mostElsewhere})
	return got, err
}

// bound says which bound of a replay keeps t from doing there what it does in the machine; empty: none that is known.
func (y *why) bound(c context.Context, t testcase.Test, l replay.Limits) string {
	y.mu.Lock()
	defer y.mu.Unlock()
	if y.bounded++; y.bounded > mostExplained {
		return ""
	}
	var met kernel.Bounds
	y.onEnd = func(_ *expr.Ctx, s *state.State) { met = s.Sys.Met() }
	got, err := y.in(c, t, elsewhere{World: kernel.World{Bounds: kernel.Bounds{FileSize: l.FileSize, Disk: l.Disk, Tasks: l.Processes}}})
	y.onEnd = nil
	if err != nil || t.Difference(got.Observation) == nil {
		return ""
	}
	return replay.Limits{FileSize: met.FileSize, Disk: met.Disk, Processes: met.Tasks}.String()
}

// confirm executes t again as in the run: what it asks about its inputs, what of the schedule it depends on, and whether another moment raises doubt d. ok is false where the machine does not
// confirm the test case: that is worse.
func (y *why) confirm(c context.Context, t testcase.Test, d replay.Doubt) (asks []string, unordered string, clock, ok bool) {
	a := y.again
	a.tracked, a.onEnd = true, func(_ *expr.Ctx, s *state.State) { unordered = s.Sys.Unordered() }
	from, err := a.begin(c, t.Inputs)
	if err != nil {
		return nil, "", false, false
	}
	defer from.end()
	same, _, err := from.follow(c, t.Inputs, &explore.Trail{Unlogged: true, Most: mostElsewhere})
	if err != nil || t.Difference(same.Observation) != nil {
		return nil, "", false, false
	}
	from.a.onEnd = nil
	asks = y.asks(same)
	return asks, unordered, from.told && y.moment(c, from, t, asks, &y.left) >= d, true
}

// causes says what t depends on though it is no input; empty: on nothing that is known.
func (y *why) causes(c context.Context, t testcase.Test, d replay.Doubt) string {
	y.mu.Lock()
	defer y.mu.Unlock()
	if y.asked++; y.asked > mostExplained {
		return ""
	}
	y.high = d == replay.OtherWay
	asks, unordered, clock, ok := y.confirm(c, t, d)
	if !ok {
		return ""
	}
	var found []string
	if clock {
		found = append(found, causes[0].name)
	}
	for _, e := range elsewheres { // what depends on a single bit may be the same in one of them
		for _, cause := range causes {
			if slices.Contains(found, cause.after) || slices.Contains(found, cause.name) {
				continue
			}
			if got, err := y.in(c, t, cause.part(e)); err == nil && y.doubt(t, got, asks) >= d {
				found = append(found, cause.name)
			}
		}
		if len(found) > 0 {
			break
		}
	}
	if unordered != "" && d == replay.OtherEnd {
		found = append(found, "the schedule ("+unordered+")")
	}
	return strings.Join(found, " and ")
}
