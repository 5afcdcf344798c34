// Package explore is the loop that joins the machine, the searcher and the
// solver: it takes a state at the start of a program and yields every path it
// can finish within its limits.
//
//	x := explore.New(ctx, machine, explore.Config{Strategy: "dfs", OnPath: save})
//	res := x.Run(context.Background(), root)
//	if res.Exhausted() { ... }
//
// # The life of a path
//
// A state runs until the machine asks for a decision. The value that the state's own
// model gives is taken at once; a copy with that value excluded waits in the
// searcher, and only when it is picked the solver is asked whether another value exists.
// Which side runs first depends on the model; the set of paths does not.
package explore

import (
	"cmp"
	"context"
	"fmt"
	"hash/fnv"
	"io"
	"sync/atomic"
	"time"

	"symchef/internal/device"
	"symchef/internal/exec"
	"symchef/internal/expr"
	"symchef/internal/high"
	"symchef/internal/interp"
	"symchef/internal/kernel"
	"symchef/internal/search"
	"symchef/internal/solver"
	"symchef/internal/state"
	"symchef/internal/testcase"
	"symchef/internal/timeline"
)

// Solver is what the loop asks of the solver chain.
type Solver interface {
	Check(solver.Query) (solver.Result, expr.Assignment)
	Bounds(q solver.Query, value expr.Ref) (lo, hi uint64, res solver.Result)
}

// Config configures an exploration. Zero limits mean none.
type Config struct {
	Strategy string
	Seed     uint64
	// Complete: a high-level path is reported when all its low-level paths have ended. Require: High.
	Complete bool
	// Merge: where the ways of a branch meet again soon, one state goes on for both (see merge.go).
	Merge bool
	// Layouts are the object layouts of the language under test; nil for programs.
	Layouts map[string]*interp.Layout
	// References is the offset of the count of references in objects, 8 bytes; negative: it is not known.
	References int64
	// High follows the interpreted program; nil where its program counter is not known.
	High *high.Tracker
	// Steps: the guest library tells of the steps of the interpreted program.
	Steps bool
	// PathInstructions ends a path as a hang after that many instructions beyond the start of the exploration.
	PathInstructions uint64
	// Endless runs the real program on the paths of states, each for a while, and says how long it did not come to an end ("2s"); empty where it did,
	// or that is not known. nil: nobody can say.
	Endless  func([]*state.State) []string
	PathTime time.Duration // wall clock: a path that takes longer is a hang
	Slice    uint64        // instructions: the least slice of a path, see resting; 0: firstSlice
	Booting  bool          // the root has its begin before it
	// BootInstructions and PathTime bound what is before the begin; more is a usage error.
	BootInstructions uint64
	// Budget limits all workers of an exploration together; nil: no limit.
	Budget *Budget
	// Exchange passes jobs between workers; nil for a worker alone.
	Exchange Exchange
	// OnBegin is called with the first state that reports the end of its boot,
	// before it goes on, and the name of its test.
	OnBegin func(s *state.State, test string)
	// OnPath is called at the end of every path, with the state at its end; what it returns is called when the path
	// counts: at once, or, with Complete, when no low-level path is left that may be of the same high-level path.
	OnPath func(*state.State, End) (counts func())
	// OnDecision is called where a path decides at pc.
	OnDecision func(s *state.State, pc uint64)
	// OnPick is called between two paths; it may call Renew.
	OnPick func(*Explorer)
	// Halting reports whether the exploration is about to end: then queries under way give up. nil: it never is.
	Halting func() bool
	// Row is where it is written what goes on; nil: nobody looks.
	Row *timeline.Track
	// OnTick is called every few milliseconds of work; returning a reason stops the exploration.
	OnTick func(*Explorer) (stop string)
}

// EndKind is how a path ended.
type EndKind uint8

// The ends. All but Finished say that the path has no outcome of its own.
const (
	Finished    EndKind = iota // the program ended, or the guest asked to
	Unsupported                // What names what the machine cannot do
	Hang                       // the path's limit, a deadlock, or a loop that is proved to have no end
)

// End describes the end of a path.
type End struct {
	Kind   EndKind
	What   string
	Status kernel.Status // Finished without a report: how the process ended
}

// Budget is what an exploration may spend. Zero limits mean none.
type Budget struct {
	Instructions uint64 // spent on new parts of paths, see kernel.System.Spent
	Paths        int
	Vain         uint64 // on queries that are too hard, one after the other, in budgets of one query

	instructions atomic.Uint64
	spent        atomic.Uint64 // likewise, with what system calls cost
	paths        atomic.Int64
	vain         atomic.Uint64 // since the last answer, in sixteenths
}

// Retired returns how many guest instructions the explorers have executed since the test began.
func (b *Budget) Retired() uint64 { return b.instructions.Load() }

// Counts are the numbers of an exploration.
type Counts struct {
	Paths      int // ended
	Infeasible int // pending states found to have no input
	Pruned     int // paths ended by an assumption
	Forks      int
	Boot       uint64 // instructions retired before the test began
	Total      uint64 // instructions retired since
	Calls      uint64 // what system calls among them cost, in instructions: see kernel.System.Spent
	Replayed   uint64 // instructions retired to bring back states that were not kept
	Merges     int    // forks that were not made, because the ways of a branch were merged
	Merged     int    // branches within them that were merged
}

// Spent is what has been spent since the test began, in instructions.
func (c *Counts) Spent() uint64 { return c.Total + c.Calls }

// Explorer runs one exploration on one worker.
type Explorer struct {
	Counts Counts
	// Dropped counts, by reason, what makes the result incomplete.
	Dropped map[string]int
	// Unmerged counts, by reason, the branches that could not be merged, with Config.Merge.
	Unmerged map[string]int
	// Stopped says why the exploration ended before all was explored.
	Stopped string
	// Haste lets the limits be looked at more often.
	Haste bool
	// Usage is set when the guest library refused the test.
	Usage string
	// Listed is set when the guest library has told the names of the Tests instead of running one.
	Listed bool
	Tests  []string
	// Functions are those that it has told of before.
	Functions []device.Function

	ctx      *expr.Ctx
	m        *exec.Machine
	solv     Solver
	cfg      Config
	sr       search.Searcher
	complete *complete    // the same searcher, if there is Config.Complete
	root     *state.State // where paths begin; never run
	pending  map[uint64]*candidate
	cur      *state.State // the running state
	node     *search.Node // of cur
	at       high.ID      // where cur was picked
	from     search.Place // where cur was forked
	size     int          // of the high-level tree when cur was picked
	spent    uint64       // Counts.Spent until then, that of earlier turns left out
	turn     turn         // of cur
	rest     resting
	effort   int      // how often a query of cur was too hard before
	aside    []uint64 // candidates whose queries were too hard, see aside.go
	until    uint64   // instructions that a state that is brought back has retired; 0: none is
	gaveWay  bool     // cur waits
	trail    *Trail   // the path to follow; nil when exploring
	nextID   uint64
	base     uint64 // instructions retired before the exploration
	began    time.Time
	span     timeline.Span // of cur's turn
	spanned  Counts        // when it began
	anchors  anchors
}

// New returns an explorer.
func New(ctx *expr.Ctx, m *exec.Machine, s Solver, cfg Config) (*Explorer, error) {
	sr, err := search.New(cfg.Strategy, cfg.Seed)
	if err != nil {
		return nil, err
	}
	x := &Explorer{Dropped: map[string]int{}, Unmerged: map[string]int{}, ctx: ctx, m: m, solv: s, cfg: cfg, sr: sr,
		pending: map[uint64]*candidate{}, anchors: newAnchors(), rest: resting{least: cmp.Or(cfg.Slice, firstSlice)}}
	x.Track(cfg.High)
	if cfg.Complete {
		x.complete = newComplete(x, sr)
		x.sr = x.complete
	}
	return x, nil
}

// Track lets h follow the running state. Require: nothing was forked yet, and with Config.Complete it is Config.High.
func (x *Explorer) Track(h *high.Tracker) {
	x.cfg.High = h
	if g, ok := x.sr.(search.Guided); ok && h != nil {
		g.Guide(&h.Graph)
	}
}

// Pending returns how many states have not ended: those that wait and the running one.
func (x *Explorer) Pending() int {
	n := x.waits()
	if x.cur != nil {
		n++ // abandoned, or running
	}
	return n
}

// drop counts what is given up of the state at a place of the high-level tree.
func (x *Explorer) drop(at high.Place, reason string) {
	x.Dropped[reason]++
	if x.cfg.High != nil {
		x.cfg.High.Tree.Lose(at)
	}
}

// Waiting returns where the pending states are in the high-level tree: those that others have forked by the first number of their ID.
func (x *Explorer) Waiting() (l []high.Place, others []uint64) {
	for _, id := range x.ids() {
		if p := x.pending[id]; p.high == (high.Place{}) {
			others = append(others, p.place.Dynamic)
		} else {
			l = append(l, p.high)
		}
	}
	if x.cur != nil {
		l = append(l, x.cur.High.Place())
	}
	return l, others
}

// chunk is how many instructions run between two looks at the limits; hasty where memory is short: an instruction may write a page.
const (
	chunk = 1 << 20
	hasty = 1 << 14
)

// Run explores from root until nothing is left, a limit is reached or c is done.
func (x *Explorer) Run(c context.Context, root *state.State) {
	x.node = search.Child(nil)
	if !x.cfg.Booting {
		x.setRoot(root)
	}
	x.cur, x.span = root, x.cfg.Row.Span("path")
	if x.cfg.Booting {
		x.span = x.cfg.Row.Span("start")
	}
	x.loop(c)
}

// Work explores the jobs that other workers of the exchange give. Paths begin at root.
func (x *Explorer) Work(c context.Context, root *state.State) {
	x.setRoot(root)
	x.loop(c)
}

// setRoot keeps a copy of s as the beginning of all paths.
func (x *Explorer) setRoot(s *state.State) {
	x.base = s.Sys.Spent()
	x.root = s.Fork()
}

func (x *Explorer) loop(c context.Context) {
	x.began = time.Now()
	for {
		x.share()
		if x.cur == nil {
			if x.Usage != "" || x.Listed {
				return
			}
			if b := x.cfg.Budget; b != nil && b.Paths > 0 && int(b.paths.Load()) >= b.Paths && x.waits() > 0 {
				x.Stopped = "limit: --max-paths"
				return
			}
			if x.hopeless() && len(x.rest.ids) == 0 && x.waits() > 0 {
				x.Stopped = fmt.Sprintf("limit: %d times the budget of a query in vain, one after the other", x.cfg.Budget.Vain)
				return
			}
			if x.cfg.OnPick != nil {
				x.cfg.OnPick(x)
			}
			more := false
			x.span = x.cfg.Row.Span("path")
			if x.cur, more = x.pick(); !more && !x.take(c) {
				return
			}
			if x.cur == nil { // limits count where nothing is feasible, too
				if x.Stopped = x.stop(c); x.Stopped != "" {
					return
				}
				continue
			}
			x.began = time.Now().Add(-x.turn.took)
			x.spanned = x.Counts
		}
		if x.Stopped = x.stop(c); x.Stopped != "" {
			return
		}
		going := x.step(x.cur)
		switch {
		case x.gaveWay:
			x.charge()
		case !going:
			x.charge()
			x.learn()
		case x.overdue() && len(x.cur.Excl) == 0:
			x.lay(x.cur)
		default:
			continue
		}
		x.turned()
		x.cur, x.gaveWay = nil, false
	}
}

// turned writes what the turn of a path was that is over.
func (x *Explorer) turned() {
	if x.cfg.Row == nil {
		return
	}
	what, was, now := "rests", x.spanned, x.Counts
	if now.Paths > was.Paths {
		what = "ended"
	}
	x.span.End("what", what, "decisions", len(x.cur.Decisions()), "instructions", now.Total-was.Total, "executed again", now.Replayed-was.Replayed, "forks", now.Forks-was.Forks, "merges", now.Merges-was.Merges)
}

// learn tells the searcher what became of its choice.
func (x *Explorer) learn() {
	if l, ok := x.sr.(search.Learner); ok && x.cfg.High != nil {
		l.Learn(x.from, x.cfg.High.Tree.Size() > x.size, x.Counts.Spent()-x.spent)
	}
}

// stop says why the exploration ends before it is complete, if it does.
func (x *Explorer) stop(c context.Context) (why string) {
	if c.Err() != nil {
		return "interrupted"
	}
	if x.cfg.OnTick != nil {
		why = x.cfg.OnTick(x)
	}
	if b := x.cfg.Budget; why == "" && b != nil && b.Instructions > 0 && b.spent.Load() >= b.Instructions {
		why = "limit: --instructions"
	}
	return why
}

// step runs s until the next stop and handles it; false when the path has ended.
func (x *Explorer) step(s *state.State) bool {
	if s.Request != nil {
		return x.device(s)
	}
	before, spent := s.Sys.Retired, s.Sys.Spent()
	if x.cfg.High != nil && !x.cfg.Booting {
		x.cfg.High.Run(&s.High)
	}
	stop := x.run(s)
	x.retired(s.Sys.Retired-before, s.Sys.Spent()-spent)
	switch stop.Kind {
	case exec.Budget, exec.Bounds, exec.Decide: // it is on its way there, or there
	case exec.Device:
		s.Waits("a request")
	default:
		s.Waits("its end")
	}
	switch stop.Kind {
	case exec.Budget:
		if x.cfg.Booting {
			switch most := x.cfg.BootInstructions; {
			case most > 0 && x.Counts.Boot > most:
				x.Usage = fmt.Sprintf("importing and setting up the test takes more than %d instructions (more with --path-instructions)", most)
			case x.cfg.PathTime > 0 && time.Since(x.began) > x.cfg.PathTime:
				x.Usage = "importing and setting up the test took longer than " + x.cfg.PathTime.String() + " (--path-time)"
			}
			return x.Usage == ""
		}
		if x.trail != nil {
			return true
		}
		if most := x.cfg.PathInstructions; most > 0 && s.Sys.Spent()-x.base > most {
			x.drop(s.High.Place(), "limit: --path-instructions")
			x.end(s, End{Kind: Hang, What: fmt.Sprintf("%s%d instructions", testcase.Beyond, most)})
			return false
		}
		if x.cfg.PathTime > 0 && time.Since(x.began) > x.cfg.PathTime {
			x.drop(s.High.Place(), "limit: --path-time")
			x.end(s, End{Kind: Hang, What: "longer than " + x.cfg.PathTime.String()})
			return false
		}
		return true
	case exec.Met:
		x.end(s, End{Kind: Hang, What: stop.What})
	case exec.Decide:
		x.decide(s, stop.Decision, stop.PC, stop.Ref)
		return true
	case exec.Bounds:
		x.bounds(s, stop.Ref)
		return true
	case exec.Device:
		s.Request = &stop.Request
		return true
	case exec.Exited:
		x.end(s, End{Status: s.Sys.ExitStatus()})
	case exec.Deadlock:
		x.end(s, End{Kind: Hang, What: "deadlock: every task waits"})
	case exec.Unsupported:
		x.drop(s.High.Place(), "unsupported: "+stop.What)
		x.end(s, End{Kind: Unsupported, What: stop.What})
	}
	return false
}

// placeOf is where s forks at pc.
func (x *Explorer) placeOf(s *state.State, pc uint64) search.Place {
	p := search.Place{PC: pc, Chain: s.ChainAt(pc), Dynamic: s.High.ID[0], Static: s.High.Static, Stack: s.High.Stack}
	if h := x.cfg.High; h != nil {
		line := fnv.New64a()
		io.WriteString(line, h.Source(s.High.Last()))
		p.Opcode, p.Line = h.Opcode(&s.High), line.Sum64()
	}
	return p
}

// retired counts n instructions, and what was spent: these, and what system calls among them cost.
func (x *Explorer) retired(n, spent uint64) {
	if x.trail != nil {
		x.Counts.Replayed += n
		return
	}
	if x.cfg.Booting {
		x.Counts.Boot += n
		return
	}
	x.Counts.Total += n
	x.Counts.Calls += spent - n
	if x.cfg.Budget != nil {
		x.cfg.Budget.instructions.Add(n)
		x.cfg.Budget.spent.Add(spent)
	}
}

// decide fixes the value of r on s to what its model says and leaves the other values to a pending copy.
func (x *Explorer) decide(s *state.State, kind exec.DecisionKind, pc uint64, r expr.Ref) {
	if _, known := s.Facts.Fixed[r]; known {
		panic(fmt.Sprintf("explore: %v at %#x is decided twice", kind, pc))
	}
	if len(s.Excl) > 0 && s.Excl[0].R != r {
		s.Waits(fmt.Sprintf("%v at %#x", kind, pc))
	}
	if kind == exec.Branch && (x.cfg.Merge || s.Sys.Current().CPU.InCall()) && s.MayMerge(pc) && x.merge(s, pc, r) {
		return
	}
	if x.trail != nil {
		x.decideAs(s, kind, pc, r)
		return
	}
	if x.complete != nil && s.High.ID != x.at {
		x.giveWay(s, pc)
		return
	}
	v, w := x.ctx.Eval(r, s.Model), x.ctx.Width(r)
	here := x.node
	if w > 6 || uint64(len(s.Excl))+1 < 1<<w {
		x.Counts.Forks++
		if x.cfg.Row != nil {
			x.cfg.Row.Point("fork", "at", fmt.Sprintf("%#x", pc), "kind", kind.String(), "values", 1<<min(w, 62))
		}
		at := x.placeOf(s, pc)
		if w == 1 {
			at.Arm = 2 - v
		}
		p := candidateOf(s, here, at)
		p.exclude(r, v)
		if x.anchors.wants(s) {
			p.st = s.Fork()
			p.st.Exclude(kind, pc, r, v)
		}
		x.add(p)
	}
	x.record(s, kind, pc, r, v)
	x.node = search.Child(here)
}

// record is s.Record, and tells of it.
func (x *Explorer) record(s *state.State, kind exec.DecisionKind, pc uint64, r expr.Ref, v uint64) {
	if x.cfg.OnDecision != nil {
		x.cfg.OnDecision(s, pc)
	}
	s.Record(x.ctx, kind, pc, r, v)
}

// assume adds the condition r to s, asking for another model if the present
// one does not satisfy it; false when no input does and the path ends, or when that is too hard to say.
func (x *Explorer) assume(s *state.State, r expr.Ref) bool {
	if v, isConst := x.ctx.IsConst(r); isConst {
		return v != 0
	}
	if v, known := s.Facts.Fixed[r]; known {
		return v != 0
	}
	if x.ctx.Eval(r, s.Model) == 0 {
		conj := append(append(s.Conjuncts(x.ctx), s.Exclusions(x.ctx)...), r)
		res, model := x.solv.Check(solver.Query{Conjuncts: conj, Hint: s.Model, New: 1, Effort: x.effort})
		x.tried(x.effort, res)
		if res == solver.Unknown {
			if !x.laySide(s, conj) {
				x.drop(s.High.Place(), x.undecided("assumption", candidateOf(s, x.node, x.from), conj, x.effort))
			}
			return false
		}
		if res == solver.Unsat {
			return false
		}
		s.Rebase(x.ctx, model)
	}
	s.Assume(x.ctx, r, 1)
	return true
}

// bounds proves the range of r under the path condition and tells the machine.
// A range that cannot be proved is the whole one: the address will be decided.
func (x *Explorer) bounds(s *state.State, r expr.Ref) {
	if lo, hi, ok := x.trail.bound(s.Bounds, x.ctx.Hash(r)); ok {
		s.Prove(x.ctx, r, lo, hi)
		return
	}
	effort, open := x.trail.proof(s.Bounds)
	lo, hi, res := uint64(0), uint64(0), solver.Unknown
	if x.trail == nil && x.vain(halfVain) {
		effort = briefly
	}
	if !open {
		lo, hi, res = x.solv.Bounds(solver.Query{Conjuncts: s.Conjuncts(x.ctx), Hint: s.Model, New: 0, Effort: effort}, r)
	}
	if res != solver.Sat {
		if x.trail == nil && x.halting() {
			return // it was the end of the run that ended the question: it is asked again
		}
		if x.trail == nil {
			x.tried(effort, res)
		}
		lo, hi = 0, expr.Mask(x.ctx.Width(r))
	}
	s.Prove(x.ctx, r, lo, hi)
}

func (x *Explorer) end(s *state.State, e End) {
	if x.gaveWay {
		return // its assumption is set aside
	}
	if e.Kind != Hang { // a limit may cut it off anywhere
		s.Waits("its end")
	}
	if s.Report.Usage != "" {
		x.Usage = s.Report.Usage
		return
	}
	if s.Report.Listed {
		x.Listed, x.Tests, x.Functions = true, s.Report.Tests, s.Report.Functions
		return
	}
	if e.Kind == Finished {
		x.rest.longest = max(x.rest.longest, x.turn.used+x.Counts.Spent()-x.turn.from)
		if !x.cfg.Booting {
			x.rest.whole = max(x.rest.whole, s.Sys.Spent()-x.base)
		}
	}
	x.m.Beyond(s.Sys, &s.Facts)
	s.Sys.Stops()
	if why := s.Sys.Unordered(); why != "" {
		x.drop(s.High.Place(), why)
	}
	counts := func() {}
	if !s.Report.Pruned && x.cfg.OnPath != nil {
		counts = x.cfg.OnPath(s, e)
	}
	ended := func() {
		x.Counts.Paths++
		if x.cfg.Budget != nil {
			x.cfg.Budget.paths.Add(1)
		}
		if s.Report.Pruned {
			x.Counts.Pruned++
		}
		counts()
	}
	if x.complete == nil || x.trail != nil || s.Report.Pruned {
		ended()
		return
	}
	p := candidateOf(s, x.node, x.placeOf(s, 0))
	p.excl, p.ended = nil, ended
	x.add(p)
}
