package session

import (
	"context"
	"hash/fnv"
	"slices"
	"time"

	"symchef/internal/explore"
	"symchef/internal/expr"
	"symchef/internal/kernel"
	"symchef/internal/replay"
	"symchef/internal/solver"
	"symchef/internal/state"
	"symchef/internal/testcase"
)

// What a test case does on another day may be something else, whatever day that is: no choice of days finds it. So where a path has been told what
// moment it is, how much later it could be is a variable (kernel.System.MoveTo), within a century. The decisions and the output that depend on it are known then. Moments at
// which one is another come from a list of those that programs ask for, which costs an evaluation each, and from the solver. There the test case is executed
// as well, with its inputs, and its decisions then are looked at in turn: this is an exploration with one variable. Where the solver has answered all questions, the outcome is the same at
// every moment. Where it gives up, or has done so before in the run, many moments that agree are taken as the answer (see spread), which is no proof: a change that holds for few moments may be missed. What is not
// decided for its effort is undecided; a path that is too long for what is left is not looked at, as what is beyond mostDoubted. Parts of a second are not looked at, nor waits that end at a date.

// What a search takes for one test case: so many moments at which it is executed; for one question: so many moments, of which so many have to come there.
const (
	mostMoments = 60
	mostSpread  = 2048
	leastSpread = 256
	askedEffort = -6 // of questions to the solver: a 4096th of its budget
)

// effort is what searches may still take. All of a run share one, so that they end within seconds, and what they find depends on no clock.
type effort struct {
	instructions uint64
	terms        uint64 // that are evaluated, and perPart for each part in a question
	queries      uint64 // to the solver, perUnknown for each that it cannot answer
	vain         int    // questions without an answer, after which none is asked
}

// What counts for more than one.
const (
	perPart    = 100
	perUnknown = 10
)

// newEffort is that of a run.
func newEffort() effort {
	return effort{instructions: 60_000_000, terms: 100_000_000, queries: 1000, vain: 1}
}

// spent: a search has to end.
func (e *effort) spent() bool { return e.instructions == 0 || e.terms == 0 || e.queries == 0 }

// take takes n of what is left of one of them.
func take(left *uint64, n uint64) { *left -= min(*left, n) }

// century is how much later a moment may be, in seconds.
const century = 3_155_760_000

// dates are moments that programs ask for, in seconds since kernel.Epoch, and steps what leads from one moment to others: days of the week and of the month, hours, minutes, each bit.
var dates, steps = func() (dates, steps []uint64) {
	const hour, day = 60 * 60, 24 * 60 * 60
	on := func(y, m, d, h int) {
		dates = append(dates, uint64(time.Date(y, time.Month(m), d, h, 14, 8, 0, time.UTC).Unix()-kernel.Epoch/1e9))
	}
	for _, y := range []int{2030, 2038, 2050, 2100} {
		on(y, 1, 19, 3)
	}
	on(2024, 2, 29, 12)
	for m := range 12 {
		on(2024, m+1, 1, 0)
		on(2024, m+1, 28, 23)
	}
	for y := 2025; y < 2123; y++ {
		on(y, 7, 1, 12)
	}
	for n := range uint64(60) {
		steps = append(steps, n%7*day, n%24*hour, n*60, n, n%31*day)
	}
	for k := range 32 {
		steps = append(steps, 1<<k)
	}
	return dates, steps
}()

// an outlook is the path of a test case at one moment.
type outlook struct {
	later  expr.Ref // the variable: how many seconds later it is
	model  expr.Assignment
	parts  []state.Constraint // what depends on it, in order, with its value there: decisions, then bytes of output
	before []uint64           // for each part: a digest of all before it
}

// outlookOf is what s, at its end, has asked of later.
func outlookOf(ctx *expr.Ctx, s *state.State, later expr.Ref) outlook {
	v := outlook{later: later, model: s.Model}
	id := ctx.VarOf(later)
	add := func(r expr.Ref, value uint64) {
		if r != 0 && ctx.SupportSet(r).Has(id) {
			v.parts = append(v.parts, state.Constraint{R: r, V: value})
		}
	}
	var path []*state.Constraint
	for c := s.Path; c != nil; c = c.Parent {
		path = append(path, c)
	}
	slices.Reverse(path)
	for _, c := range path {
		add(c.R, c.V)
	}
	out, err := s.Sys.Stdout(), s.Sys.Stderr()
	texts := []state.Text{state.Text(out), state.Text(err), s.Report.Msg}
	if s.Report.Returned != nil {
		texts = append(texts, *s.Report.Returned)
	}
	for _, t := range texts {
		for _, r := range t.Sym {
			if r != 0 {
				add(r, ctx.Eval(r, s.Model))
			}
		}
	}
	h := fnv.New64a()
	for _, p := range v.parts {
		v.before = append(v.before, h.Sum64())
		for _, n := range [2]uint64{uint64(p.R), p.V} {
			for ; n > 0; n >>= 8 {
				h.Write([]byte{byte(n)})
			}
			h.Write([]byte{0})
		}
	}
	return v
}

// at is the model of v, but for the moment.
func (v outlook) at(ctx *expr.Ctx, seconds uint64) expr.Assignment {
	m := slices.Clone(v.model)
	m[ctx.VarOf(v.later)] = seconds
	return m
}

// arm is one value of a part, after all that came before it.
type arm struct{ before, value uint64 }

// waiting is a moment at which the test case is to be executed. How many parts are left where it comes to another value says how near the end of the path that is: what comes last is asked by the
// program rather than by functions that make a date of it. So every other time that comes first, and else what has waited longest.
type waiting struct {
	seconds uint64
	left    int
}

// A question is whether part of outlook can have a value that is not known.
type question struct {
	outlook outlook
	part    int
}

// moments is a search for moments at which a test case does something else.
type moments struct {
	ctx       *expr.Ctx
	chain     *solver.Chain
	known     map[arm]bool        // executed, or going to be
	values    map[uint64][]uint64 // the values of known, by before
	closed    map[uint64]bool     // there are no more values
	wait      []waiting
	turn      int
	questions []question // to the solver; the last one comes first
	left      *effort
	evaluated uint64       // terms that were, when left was reckoned last
	solved    solver.Stats // likewise
	open      bool         // something was not decided
}

// spent takes what was done from what is left, and reports whether that was all.
func (m *moments) spent() bool {
	n, s := m.ctx.Evaluated(), m.chain.Stats()
	take(&m.left.terms, n-m.evaluated)
	take(&m.left.queries, uint64(s.Queries-m.solved.Queries)+perUnknown*uint64(s.Unknown-m.solved.Unknown))
	m.evaluated, m.solved = n, s
	return m.left.spent()
}

// take notes an arm; it reports whether it is new.
func (m *moments) take(before, value uint64) bool {
	a := arm{before, value}
	if m.known[a] {
		return false
	}
	m.known[a] = true
	m.values[before] = append(m.values[before], value)
	return true
}

// look adds moments at which something of v is another.
func (m *moments) look(v outlook) {
	for i, p := range v.parts {
		m.take(v.before[i], p.V)
	}
	now := v.model[m.ctx.VarOf(v.later)]
	try := func(seconds uint64) {
		if len(v.parts) == 0 || seconds > century || m.spent() {
			return
		}
		model := v.at(m.ctx, seconds)
		m.ctx.NewEval()
		for i, p := range v.parts {
			if n := m.ctx.EvalMemo(p.R, model); n != p.V {
				if m.take(v.before[i], n) {
					m.wait = append(m.wait, waiting{seconds, len(v.parts) - i})
				}
				break
			}
		}
	}
	for _, d := range dates {
		try(d)
	}
	for _, d := range steps {
		try(now + d)
	}
	for i := range v.parts {
		m.questions = append(m.questions, question{v, i})
	}
}

// next returns the next moment at which the test case is to be executed; ok is false where there is none, or no effort left.
func (m *moments) next(c context.Context) (seconds uint64, ok bool) {
	for len(m.wait) == 0 && len(m.questions) > 0 {
		if m.spent() || c.Err() != nil {
			m.open = true
			return 0, false
		}
		last := len(m.questions) - 1
		q := m.questions[last]
		m.questions = m.questions[:last]
		m.ask(q.outlook, q.part)
	}
	if len(m.wait) == 0 {
		return 0, false
	}
	first := 0
	if m.turn++; m.turn%2 == 0 {
		for i, w := range m.wait {
			if w.left < m.wait[first].left {
				first = i
			}
		}
	}
	seconds = m.wait[first].seconds
	m.wait = slices.Delete(m.wait, first, first+1)
	return seconds, true
}

// ask asks the solver for a moment at which part i of v, with all before it as it is, has a value that is not known yet.
func (m *moments) ask(v outlook, i int) {
	p, before, ctx := v.parts[i], v.before[i], m.ctx
	w := ctx.Width(p.R)
	if m.closed[before] || w < 6 && len(m.values[before]) == 1<<w {
		return
	}
	take(&m.left.terms, perPart*uint64(i+1+len(m.values[before])))
	other := ctx.Const(1, 1)
	for _, n := range m.values[before] {
		other = ctx.And(other, ctx.Ne(p.R, ctx.Const(n, w)))
	}
	conj := []expr.Ref{ctx.Ule(v.later, ctx.Const(century, 32))}
	inputs := map[expr.VarID]bool{ctx.VarOf(v.later): true}
	for j := range i + 1 {
		ctx.Support(v.parts[j].R, func(id expr.VarID) {
			if !inputs[id] {
				inputs[id] = true
				conj = append(conj, ctx.Eq(ctx.VarRef(id), ctx.Const(v.model[id], ctx.VarWidth(id))))
			}
		})
		if j < i {
			conj = append(conj, v.parts[j].Cond(ctx))
		}
	}
	res, model := solver.Unknown, expr.Assignment(nil)
	if m.left.vain > 0 {
		res, model = m.chain.Check(solver.Query{Conjuncts: append(conj, other), Hint: v.model, New: 1, Effort: askedEffort})
	}
	switch res {
	case solver.Unsat:
		m.closed[before] = true
	case solver.Sat:
		m.questions = append(m.questions, question{v, i}) // there may be more
		if m.take(before, ctx.Eval(p.R, model)) {
			m.wait = append(m.wait, waiting{model[ctx.VarOf(v.later)], len(v.parts) - i})
		}
	default:
		m.left.vain = max(m.left.vain-1, 0)
		m.spread(v, i)
	}
}

// spread looks for what ask does among many moments, half of them anywhere in the century, half of them nearer and nearer to that of v. Where enough of them come to part i and all agree there,
// the question is taken as answered, which is likely, not proved: that a number of nanoseconds is divided by a thousand million again is too hard for the solver, and a thing that interpreters do.
func (m *moments) spread(v outlook, i int) {
	p, before := v.parts[i], v.before[i]
	now, z, came := v.model[m.ctx.VarOf(v.later)], uint64(0), 0
	for n := range uint64(mostSpread) {
		z = z*6364136223846793005 + 1442695040888963407 // Knuth's
		seconds := z >> 32
		if n%2 == 1 {
			seconds = now + seconds>>(n/2%32)
		}
		if seconds > century {
			continue
		}
		if m.spent() {
			break
		}
		model := v.at(m.ctx, seconds)
		m.ctx.NewEval()
		if !slices.ContainsFunc(v.parts[:i], func(q state.Constraint) bool { return m.ctx.EvalMemo(q.R, model) != q.V }) {
			came++
			if m.take(before, m.ctx.EvalMemo(p.R, model)) {
				m.wait = append(m.wait, waiting{seconds, len(v.parts) - i})
				m.questions = append(m.questions, question{v, i})
				return
			}
		}
	}
	m.closed[before] = came >= leastSpread
	m.open = m.open || came < leastSpread
}

// moment says what t, which asks about its inputs, does at other moments. from is at the beginning of t.
func (a again) moment(c context.Context, from *beginning, t testcase.Test, asks []string, left *effort) (worst replay.Doubt) {
	m := moments{ctx: from.w.ctx, chain: from.w.chain, known: map[arm]bool{}, values: map[uint64][]uint64{}, closed: map[uint64]bool{}, wait: []waiting{{}}, left: left}
	m.evaluated, m.solved = m.ctx.Evaluated(), m.chain.Stats()
	began := from.took
	follow := func(trail *explore.Trail) (testcase.Test, bool) {
		from.took = 0
		trail.Unlogged, trail.Most = true, max(1, min(mostHere, left.instructions))
		got, ended, err := from.follow(c, t.Inputs, trail)
		take(&left.instructions, from.took)
		if err != nil || !ended {
			m.open = true
			return got, false
		}
		return got, true
	}
	defer func() { from.later, from.view, from.took = 0, nil, began }()
	for n := 0; worst != replay.OtherEnd; n++ {
		seconds, more := m.next(c)
		if !more {
			break
		}
		if n == 0 && left.instructions == 0 {
			return replay.NoDoubt // as what is beyond mostDoubted
		}
		if n == mostMoments || m.spent() || c.Err() != nil {
			m.open = true
			break
		}
		from.later, from.view = seconds, nil
		if n > 0 {
			got, ended := follow(&explore.Trail{Concrete: !a.compares()})
			if !ended {
				continue
			}
			if worst = max(worst, a.doubt(t, got, asks)); worst == replay.OtherEnd {
				break
			}
		}
		from.view = new(outlook)
		if _, ended := follow(&explore.Trail{Concrete: true, Briefly: true}); ended {
			m.look(*from.view)
		} else if n == 0 && c.Err() == nil { // too long
			return replay.NoDoubt
		}
	}
	if m.open || m.spent() && len(m.wait)+len(m.questions) > 0 {
		worst = max(worst, replay.Undecided)
	}
	return worst
}
