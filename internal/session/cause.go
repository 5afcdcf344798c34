package session

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"

	"symchef/internal/explore"
	"symchef/internal/kernel"
	"symchef/internal/replay"
	"symchef/internal/rundir"
	"symchef/internal/state"
	"symchef/internal/testcase"
)

// Causes that show in others: whatever changes how many instructions things take changes these.
const (
	theClock = "the clock"
	theHost  = "the host (name, kernel, processors, memory, disk, limits)"
	itMade   = "what the interpreter has made before (objects, memory)"
	itTakes  = "what it takes (time, memory, faults, switches)"
)

// The clock goes by instructions, so that whatever changes how many are executed changes it.
var times = []string{theClock, itTakes}

// causes are what the outcome of a path may depend on though it is no input. Each is tried: the test case is executed again in a machine where
// only that part is as it is elsewhere. What changes the outcome there is a cause, so a path that merely looks at the clock has none.
var causes = []struct {
	name  string   // several with one name are tried in turn
	after []string // what shows one of these causes shows this one, too
	timed bool     // the part changes how many instructions things take: what shows one of times is looked at where instructions take no time
	part  func(elsewhere) elsewhere
}{
	{name: theClock, part: func(e elsewhere) elsewhere { return elsewhere{World: kernel.World{Later: e.Later}} }},
	{name: itTakes, after: times, part: func(e elsewhere) elsewhere {
		return elsewhere{World: kernel.World{Delay: e.Delay, Taken: e.Taken, Used: e.Used}}
	}},
	{name: itTakes, after: times, part: func(elsewhere) elsewhere { return elsewhere{World: kernel.World{Pace: 1009}} }},
	{name: itTakes, after: times, part: func(e elsewhere) elsewhere { return elsewhere{World: kernel.World{Taken: e.Taken}} }}, // an odd number, of which a delay makes an even one
	{name: "process ids", part: func(e elsewhere) elsewhere { return elsewhere{World: kernel.World{PIDs: e.PIDs}} }},
	{name: "random numbers", part: func(e elsewhere) elsewhere { return elsewhere{World: kernel.World{Inverse: e.Inverse}, seed: e.seed} }},
	{name: "addresses", timed: true, part: func(e elsewhere) elsewhere { return elsewhere{World: kernel.World{Lower: e.Lower}} }},
	{name: theHost, timed: true, part: func(elsewhere) elsewhere { return elsewhere{World: kernel.World{Elsewhere: true, Beyond: true}} }},
	{name: theHost, timed: true, part: func(elsewhere) elsewhere { return elsewhere{World: kernel.World{Processor: true}} }},
	{name: theHost, timed: true, part: func(elsewhere) elsewhere { return elsewhere{World: kernel.World{Level: true}} }},
	{name: "the network, of which there is none beyond the machine", part: func(elsewhere) elsewhere { return elsewhere{World: kernel.World{Network: true}} }},
	{name: "the order of directories", timed: true, part: func(e elsewhere) elsewhere {
		return elsewhere{World: kernel.World{Backwards: e.Backwards, Turned: e.Turned}}
	}},
	{name: "numbers of inodes", part: func(e elsewhere) elsewhere { return elsewhere{World: kernel.World{Inodes: e.Inodes}} }},
	{name: "rights of the superuser, which a replay does not have", part: func(elsewhere) elsewhere { return elsewhere{World: kernel.World{OtherRights: true}} }},
	{name: "who owns files", part: func(elsewhere) elsewhere { return elsewhere{World: kernel.World{Owned: true}} }},
	{name: "the sandbox of replay (owners of files, file systems, attributes and limits of processes)", after: []string{"who owns files"}, part: func(elsewhere) elsewhere { return elsewhere{World: kernel.World{Sandbox: true}} }},
	{name: itMade, after: []string{"addresses"}, timed: true, part: func(e elsewhere) elsewhere { return elsewhere{World: kernel.World{Objects: e.Objects}} }},
	{name: "the seed of hashes", after: []string{itMade}, timed: true, part: func(e elsewhere) elsewhere { return elsewhere{hashes: e.hashes} }},
}

// mostExplained is how many test cases of a run are executed again for all causes: the tests of one function mostly share theirs. For so many more only the causes of those are tried.
var mostExplained = 50 // less in a test

const mostKnown = 200

// mostHere is how many instructions a test case is followed in the world of the run. Where that has taken so many, it is followed in another, where it may never end, for
// leastElsewhere and elsewhereShare times as many.
const (
	mostHere       = 300_000_000
	leastElsewhere = 50_000_000
	elsewhereShare = 4
)

// mostElsewhere is for a test case that has taken so many instructions in the world of the run; 0: that is not known.
func mostElsewhere(took uint64) uint64 {
	if took == 0 {
		return mostHere
	}
	return leastElsewhere + elsewhereShare*took
}

// Why a search for causes has not come to its end.
const (
	overTime = "the time was over"
	overLong = "elsewhere it takes much longer, so that it was not followed to its end"
	overMany = "it was looked for what others depend on only, since there are many"
)

// A why answers what replay asks about test cases of a run that disagree, about so many of them. It has one engine at a time.
type why struct {
	again
	mu             sync.Mutex
	asked, bounded int
	known          map[string]bool // the causes of others
	left           effort          // of searches for moments
}

// Causes and Bounds are what replay asks about test cases of a run; nil if there is nothing to ask.
func Causes(d *rundir.Reader) func(context.Context, testcase.Test, replay.Doubt) (cause, cut string) {
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
	return &why{again: again{sum: sum, seen: seen}, known: map[string]bool{}, left: newEffort()}
}

// in is test case t executed again in e, for so many instructions at most.
func (y *why) in(c context.Context, t testcase.Test, e elsewhere, most uint64) (testcase.Test, error) {
	got, _, err := y.at(e).follow(c, t.Inputs, &explore.Trail{Unlogged: true, Most: most})
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
	muted := false
	y.onEnd = func(_ *worker, s *state.State) { met, muted = s.Sys.Met(), s.Sys.Muted() }
	got, err := y.in(c, t, elsewhere{World: kernel.World{Bounds: kernel.Bounds{FileSize: l.FileSize, Disk: l.Disk, Tasks: l.Processes}}}, mostHere)
	y.onEnd = nil
	if err == nil && muted && y.sum.Target.Kind != testcase.Program { // a guest library tells natively through a file
		return "a file for what it has to tell, under the limits that the test has set"
	}
	if err != nil || t.Difference(got.Observation) == nil {
		return ""
	}
	return replay.Limits{FileSize: met.FileSize, Disk: met.Disk, Processes: met.Tasks}.String()
}

// confirm executes t again as in the run: what it asks about its inputs, how many instructions it takes, what of the schedule it depends on, and whether another moment raises doubt d. ok is false
// where the machine does not confirm the test case: that is worse.
func (y *why) confirm(c context.Context, t testcase.Test, d replay.Doubt) (asks []string, took uint64, unordered string, clock, ok bool) {
	a := y.again
	a.tracked, a.onEnd = true, func(_ *worker, s *state.State) { unordered = s.Sys.Unordered() }
	from, err := a.begin(c, t.Inputs)
	if err != nil {
		return nil, 0, "", false, false
	}
	defer from.end()
	same, _, err := from.follow(c, t.Inputs, &explore.Trail{Unlogged: true, Most: mostHere})
	if err != nil || t.Difference(same.Observation) != nil {
		return nil, 0, "", false, false
	}
	from.a.onEnd = nil
	asks, took = y.asks(same), from.took
	return asks, took, unordered, from.told && y.moment(c, from, t, asks, &y.left) >= d, true
}

// causes says what t depends on though it is no input; empty: on nothing that is known, and cut says why that is not all, if it is not.
func (y *why) causes(c context.Context, t testcase.Test, d replay.Doubt) (cause, cut string) {
	y.mu.Lock()
	defer y.mu.Unlock()
	if c.Err() != nil {
		return "", overTime
	}
	y.asked++
	brief := y.asked > mostExplained // only what is known of others is tried
	if brief && len(y.known) == 0 {
		return "", ""
	}
	if y.asked > mostExplained+mostKnown {
		return "", overMany
	}
	y.high = d == replay.OtherWay
	asks, took, unordered, clock, ok := y.confirm(c, t, d)
	switch {
	case !ok && c.Err() != nil:
		return "", overTime
	case !ok:
		return "", ""
	}
	var found []string
	if clock {
		found = append(found, causes[0].name)
	}
	shows := func(names []string) bool {
		return slices.ContainsFunc(found, func(name string) bool { return slices.Contains(names, name) })
	}
	r := trial{y: y, t: t, d: d, asks: asks, most: mostElsewhere(took)}
	r.still = sync.OnceValues(func() (testcase.Test, error) {
		return y.in(c, t, elsewhere{World: kernel.World{Still: true}}, r.most)
	})
	for _, e := range elsewheres { // what depends on a single bit may be the same in one of them
		for _, cause := range causes {
			if slices.Contains(found, cause.name) || shows(cause.after) || brief && !y.known[cause.name] {
				continue
			}
			r.clock = shows(times)
			if r.shows(c, cause.part(e), cause.timed) {
				found = append(found, cause.name)
			}
			if c.Err() != nil {
				return strings.Join(found, " and "), overTime
			}
		}
		if len(found) > 0 {
			break
		}
	}
	for _, name := range found {
		y.known[name] = true
	}
	if unordered != "" && d == replay.OtherEnd {
		found = append(found, "the schedule ("+unordered+")")
	}
	switch {
	case brief && len(found) == 0:
		cut = overMany
	case r.long:
		cut = overLong
	}
	return strings.Join(found, " and "), cut
}

// A trial is the search for the causes of one test case.
type trial struct {
	y     *why
	t     testcase.Test
	d     replay.Doubt
	asks  []string
	most  uint64                        // instructions in another world
	still func() (testcase.Test, error) // t where instructions take no time
	long  bool                          // they were too few in one
	clock bool                          // the clock, or what it takes, is among its causes
}

// shows reports whether the outcome depends on e. What changes how many instructions things take has to show where these take no time, too.
func (r *trial) shows(c context.Context, e elsewhere, timed bool) bool {
	return (r.clock && timed || r.differs(c, e, false)) && (!timed || r.differs(c, e, true))
}

// differs reports whether the test case does something else in e; if it is timed, where instructions take no time in either world.
func (r *trial) differs(c context.Context, e elsewhere, timed bool) bool {
	of, asks := r.t, r.asks
	if timed {
		still, err := r.still()
		if err != nil { // it waits for a time to come: nothing more is known
			return !r.clock
		}
		of, asks, e.Still = still, r.y.asks(still), true
	}
	got, err := r.y.in(c, r.t, e, r.most)
	r.long = r.long || errors.Is(err, explore.ErrMost)
	return c.Err() == nil && err == nil && r.y.doubt(of, got, asks) >= r.d
}
