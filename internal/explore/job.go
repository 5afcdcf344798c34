package explore

import (
	"context"

	"symchef/internal/expr"
	"symchef/internal/state"
	"symchef/internal/testcase"
)

// A Job is a part of the tree in a form that any worker can explore: the path to
// a fork, the values that others take there, and an assignment that leads along it.
type Job struct {
	Decisions []testcase.Decision
	Excl      []uint64
	Values    Values
}

// Value is the value of one input variable.
type Value struct {
	Name  string
	Width uint8 // bits
	Value uint64
}

// Values is an assignment by name.
type Values []Value

// valuesOf names the variables of model.
func valuesOf(ctx *expr.Ctx, model expr.Assignment) Values {
	var out Values
	for i := 0; i < min(len(model), ctx.NumVars()); i++ {
		id := expr.VarID(i)
		out = append(out, Value{ctx.VarName(id), uint8(ctx.VarWidth(id)), model[i]})
	}
	return out
}

// in is the assignment over the variables of ctx.
func (l Values) in(ctx *expr.Ctx) expr.Assignment {
	var out expr.Assignment
	for _, v := range l {
		id := int(ctx.VarOf(ctx.Var(v.Name, uint(v.Width))))
		for len(out) <= id {
			out = append(out, 0)
		}
		out[id] = v.Value
	}
	return out
}

// An Exchange passes jobs between the workers of one exploration.
type Exchange interface {
	// Hungry reports how many workers wait for jobs. It is cheap.
	Hungry() int
	// Give hands jobs over.
	Give([]Job)
	// Take waits for a job; false when every worker waits, and so all is explored, or c is done.
	Take(c context.Context) ([]Job, bool)
}

// share gives half of the candidates away, the oldest, when others wait: their
// paths are short and their subtrees large.
func (x *Explorer) share() {
	if x.cfg.Exchange == nil || x.sr.Len() < 2 || x.trail != nil || x.cfg.Exchange.Hungry() == 0 {
		return
	}
	x.cfg.Exchange.Give(x.Export(x.sr.Len() / 2))
}

// Export removes the n oldest candidates and returns them as jobs.
func (x *Explorer) Export(n int) []Job {
	gone := map[uint64]bool{}
	var out []Job
	for _, id := range x.ids()[:n] {
		gone[id] = true
		out = append(out, x.job(x.remove(id)))
	}
	x.sr.Remove(gone)
	return out
}

// Jobs returns all candidates as jobs, and the running state cur unless nil.
func (x *Explorer) Jobs(cur *state.State) []Job {
	var out []Job
	for _, id := range x.ids() {
		out = append(out, x.job(x.pending[id]))
	}
	if cur != nil {
		out = append(out, x.job(candidateOf(cur, nil)))
	}
	return out
}

func (x *Explorer) job(p *candidate) Job {
	return Job{Decisions: p.log.Decisions(), Excl: p.excl, Values: valuesOf(x.ctx, p.model)}
}

// Import adds jobs to the candidates.
func (x *Explorer) Import(jobs []Job) {
	for _, j := range jobs {
		x.add(&candidate{log: state.LogOf(j.Decisions), excl: j.Excl, model: j.Values.in(x.ctx)})
	}
}

// take imports jobs of others; false when there are none left.
func (x *Explorer) take(c context.Context) bool {
	if x.cfg.Exchange == nil {
		return false
	}
	jobs, ok := x.cfg.Exchange.Take(c)
	x.Import(jobs)
	return ok
}
