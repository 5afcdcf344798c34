package session

import (
	"fmt"
	"math"
	"slices"
	"strconv"

	"symchef/internal/device"
	"symchef/internal/explore"
	"symchef/internal/expr"
	"symchef/internal/state"
	"symchef/internal/testcase"
)

// The inputs of a test case are chosen for people. When a path has ended, each byte and number of the model is replaced by the one that is
// easiest to read among those that lead down the same path: an assignment that satisfies the path condition does. That is found by
// evaluation alone, so no solver is asked, no expression is made, and what is explored next does not change. What
// can only be changed together with another value stays, except where the two are equal.
//
//	the default's own character < letters < digits < other printable ones < newline, tab < control characters < 0x80 and above < NUL
//	the default < 0 < 1 < -1 < 2 ...

// minimiseWork bounds the evaluation for one test case, in nodes of expressions.
const minimiseWork = 4 << 20

// plain says how readable inputs are; it is what a run knows of their defaults.
type plain map[string]defaults

// defaults is the default of an input, as far as it has one.
type defaults struct {
	bytes  []byte
	number int64
	real   float64
}

func (p plain) learn(inputs []*state.Input) {
	for _, in := range inputs {
		p[in.Decl.Name] = defaults{in.Decl.DefaultBytes, in.Decl.DefaultInt, in.Decl.DefaultFloat}
	}
}

// slot is a variable of an input.
type slot struct {
	v      expr.VarID
	values func(now uint64) []uint64 // better ones than now, the best first
	ends   bool                      // a byte of a text that NUL ends
	first  bool                      // of such a text
}

// minimiser looks for a better model of a path.
type minimiser struct {
	ctx   *expr.Ctx
	model expr.Assignment
	path  []*state.Constraint
	about map[expr.VarID][]int // constraints
	slots []slot
	work  uint64 // of ctx.Evaluated, where there is an end
}

// minimised is s with another model: the best one that leads down the same path.
func (w *worker) minimised(s *state.State) *state.State {
	m := &minimiser{ctx: w.ctx, model: slices.Clone(s.Model), about: map[expr.VarID][]int{}, work: w.ctx.Evaluated() + minimiseWork}
	if w.r.t.desc != nil {
		m.guestSlots(s.Inputs)
	} else {
		m.programSlots(w.r.o, len(w.r.t.tc.Argv)-w.r.o.ArgvCount)
	}
	if len(m.slots) == 0 {
		return s
	}
	mine := map[expr.VarID]bool{}
	for _, x := range m.slots {
		mine[x.v] = true
	}
	for c := s.Path; c != nil; c = c.Parent {
		i := len(m.path)
		m.path = append(m.path, c)
		w.ctx.Support(c.R, func(v expr.VarID) {
			if mine[v] {
				m.about[v] = append(m.about[v], i)
			}
		})
	}
	m.shorten()
	for range 8 { // a value may become free when another has changed
		if !m.pass() {
			break
		}
	}
	out := *s
	out.Model = m.model
	return &out
}

func (m *minimiser) add(r expr.Ref, values func(uint64) []uint64) {
	if m.ctx.Kind(r) == expr.Var {
		v := m.ctx.VarOf(r)
		for int(v) >= len(m.model) {
			m.model = append(m.model, 0)
		}
		m.slots = append(m.slots, slot{v: v, values: values})
	}
}

func (m *minimiser) guestSlots(inputs []*state.Input) {
	for _, in := range inputs {
		d := in.Decl
		for i, r := range in.Bytes {
			m.add(r, betterBytes(d.DefaultBytes, i))
		}
		if in.Value == 0 || d.Kind == device.KindChoice {
			continue
		}
		var r expr.Ref
		m.ctx.Support(in.Value, func(v expr.VarID) { r = m.ctx.VarRef(v) })
		switch d.Kind {
		case device.KindInt:
			m.add(r, func(now uint64) []uint64 { return betterInts(d.DefaultInt, int64(now)) })
		case device.KindFloat:
			m.add(r, func(now uint64) []uint64 { return betterFloats(d.DefaultFloat, math.Float64frombits(now)) })
		case device.KindBool:
			m.add(r, func(now uint64) []uint64 { return []uint64{uint64(d.DefaultInt)} })
		}
	}
}

func (m *minimiser) programSlots(o *Options, own int) {
	text := func(name string, n int, ends bool) {
		for i := range n {
			before := len(m.slots)
			m.add(m.ctx.Var(fmt.Sprintf("%s[%d]", name, i), 8), betterBytes(nil, i))
			for k := before; k < len(m.slots); k++ {
				m.slots[k].ends, m.slots[k].first = ends, ends && i == 0
			}
		}
	}
	for i := range o.ArgvCount {
		text(fmt.Sprintf("argv%d", own+i), o.ArgvLen, true)
	}
	for _, v := range o.Env {
		text(explore.NamedInput(testcase.TypeEnv, v.Name), v.Len, true)
	}
	for _, f := range o.Files {
		text(explore.NamedInput(testcase.TypeFile, f.Name), f.Len, false)
	}
	text("stdin", max(o.StdinLen, 0), false)
}

// holds reports whether the path condition holds as far as it is about vars.
func (m *minimiser) holds(vars ...expr.VarID) bool {
	m.ctx.NewEval()
	for _, v := range vars {
		list := m.about[v]
		for k, i := range list {
			c := m.path[i]
			if m.ctx.EvalMemo(c.R, m.model) != c.V {
				copy(list[1:k+1], list[:k]) // what fails once fails again: it goes first
				list[0] = i
				return false
			}
		}
	}
	return true
}

// tired reports whether the work is at its end.
func (m *minimiser) tired() bool { return m.ctx.Evaluated() >= m.work }

// try sets vars to value if the path stays the same.
func (m *minimiser) try(value uint64, vars ...expr.VarID) bool {
	return m.tryEach(vars, slices.Repeat([]uint64{value}, len(vars)))
}

// tryEach sets each of vars to its value if the path stays the same.
func (m *minimiser) tryEach(vars []expr.VarID, values []uint64) bool {
	old := make([]uint64, len(vars))
	for i, v := range vars {
		old[i], m.model[v] = m.model[v], values[i]
	}
	if m.holds(vars...) {
		return true
	}
	for i, v := range vars {
		m.model[v] = old[i]
	}
	return false
}

// shorten makes texts that NUL ends as short as can be.
func (m *minimiser) shorten() {
	for i := range m.slots {
		if !m.slots[i].first {
			continue
		}
		text := []expr.VarID{m.slots[i].v}
		for _, x := range m.slots[i+1:] {
			if !x.ends || x.first {
				break
			}
			text = append(text, x.v)
		}
		for k := m.shortenOne(text); k < len(text); k++ {
			m.slots[i+k].values = nil // no part of it any more
		}
	}
}

// shortenOne ends a text as early as can be, leaves characters out, and returns its length.
func (m *minimiser) shortenOne(text []expr.VarID) int {
	length := len(text)
	for n := range text {
		if m.try(0, text[n:]...) {
			length = n
			break
		}
	}
	for n := length - 1; n > 0; n-- { // characters at once
		for i := 0; i+n <= length && !m.tired(); {
			var rest []uint64
			for _, v := range text[i+n : length] {
				rest = append(rest, m.model[v])
			}
			if m.tryEach(text[i:length], append(rest, make([]uint64, n)...)) {
				length -= n
			} else {
				i++
			}
		}
	}
	return length
}

// pass tries better values for every slot, and reports whether there was one.
func (m *minimiser) pass() (changed bool) {
	for _, x := range m.slots {
		if x.values == nil {
			continue
		}
		var alike []expr.VarID // the path may compare them
		for _, y := range m.slots {
			if y.values != nil && m.model[y.v] == m.model[x.v] && m.ctx.VarWidth(y.v) == m.ctx.VarWidth(x.v) {
				alike = append(alike, y.v)
			}
		}
		for m.improve(x, alike) {
			changed = true
			if m.ctx.VarWidth(x.v) <= 8 { // all better values of a byte have been tried
				break
			}
		}
	}
	return changed && !m.tired()
}

// improve gives x the best value that leads down the path, or x and all that are alike.
func (m *minimiser) improve(x slot, alike []expr.VarID) bool {
	for _, value := range x.values(m.model[x.v]) {
		if m.tired() || value == m.model[x.v] {
			break
		}
		if m.try(value, x.v) || len(alike) > 1 && m.try(value, alike...) {
			return true
		}
	}
	return false
}

// looks is how readable a byte is, less is better.
func looks(b byte) int {
	switch {
	case b >= 'a' && b <= 'z':
		return 0
	case b >= 'A' && b <= 'Z':
		return 1
	case b >= '0' && b <= '9':
		return 2
	case b > ' ' && b < 0x7f:
		return 3
	case b == ' ':
		return 4
	case b == '\n' || b == '\t':
		return 5
	case b == 0:
		return 8
	case b >= 0x80:
		return 7
	}
	return 6
}

// legible are all bytes, the most readable first.
var legible = func() (out []uint64) {
	for b := range 256 {
		out = append(out, uint64(b))
	}
	slices.SortStableFunc(out, func(a, b uint64) int { return looks(byte(a)) - looks(byte(b)) })
	return out
}()

// betterBytes are the values for byte i of an input, up to the present one: the default's own at this place, then its others.
func betterBytes(def []byte, i int) func(now uint64) []uint64 {
	var order []uint64
	if i < len(def) && looks(def[i]) <= 5 {
		order = append(order, uint64(def[i]))
	}
	for _, b := range def {
		if looks(b) <= 5 && !slices.Contains(order, uint64(b)) {
			order = append(order, uint64(b))
		}
	}
	for _, b := range legible {
		if !slices.Contains(order, b) {
			order = append(order, b)
		}
	}
	return func(now uint64) []uint64 { return order[:slices.Index(order, now)] }
}

// near is how far from 0 and from the default integers are tried one by one.
const near = 16

// betterInts are values for an integer: its default, small ones, those near the default, and then halfway to 0.
func betterInts(def, now int64) (out []uint64) {
	list := []int64{def, 0}
	for i := int64(1); i <= near; i++ {
		list = append(list, i, -i)
	}
	for i := int64(1); i <= near; i++ {
		list = append(list, def+i, def-i)
	}
	for d := now; d != 0; d /= 2 {
		list = append(list, now-d)
	}
	for _, v := range list {
		if v == now {
			break
		}
		out = append(out, uint64(v))
	}
	return out
}

// betterFloats are values for a float: its default, small whole numbers, those halfway to 0, powers of ten, and then numbers near by with fewer digits.
func betterFloats(def, now float64) (out []uint64) {
	list := []float64{def, 0}
	for i := 1.0; i <= near; i++ {
		list = append(list, i, -i)
	}
	if t := math.Trunc(now); math.Abs(t) < 1e15 {
		for d := t; d != 0; d = math.Trunc(d / 2) {
			list = append(list, t-d)
		}
		list = append(list, t, t+1, t-1)
	}
	list = append(list, 0.5, -0.5)
	for _, e := range []int{-1, -2, -3, -4, -5, -6, -7, -8, -9, 16, 100, 200, 300, 308} {
		list = append(list, math.Pow10(e), -math.Pow10(e))
	}
	for scale := 10.0; scale <= 1e6; scale *= 10 {
		list = append(list, math.Round(now*scale)/scale)
	}
	for digits := range 16 {
		for _, v := range []float64{now, now * (1 + 0.5*math.Pow10(-digits)), now * (1 + math.Pow10(-digits))} {
			rounded, _ := strconv.ParseFloat(strconv.FormatFloat(v, 'e', digits, 64), 64)
			list = append(list, rounded)
		}
	}
	for _, v := range list {
		if math.Float64bits(v) == math.Float64bits(now) {
			break
		}
		if !math.IsNaN(v) {
			out = append(out, math.Float64bits(v))
		}
	}
	return out
}
