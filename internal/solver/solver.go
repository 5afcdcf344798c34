// Package solver decides conjunctions of expressions.
//
//	s := solver.New(ctx, solver.Options{})
//	res, m := s.Check(solver.Query{Conjuncts: path, Hint: model, New: 1})
//	switch res {
//	case solver.Sat:     // m satisfies every conjunct
//	case solver.Unsat:   // no assignment does
//	case solver.Unknown: // the budget was spent: neither may be assumed
//	}
//
// # The chain
//
// A Chain is a stack of decorators, assembled in New. Each answers what it can
// and hands the rest, made smaller, to the next:
//
//	validate   evaluates every model before it is believed; panics on a wrong one
//	crosscheck asks an oracle about a sample of the answers (tests)
//	adversary  replaces models by random other ones (tests)
//	fold       splits ANDs, drops true and repeated conjuncts, finds c and not c
//	slice      keeps the conjuncts connected to the new ones by shared variables
//	models     tries the query's own model, then 32 recent ones
//	cache      exact earlier queries, and known contradictory subsets
//	domain     one variable of few values: intersects the conjuncts' sets of allowed values
//	residual   puts what conjuncts fix into the others, and decides part by part what is left
//	backend    all values of hard arithmetic, where they are very few; the incremental SAT instance; then a fresh one, or all
//	           values, where they are few; then the fallback
//
// # What the caller promises
//
// Hint satisfies all conjuncts but the last New ones. With a nil Hint nothing is
// promised and New is ignored.
//
// # What the caller gets
//
// A Sat answer's assignment satisfies all conjuncts, and equals Hint on every
// variable that shares no conjunct, directly or through others, with the new
// ones (the adversary excepted).
//
// # Determinism
//
// Sat and Unsat are facts: it does not matter which decorator found them.
// Unknown is decided by a fresh instance that sees what is left of the sliced
// conjuncts, a function of their set, in the order of their structural hashes, without hint, under a budget of
// propagations and gates: what the chain did before has no part in it. A decorator may
// however know the answer of a query that the fresh instance would give up on.
//
// Glossary: r, a request; m, a model; ctx, the arena of expressions; vars, the
// variables of a slice; supp, support, the variables an expression mentions.
package solver

import (
	"time"

	"symchef/internal/bitblast"
	"symchef/internal/expr"
)

// Result is an answer. The zero value is Unknown.
type Result uint8

// The answers. Unknown must not be treated as either of the others.
const (
	Unknown Result = iota
	Sat
	Unsat
)

func (r Result) String() string { return [...]string{"unknown", "sat", "unsat"}[r] }

// Query asks whether all conjuncts, expressions of one bit, can hold together.
type Query struct {
	Conjuncts []expr.Ref
	Hint      expr.Assignment // satisfies all but the New last conjuncts; may be nil
	New       int             // 0..len(Conjuncts); ignored when Hint is nil
	Effort    int             // the budget is four times as large for each, or a fourth where it is negative
}

// Solver decides queries.
type Solver interface {
	Check(q Query) (Result, expr.Assignment)
}

// Options configure a Chain. The zero value is the default.
type Options struct {
	// Budget is the work allowed to a query, in propagations; 0 means
	// DefaultBudget. It decides which queries are Unknown.
	Budget uint64
	// MaxGates bounds the circuits of a query, whatever its budget: each gate takes some 150 bytes while the query is asked. 0 means DefaultMaxGates.
	MaxGates int
	// ResetVars is the size of the SAT instance, in variables, at which it is
	// emptied; 0 means DefaultResetVars.
	ResetVars int
	// CacheEntries bounds the answers kept; 0 means DefaultCacheEntries. Twice as
	// many may be held while a generation is replaced.
	CacheEntries int
	// Fallback is the path of a solver of DIMACS files for queries beyond the
	// budget, "" for none. It is run with CaDiCaL's options.
	Fallback string
	// FallbackConflicts bounds the fallback's work; 0 means 200,000.
	FallbackConflicts int
	// Stop, once closed, makes every query that needs the back end Unknown: the run ends.
	Stop <-chan struct{}
	// ModelSeed, when not 0, makes every Sat answer come with a random model.
	ModelSeed uint64
	// ValidateAll evaluates models on all conjuncts every time, not only those
	// of the slice (the others keep the values under which they held). Every
	// 16th answer is evaluated on all conjuncts in any case.
	ValidateAll bool
	// CrossCheck, when set, is asked about every CrossEvery-th Unsat answer, and
	// must not say Sat.
	CrossCheck func(conjuncts []expr.Ref) Result
	CrossEvery int // 0 means 1
	// Observe, when set, is called with every query, its answer and how long that took.
	Observe func(Query, Result, time.Duration)
	// Without names decorators to leave out: "slice", "models", "cache",
	// "domain", "residual", "incremental", "tuples". For measurements and tests.
	Without map[string]bool
}

// Defaults of Options.
const (
	DefaultBudget       = 40_000_000 // about 4 s
	DefaultMaxGates     = 1 << 23
	DefaultResetVars    = 6000
	DefaultCacheEntries = 1 << 15
)

// Stats counts what a Chain did.
type Stats struct {
	Queries, Sat, Unsat, Unknown uint64

	// Answered without the back end, by decorator.
	Folded, Hint, Recent, Cached, Cores, Domains, Residual uint64

	Asked     uint64 // of the back end
	Backend   uint64 // answered by the incremental instance
	Tuples    uint64 // answered by trying all values
	Fresh     uint64 // asked of a fresh instance
	Fallbacks uint64 // asked of the fallback
	Resets    uint64 // of the incremental instance

	Time         time.Duration // in Check; reported, never acted on
	Propagations uint64
	Conflicts    uint64
}

// By names what has answered since before, of which s is the chain's later statistics.
func (s Stats) By(before Stats) string {
	for _, part := range []struct {
		name     string
		now, was uint64
	}{
		{"fallback", s.Fallbacks, before.Fallbacks}, {"fresh instance", s.Fresh, before.Fresh}, {"all values", s.Tuples, before.Tuples}, {"incremental instance", s.Backend, before.Backend},
		{"residual", s.Residual, before.Residual}, {"domain", s.Domains, before.Domains}, {"cache", s.Cached + s.Cores, before.Cached + before.Cores},
		{"models", s.Recent + s.Hint, before.Recent + before.Hint}, {"fold", s.Folded, before.Folded},
	} {
		if part.now > part.was {
			return part.name
		}
	}
	return "nobody"
}

// AnsweredWithoutBackend is the number of queries no SAT solver saw.
func (s *Stats) AnsweredWithoutBackend() uint64 {
	return s.Folded + s.Hint + s.Recent + s.Cached + s.Cores + s.Domains + s.Residual
}

// Plus returns the sums of a and b.
func (a Stats) Plus(b Stats) Stats {
	a.Queries, a.Sat, a.Unsat, a.Unknown = a.Queries+b.Queries, a.Sat+b.Sat, a.Unsat+b.Unsat, a.Unknown+b.Unknown
	a.Folded, a.Hint, a.Recent = a.Folded+b.Folded, a.Hint+b.Hint, a.Recent+b.Recent
	a.Cached, a.Cores, a.Domains, a.Residual = a.Cached+b.Cached, a.Cores+b.Cores, a.Domains+b.Domains, a.Residual+b.Residual
	a.Backend, a.Fresh, a.Fallbacks, a.Resets = a.Backend+b.Backend, a.Fresh+b.Fresh, a.Fallbacks+b.Fallbacks, a.Resets+b.Resets
	a.Asked, a.Tuples = a.Asked+b.Asked, a.Tuples+b.Tuples
	a.Time, a.Propagations, a.Conflicts = a.Time+b.Time, a.Propagations+b.Propagations, a.Conflicts+b.Conflicts
	return a
}

// request is a query on its way down the chain.
type request struct {
	conj  []expr.Ref      // distinct and not constant, in path order
	fresh int             // the last fresh ones are not known to hold under hint
	hint  expr.Assignment // nil: nothing is known
	vars  []expr.VarID    // set by slice: the variables of conj

	model expr.Assignment // answer, when Sat: a full assignment, owned by the caller
	core  []expr.Ref      // answer, when Unsat: conjuncts that contradict each other; nil: all
}

// stage is one decorator.
type stage interface {
	check(r *request) Result
}

// Chain is a Solver made of decorators. It belongs to one goroutine, that of
// its Ctx.
type Chain struct {
	ctx   *expr.Ctx
	opts  Options
	top   stage
	supp  *supports
	stats Stats
	back  *backend
	dom   *domain
	adv   *adversary
	gen   uint32 // of mark
	mark  []uint32

	budget uint64 // of the present query, in propagations
	polled int    // nodes visited since the last look at Options.Stop
	ended  bool   // Options.Stop has ended a query in its middle

	bounded *residual // what Bounds was asked about last
	bounds  bounds
}

// New assembles the chain over ctx.
func New(ctx *expr.Ctx, o Options) *Chain {
	if o.Budget == 0 {
		o.Budget = DefaultBudget
	}
	if o.MaxGates == 0 {
		o.MaxGates = DefaultMaxGates
	}
	if o.ResetVars == 0 {
		o.ResetVars = DefaultResetVars
	}
	if o.CacheEntries == 0 {
		o.CacheEntries = DefaultCacheEntries
	}
	if o.FallbackConflicts == 0 {
		o.FallbackConflicts = 200_000
	}
	c := &Chain{ctx: ctx, opts: o, supp: newSupports(ctx), budget: o.Budget}
	c.back = newBackend(c)
	var s stage = c.back
	add := func(name string, d stage) {
		if !o.Without[name] {
			s = d
		}
	}
	add("residual", &residual{chain: c, next: s, parts: slice{chain: c}})
	c.bounded = &residual{chain: c, parts: slice{chain: c}}
	c.dom = newDomain(c, s)
	add("domain", c.dom)
	add("cache", newCache(c, s))
	add("models", &models{chain: c, next: s})
	s = &slice{chain: c, next: s}
	s = &fold{chain: c, next: s}
	if o.ModelSeed != 0 {
		c.adv = newAdversary(c, s)
		s = c.adv
	}
	if o.CrossCheck != nil {
		s = &crosscheck{chain: c, next: s}
	}
	c.top = &validate{chain: c, next: s}
	return c
}

// Check decides q. The assignment, set when the answer is Sat, belongs to the
// caller.
func (c *Chain) Check(q Query) (Result, expr.Assignment) {
	start := time.Now()
	r := request{conj: q.Conjuncts, fresh: min(q.New, len(q.Conjuncts)), hint: q.Hint}
	if q.Hint == nil {
		r.fresh = len(q.Conjuncts)
	}
	c.budget = c.budgetFor(q.Effort)
	res := c.ask(func() Result { return c.top.check(&r) })
	c.stats.Queries++
	took := time.Since(start)
	c.stats.Time += took
	if c.opts.Observe != nil {
		c.opts.Observe(q, res, took)
	}
	switch res {
	case Sat:
		c.stats.Sat++
		return Sat, r.model
	case Unsat:
		c.stats.Unsat++
	default:
		c.stats.Unknown++
	}
	return res, nil
}

// budgetFor is what a query of this effort may take.
func (c *Chain) budgetFor(effort int) uint64 {
	if effort < 0 {
		return max(c.opts.Budget>>(-2*effort), 1)
	}
	return c.opts.Budget << (2 * min(effort, maxEffort))
}

// maxEffort is the greatest Query.Effort that matters.
const maxEffort = 8

// ask does what asks the chain. Once Options.Stop has ended a query, in whatever decorator, all are Unknown.
func (c *Chain) ask(do func() Result) (res Result) {
	if c.ended {
		return Unknown
	}
	defer func() {
		if p := recover(); p != nil {
			if _, is := p.(stopped); !is {
				panic(p)
			}
			c.ended, res = true, Unknown
		}
	}()
	return do()
}

// stopped is the panic that ends a query.
type stopped struct{}

// pollEvery is how many nodes of expressions are visited between two looks at Options.Stop: some milliseconds.
const pollEvery = 1 << 16

// visit notes that n nodes of expressions are visited, and ends the query when the run ends. What takes time in proportion to the size of expressions
// calls it.
func (c *Chain) visit(n int) {
	if c.polled += n; c.polled >= pollEvery {
		c.poll()
	}
}

func (c *Chain) poll() {
	c.polled = 0
	select {
	case <-c.opts.Stop:
		panic(stopped{})
	default:
	}
}

// gateCost is how many propagations of the budget a gate stands for.
const gateCost = 16

// effort is what circuits may take of the present query.
func (c *Chain) effort() bitblast.Effort {
	return bitblast.Effort{Gates: int(min(max(c.budget/gateCost, leastGates), uint64(c.opts.MaxGates))), Stop: c.opts.Stop}
}

// leastGates a query always may have, however small its budget is.
const leastGates = 1 << 16

// Stats returns the counts so far.
func (c *Chain) Stats() Stats {
	s := c.stats
	s.Propagations, s.Conflicts = c.back.work()
	return s
}

// newMark starts a new marking of expressions and returns its number.
func (c *Chain) newMark() uint32 {
	if c.ctx.Len() >= len(c.mark) {
		c.growMark()
	}
	c.gen++
	if c.gen == 0 {
		clear(c.mark)
		c.gen = 1
	}
	return c.gen
}

func (c *Chain) growMark() {
	n := c.ctx.Len() + 1
	c.mark = append(c.mark, make([]uint32, n+n/2-len(c.mark))...)
}

// base returns a copy of hint long enough for every variable.
func (c *Chain) base(hint expr.Assignment) expr.Assignment {
	m := make(expr.Assignment, max(c.ctx.NumVars(), len(hint)))
	copy(m, hint)
	return m
}
