package session

import (
	"context"
	"fmt"
	"slices"
	"time"

	"symchef/internal/explore"
	"symchef/internal/guest"
	"symchef/internal/interp"
	"symchef/internal/kernel"
	"symchef/internal/replay"
	"symchef/internal/rundir"
	"symchef/internal/testcase"
)

// A test case that agrees natively may have had luck: half of all random numbers are below a half. So it is executed again in the machine,
// elsewhere, where the clock, process ids, random numbers, addresses, hashes, numbers and orders of files and the host are all others. If it
// does something else there, causes says what it depends on.

// elsewhere is a place where something that is no input is another; the zero value is that of the run.
type elsewhere struct {
	kernel.World
	seed   uint64 // added to the run's
	hashes int    // not 0: variables of the language that seed something are others, and models with a seed of their own are left out
}

// elsewheres are several. What depends on a single bit is the same in half of all other places, so two leave none out: process ids and numbers of files are moved by
// 0101... and 1010... in binary in the first two, addresses in the last two. Where subtracting the first does not change a bit, since that is 0 in it or 1 with
// something borrowed by the bits below, subtracting the second does (TestEveryBit). Random numbers have all other bits in the first. The last two move
// what is on the stack by less than a page, as Linux does; there only the end is compared: functions of strings go other ways for other alignments, whatever
// the program asks. Moments have a search of their own, see moments. The pace of the clock is that of the run: many a program waits for another, but not for long. What
// is told of processor time is moved in the same way, in microseconds and in nanoseconds, by less than a second; so are differences of two times, by how long it takes to ask.
var elsewheres = []elsewhere{
	{kernel.World{Later: kernel.Time(417*24*time.Hour + 13*time.Hour + 29*time.Minute + 31*time.Second + 777_777_777), Delay: 85_005, Taken: 349_525_005, Used: 0x1555, Objects: 341, PIDs: 0x155555, Lower: 0x1357000, Inverse: true, Elsewhere: true, Inodes: 0x55555555, Backwards: true, OtherRights: true}, 0, 1},
	{kernel.World{Later: kernel.Time(1009*24*time.Hour + 5*time.Hour + 17*time.Minute + 42*time.Second + 333_333_332), Delay: 170_002, Taken: 699_050_002, Used: 0x2aaa, Objects: 682, PIDs: 0x2aaaaa, Lower: 0x2469000, Elsewhere: true, Inodes: 0xaaaaaaaa, Backwards: true, Turned: true, Beyond: true, Network: true, OtherRights: true}, 0xd1b54a32d192ed03, 2},
	{kernel.World{Later: kernel.Time(211*24*time.Hour + 20*time.Hour + 48*time.Minute + 6*time.Second + 271_828_182), Delay: 0x15555, Taken: 0x15555555, Used: 0x155, Objects: 341, PIDs: 1619, Lower: 0x155555550, Elsewhere: true, Inodes: 0x31337, Backwards: true, OtherRights: true}, 0x8cb92ba72f3d8dd7, 3},
	{kernel.World{Later: kernel.Time(642*24*time.Hour + 8*time.Hour + 3*time.Minute + 55*time.Second + 141_592_653), Delay: 0x2aaaa, Taken: 0x2aaaaaaa, Used: 0x2aa, Objects: 682, PIDs: 4242, Lower: 0x2aaaaaaa0, Elsewhere: true, Inodes: 0x7654320, Level: true, Turned: true, OtherRights: true}, 0x3c6ef372fe94f82a, 4},
}

// lowered is e with the addresses of the i-th place, in whole pages: ways of the interpreted program do not depend on how the machine reads tables.
func (e elsewhere) lowered(i int) elsewhere {
	e.Lower = elsewheres[i].Lower &^ (guest.PageSize - 1)
	return e
}

// leveled is e on a processor of the other level. What a program asks goes other ways there, what the program of an interpreter asks does not.
func (e elsewhere) leveled() elsewhere {
	e.Level = true
	return e
}

// sameHashes is e, but for the hashes.
func (e elsewhere) sameHashes() elsewhere {
	e.hashes = 0
	return e
}

// How much of a run is executed elsewhere: so many test cases, first of all those that have asked what none before them has, as long as those before have not taken more instructions than
// this in the same place, or than askInstructions where inputs of a language are variables. What is left and has asked what none of these has is Unseen. A language, whose interpreter takes its time to start, has two places only. In the second one hashes are those of the run: with others
// every table is searched another way.
const (
	doubtInstructions = 300_000_000
	askInstructions   = 50_000_000
)

var mostDoubted = 200 // less in a test

// seeded are the families of models that have a seed of their own: the interpreter's would not show.
var seeded = []string{"hash"}

// at is a in another place.
func (a again) at(e elsewhere) again {
	a.world, a.seed = e.World, a.sum.Seed+e.seed
	if g := &a.sum.Target; e.hashes > 0 && g.Kind != testcase.Program {
		g.Models = slices.DeleteFunc(slices.Clone(g.Models), func(family string) bool { return slices.Contains(seeded, family) })
		if d, ok := interp.ForFile(g.Path); ok {
			g.Env = d.Reseed(g.Env, e.hashes)
		}
	}
	return a
}

// Doubts returns what replay asks about the test cases of a run that agree; nil if there is nothing to ask.
func Doubts(d *rundir.Reader) func(context.Context, []testcase.Test) []replay.Doubt {
	seen, err := pictureOf(d)
	if err != nil {
		return nil // they would meet something else
	}
	return again{sum: d.Summary, seen: seen}.doubts
}

// doubts says which tests do something else elsewhere. One place after the other has an engine.
func (a again) doubts(c context.Context, tests []testcase.Test) []replay.Doubt {
	out := make([]replay.Doubt, len(tests))
	asks := make([][]string, len(tests))
	places := elsewheres
	if a.sum.Target.Kind != testcase.Program {
		places = []elsewhere{elsewheres[0].lowered(2), elsewheres[1].lowered(3).sameHashes().leveled()}
	}
	own := a
	own.high = !a.compares()
	left := newEffort()
	took, looked := make([]uint64, len(tests)), make([]bool, len(tests))
	own.each(c, tests, out, took, func(i int, got testcase.Test, from *beginning) {
		if asks[i] = a.asks(got); from.told {
			out[i] = own.moment(c, from, tests[i], asks[i], &left)
		}
	})
	for _, e := range places {
		at := a.at(e)
		at.high = own.high && e.hashes == 0
		at.each(c, tests, out, took, func(i int, got testcase.Test, _ *beginning) {
			looked[i], out[i] = true, max(out[i], at.doubt(tests[i], got, asks[i]))
		})
	}
	seen := map[string]bool{}
	for i, t := range tests {
		for _, n := range t.Asked {
			seen[n] = seen[n] || looked[i]
		}
	}
	for i, t := range tests {
		if doubtable(t) && !looked[i] && (c.Err() != nil || slices.ContainsFunc(t.Asked, func(n string) bool { return !seen[n] })) {
			out[i] = max(out[i], replay.Unseen)
		}
	}
	return out
}

// doubtable reports whether what t does elsewhere says anything.
func doubtable(t testcase.Test) bool { return t.Outcome.Kind != testcase.Hang && t.EndedBy == "" }

// askedFirst are the numbers of tests: first those that have asked what none before has.
func askedFirst(tests []testcase.Test) []int {
	seen := map[string]bool{}
	var first, others []int
	for i, t := range tests {
		before := len(seen)
		for _, n := range t.Asked {
			seen[n] = true
		}
		if i == 0 || len(seen) > before {
			first = append(first, i)
		} else {
			others = append(others, i)
		}
	}
	return append(first, others...)
}

// doubt is what got, which is t executed at a, says of t, which asks about its inputs; nil: that is not known. In a language the program's path has to be
// another, too: what an interpreter asks depends on where its objects are.
func (a again) doubt(t, got testcase.Test, asks []string) replay.Doubt {
	switch {
	case t.Difference(got.Observation) != nil:
		return replay.OtherEnd
	case a.compares() && asks != nil && a.world.Lower%guest.PageSize == 0 && (t.Group == "" || t.Group != got.Group) && !slices.Equal(asks, a.asks(got)):
		return replay.OtherWay
	}
	return replay.NoDoubt
}

// compares: what is asked at a can be compared with what is asked in the run.
func (a again) compares() bool { return a.high || a.sum.Target.Kind == testcase.Program }

// asks is what a path asks about its inputs, in whatever order and not nil: the places in the interpreted program where it does, or each branch of a
// program by where it is in its page, which is where it is loaded anywhere. Addresses and sizes that are decided are the machine's: how many depends on where tables are.
func (a again) asks(t testcase.Test) []string {
	list := []string{}
	for _, d := range t.Decisions {
		switch {
		case a.sum.Target.Kind != testcase.Program:
			list = append(list, d.Source)
		case d.Kind == "branch":
			list = append(list, fmt.Sprint(d.PC%guest.PageSize, d.Value))
		}
	}
	slices.Sort(list)
	if a.sum.Target.Kind != testcase.Program {
		list = slices.Compact(list) // how often is a matter of tables and numbers
	}
	return list
}

// each calls f with what tests are at a, but for those of which out knows all. took is how many instructions each has taken in the world of the run; 0: this is that world.
func (a again) each(c context.Context, tests []testcase.Test, out []replay.Doubt, took []uint64, f func(i int, got testcase.Test, from *beginning)) {
	var from *beginning
	asked, spent, most := 0, uint64(0), uint64(doubtInstructions)
	if a.high {
		most = askInstructions
	}
	for _, i := range askedFirst(tests) {
		t := tests[i]
		if out[i] == replay.OtherEnd || !doubtable(t) {
			continue
		}
		if asked == mostDoubted || spent > most || c.Err() != nil {
			break
		}
		asked++
		if from == nil {
			var err error
			if from, err = a.begin(c, t.Inputs); err != nil {
				return
			}
			defer from.end()
		}
		got, ended, err := from.follow(c, t.Inputs, &explore.Trail{Unlogged: true, Concrete: !a.compares(), Most: mostElsewhere(took[i])})
		if err == nil && ended {
			f(i, got, from)
		}
		if took[i] == 0 {
			took[i] = from.took
		}
		spent, from.took = spent+from.took, 0
		if a.sum.Target.Kind == testcase.Program { // whose widths are those of its inputs
			from = nil
		}
	}
}
