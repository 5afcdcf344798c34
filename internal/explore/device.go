package explore

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"symchef/internal/device"
	"symchef/internal/exec"
	"symchef/internal/expr"
	"symchef/internal/interp"
	"symchef/internal/mem"
	"symchef/internal/solver"
	"symchef/internal/state"
)

// device answers the pending request of s; false when the path has ended. A
// request that needs a decision is handled again once the decision is made, so
// everything before the reply can be repeated.
func (x *Explorer) device(s *state.State) bool {
	line := bytes.IndexByte(s.Request.Data, '\n') + 1
	req, err := device.Parse(s.Request.Data[:line])
	body := s.Request.Slice(line, len(s.Request.Data))
	if err == nil {
		err = req.CheckBody(len(body.Data))
	}
	if err != nil {
		x.reply(s, device.Err(err.Error()))
		return true
	}
	a := answers[req.Verb]
	if a == nil {
		x.reply(s, device.Err("unknown request"))
		return true
	}
	return a(x, s, &request{req, s.Sys.CurrentProcess().Mem, body})
}

// request is a request of the guest with what it is about.
type request struct {
	*device.Request
	space *mem.Space
	body  mem.Bytes
}

// answer does what a request asks for and replies; false when the path has ended.
type answer func(x *Explorer, s *state.State, q *request) bool

// answers are the requests, one row each.
var answers = map[device.Verb]answer{
	device.VerbHello: replying(func(_ *Explorer, _ *state.State, q *request) ([]byte, error) {
		if q.Version != device.Version {
			return nil, fmt.Errorf("this engine speaks version %d of the protocol", device.Version)
		}
		return device.OK(device.Version), nil
	}),
	device.VerbBegin: (*Explorer).begin,
	device.VerbInput: func(x *Explorer, s *state.State, q *request) bool { return x.input(s, q.Input) },
	device.VerbPlace: func(x *Explorer, s *state.State, q *request) bool { return x.place(s, q.space, q.Request) },
	device.VerbBounds: replying(func(x *Explorer, s *state.State, q *request) ([]byte, error) {
		lo, hi, err := x.boundsOf(s, q.space, q.Request)
		return device.OKUnsigned(lo, hi), err
	}),
	device.VerbSymbolic: replying(func(_ *Explorer, _ *state.State, q *request) ([]byte, error) {
		sym := int64(0)
		if q.space.HasSym(q.Addr, q.Len) {
			sym = 1
		}
		return device.OK(sym), nil
	}),
	device.VerbValue:      func(x *Explorer, s *state.State, q *request) bool { return x.value(s, q.Request) },
	device.VerbConcretize: (*Explorer).makeConcrete,
	device.VerbAssume:     (*Explorer).assumption,
	device.VerbPrune:      ending(func(s *state.State, _ *request) { s.Report.Pruned = true }),
	device.VerbLog: saying(func(s *state.State, _ *request, t state.Text) error {
		s.Logs = append(s.Logs, t)
		return nil
	}),
	device.VerbExpect: replying(func(*Explorer, *state.State, *request) ([]byte, error) { return device.OK(), nil }),
	device.VerbChosen: saying(chosen),
	device.VerbReturned: saying(func(s *state.State, _ *request, t state.Text) error {
		if before := s.Report.Returned; before != nil {
			t = before.Then(t)
		}
		s.Report.Returned = &t
		return nil
	}),
	device.VerbFrames: replying(func(_ *Explorer, s *state.State, q *request) ([]byte, error) {
		s.Report.Frames = q.Frames
		return device.OK(), nil
	}),
	device.VerbOutcome: saying(func(s *state.State, q *request, t state.Text) error {
		s.Report.Kind, s.Report.Type, s.Report.Msg = q.Kind, q.Type, t
		s.High.End()
		return nil
	}),
	device.VerbEnd:   ending(func(*state.State, *request) {}),
	device.VerbUsage: ending(func(s *state.State, q *request) { s.Report.Usage = q.Text }),
	device.VerbImmortal: replying(func(x *Explorer, _ *state.State, q *request) ([]byte, error) {
		return device.OK(), x.immortal(q.space, q.Request, q.body)
	}),
	device.VerbStep: replying(func(x *Explorer, s *state.State, q *request) ([]byte, error) {
		switch {
		case !x.cfg.Steps:
			return nil, errors.New("the description of the language does not say that the guest tells of its steps: (steps ...)")
		case x.cfg.High != nil && !x.cfg.Booting:
			x.cfg.High.Tell(&s.High, q.Step, q.Opcode)
		}
		return device.OK(), nil
	}),
	device.VerbShape: replying(func(_ *Explorer, s *state.State, q *request) ([]byte, error) {
		return device.OK(), shaped(s, q.Shape)
	}),
	device.VerbJudged: replying(func(_ *Explorer, s *state.State, q *request) ([]byte, error) {
		s.Report.Judged = q.Text
		return device.OK(), nil
	}),
	device.VerbFunction: replying(func(x *Explorer, s *state.State, q *request) ([]byte, error) {
		if !x.cfg.Booting || len(s.Report.Functions) >= device.MaxTests {
			return nil, errors.New("a function is told of before the test begins, of which there are not too many")
		}
		s.Report.Functions = append(slices.Clip(s.Report.Functions), *q.Function)
		return device.OK(), nil
	}),
	device.VerbTests: func(x *Explorer, s *state.State, q *request) bool {
		if !x.cfg.Booting {
			x.reply(s, device.Err("the test has begun"))
			return true
		}
		s.Report.Listed, s.Report.Tests = true, q.Tests
		x.end(s, End{})
		return false
	},
}

// replying is an answer that decides nothing: its result is the reply, or what is wrong.
func replying(f func(x *Explorer, s *state.State, q *request) ([]byte, error)) answer {
	return func(x *Explorer, s *state.State, q *request) bool {
		text, err := f(x, s, q)
		if err != nil {
			text = device.Err(err.Error())
		}
		x.reply(s, text)
		return true
	}
}

// saying is an answer to a request that tells a text.
func saying(note func(s *state.State, q *request, t state.Text) error) answer {
	return replying(func(_ *Explorer, s *state.State, q *request) ([]byte, error) {
		t, err := textOf(q.space, q.Request, q.body)
		if err == nil {
			err = note(s, q, t)
		}
		return device.OK(), err
	})
}

// ending is an answer with which the path ends.
func ending(note func(s *state.State, q *request)) answer {
	return func(x *Explorer, s *state.State, q *request) bool {
		note(s, q)
		x.end(s, End{})
		return false
	}
}

// begin marks the end of the boot.
func (x *Explorer) begin(s *state.State, q *request) bool {
	if n := s.Sys.Objects(); n > 0 {
		x.reply(s, device.OK(int64(n)))
	} else {
		x.reply(s, device.OK())
	}
	x.began, x.cfg.Booting = time.Now(), false
	x.span.End("instructions", x.Counts.Boot)
	x.span = x.cfg.Row.Span("path")
	x.setRoot(s)
	if x.cfg.OnBegin != nil {
		x.cfg.OnBegin(s, q.Text)
	}
	return x.Usage == ""
}

// makeConcrete decides the value of guest memory.
func (x *Explorer) makeConcrete(s *state.State, q *request) bool {
	if q.Inline {
		return x.concretize(s, q.body)
	}
	if d := x.m.Concretize(q.space, &s.Facts, q.Addr, q.Len); d != nil {
		x.decide(s, d.Decision, d.PC, d.Ref)
		return true
	}
	x.reply(s, device.OK())
	return true
}

// assumption goes on only where a number in guest memory is not 0.
func (x *Explorer) assumption(s *state.State, q *request) bool {
	b, err := q.space.ReadSym(q.Addr, int(q.Len))
	if err != nil {
		x.reply(s, device.Err(err.Error()))
		return true
	}
	w := x.m.Word(b)
	if !x.assume(s, x.ctx.Ne(w, x.ctx.Const(0, x.ctx.Width(w)))) {
		s.Report.Pruned = true
		x.end(s, End{})
		return false
	}
	x.reply(s, device.OK())
	return true
}

// chosen notes what stands at the index that a choice has got.
func chosen(s *state.State, q *request, t state.Text) error {
	if q.ID >= len(s.Inputs) || s.Inputs[q.ID].Decl.Kind != device.KindChoice {
		return fmt.Errorf("no choice %d", q.ID)
	}
	in := *s.Inputs[q.ID] // other states have it, too
	in.Chosen = &t
	s.Inputs = slices.Clone(s.Inputs)
	s.Inputs[q.ID] = &in
	return nil
}

// shaped notes that the last inputs make one value.
func shaped(s *state.State, shape *device.Shape) error {
	n := state.Shape{Shape: shape, First: len(s.Inputs) - shape.Inputs, End: len(s.Inputs)}
	if n.First < 0 || len(s.Shapes) > 0 && n.First < s.Shapes[len(s.Shapes)-1].End {
		return fmt.Errorf("shape %s: there are no %d inputs of its own", shape.Name, shape.Inputs)
	}
	for _, c := range shape.Code {
		if c.Kind == device.PieceInput && s.Inputs[n.First+c.Part].Decl.Kind == device.KindChoice {
			return fmt.Errorf("shape %s: input %d is a choice, whose value only the library knows", shape.Name, c.Part)
		}
	}
	s.Shapes = append(s.Shapes, n)
	return nil
}

// count is added to the references of immortal objects, and not to those that have more than half of it: some are made so, and their counts may be of
// fewer bytes.
const count = 1 << 29

// immortal notes objects that are never freed, pairs of an address and a size. Whoever follows a path from where the test begins comes by here, so no
// engine misses them.
func (x *Explorer) immortal(space *mem.Space, req *device.Request, body mem.Bytes) error {
	all := body
	if !req.Inline {
		var err error
		if all, err = space.ReadSym(req.Addr, int(req.Len)); err != nil {
			return err
		}
	}
	if !all.IsConcrete() || len(all.Data)%16 != 0 {
		return fmt.Errorf("immortal: need pairs of an address and a size")
	}
	for ; x.cfg.References >= 0 && len(all.Data) > 0; all.Data = all.Data[16:] {
		addr, size := binary.LittleEndian.Uint64(all.Data), binary.LittleEndian.Uint64(all.Data[8:])
		at := addr + uint64(x.cfg.References)
		n, err := space.ReadU(at, 8)
		if err != nil {
			return err
		}
		if n < count/2 && !space.HasSym(at, 8) {
			if err := space.Write(at, binary.LittleEndian.AppendUint64(nil, n+count)); err != nil {
				return err
			}
		}
		x.m.Immortal(addr, size)
	}
	return nil
}

func (x *Explorer) reply(s *state.State, text []byte) {
	s.Request = nil
	s.Sys.DeviceReply(mem.Concrete(text))
}

// replyWith is an ok with bytes behind it.
func (x *Explorer) replyWith(s *state.State, body mem.Bytes) {
	x.reply(s, device.OK())
	s.Sys.DeviceReply(body)
}

// textOf is the text of a request: that behind its line, or at its address.
func textOf(space *mem.Space, req *device.Request, body mem.Bytes) (state.Text, error) {
	if req.Inline || req.Len == 0 {
		return state.Text(body), nil
	}
	b, err := space.ReadSym(req.Addr, int(req.Len))
	return state.Text(b), err
}

// value hands an input's value to the guest: its elements, or its number less what the guest says in little-endian order, and zeros up to the
// length; false when no input is left and the path ends.
func (x *Explorer) value(s *state.State, req *device.Request) bool {
	if req.ID >= len(s.Inputs) {
		x.reply(s, device.Err(fmt.Sprintf("no input %d", req.ID)))
		return true
	}
	in := s.Inputs[req.ID]
	elements := in.Bytes
	if in.Value != 0 {
		v := x.ctx.Sub(in.Value, x.ctx.Const(uint64(req.Less), 64))
		for i := uint(0); i < 64; i += 8 {
			elements = append(elements, x.ctx.Extract(v, i, 8))
		}
	}
	if uint64(len(elements)) > req.Len {
		x.reply(s, device.Err(fmt.Sprintf("input %d has %d bytes", req.ID, len(elements))))
		return true
	}
	for _, r := range in.Bytes {
		for _, of := range x.alphabet(in.Decl, r) {
			if !x.assume(s, of) {
				s.Report.Pruned = true
				x.end(s, End{})
				return false
			}
		}
	}
	b := mem.Bytes{Data: make([]byte, req.Len), Sym: make([]expr.Ref, req.Len)}
	for i, r := range elements {
		b.Data[i] = byte(x.ctx.Eval(r, s.Model))
		if _, isConst := x.ctx.IsConst(r); !isConst {
			b.Sym[i] = r
		}
	}
	if b.IsConcrete() {
		b.Sym = nil
	}
	x.replyWith(s, b)
	return true
}

// alphabet are the conditions that an input's declaration makes of its element r.
func (x *Explorer) alphabet(decl *device.Input, r expr.Ref) (out []expr.Ref) {
	if decl.ASCII {
		out = append(out, x.ctx.Ult(r, x.ctx.Const(0x80, 8)))
	}
	if decl.NoNUL {
		out = append(out, x.ctx.Ne(r, x.ctx.Const(0, 8)))
	}
	return out
}

// concretize answers with one value of each byte of b, or asks for the decision that is due.
func (x *Explorer) concretize(s *state.State, b mem.Bytes) bool {
	out := append([]byte(nil), b.Data...)
	for i, r := range b.Sym {
		if r == 0 {
			continue
		}
		v, known := s.Facts.Fixed[r]
		if !known {
			x.decide(s, exec.Value, 0, r)
			return true
		}
		out[i] = byte(v)
	}
	x.replyWith(s, mem.Concrete(out))
	return true
}

// uniqueName distinguishes inputs declared under one name.
func uniqueName(s *state.State, name string) string {
	n := 1
	for _, in := range s.Inputs {
		if in.Decl.Name == name {
			n++
		}
	}
	return numbered(name, n)
}

// numbered is the name of the n-th input declared as name: no two inputs have one.
func numbered(name string, n int) string {
	if n == 1 && !strings.Contains(name, "#") {
		return name
	}
	return fmt.Sprintf("%s#%d", name, n)
}

// The variables of an input have its name and a suffix: an input may be of one type on some paths and of another on
// others, and no variable is taken for another's.
func lengthVar(input string) string                { return input + ".len" }
func byteVar(input string, i int) string           { return fmt.Sprintf("%s[%d]", input, i) }
func scalarVar(input string, k device.Kind) string { return fmt.Sprintf("%s.%v", input, k) }

// input declares an input: its variables, their bounds, and for a length or a
// choice the decision which.
func (x *Explorer) input(s *state.State, decl *device.Input) bool {
	in := &state.Input{Decl: decl}
	declare := (*Explorer).declareScalar
	switch decl.Kind {
	case device.KindStr, device.KindBytes:
		declare = (*Explorer).declareBytes
	case device.KindChoice:
		declare = (*Explorer).declareChoice
	}
	done, going := declare(x, s, in, uniqueName(s, decl.Name))
	if !done {
		return going
	}
	if x.trail != nil && x.trail.Concrete {
		e := x.ctx
		for i, b := range in.Bytes {
			in.Bytes[i] = e.Const(e.Eval(b, s.Model), 8)
		}
		if in.Value != 0 {
			in.Value = e.Const(e.Eval(in.Value, s.Model), 64)
		}
	}
	decl.ID = len(s.Inputs)
	s.Inputs = append(s.Inputs, in)
	switch decl.Kind {
	case device.KindStr, device.KindBytes:
		x.reply(s, device.OK(int64(decl.ID), int64(len(in.Bytes))))
	case device.KindChoice:
		x.reply(s, device.OK(int64(decl.ID), in.Index))
	default:
		x.reply(s, device.OK(int64(decl.ID)))
	}
	return true
}

// chosen is the value that the path has decided for v, one of [least, most], def first. Where done is false it is not decided yet, and the request is made
// again; where going is false, too, the path has ended.
func (x *Explorer) chosen(s *state.State, kind exec.DecisionKind, v expr.Ref, def, least, most int64) (n uint64, done, going bool) {
	if !x.scalar(s, v, def, least, most) {
		return 0, false, false
	}
	n, done = s.Facts.Fixed[v]
	if !done {
		x.decide(s, kind, 0, v)
	}
	return n, done, true
}

// declareBytes declares the bytes of in, after their number is decided.
func (x *Explorer) declareBytes(s *state.State, in *state.Input, name string) (done, going bool) {
	decl, e := in.Decl, x.ctx
	if decl.Kind == device.KindStr && !decl.ASCII {
		x.reply(s, device.Err("only ASCII strings can be symbolic so far: use ascii=True"))
		return false, true
	}
	least, most := decl.Lengths()
	n := uint64(least)
	if least < most {
		def := int64(min(max(len(decl.DefaultBytes), least), most))
		if n, done, going = x.chosen(s, exec.Length, e.Var(lengthVar(name), 32), def, int64(least), int64(most)); !done {
			return false, going
		}
	}
	for i := range int(n) {
		b := e.Var(byteVar(name, i), 8)
		def := uint64(0)
		if i < len(decl.DefaultBytes) {
			def = uint64(decl.DefaultBytes[i])
		}
		x.assign(s, b, def)
		in.Bytes = append(in.Bytes, b)
	}
	return true, true
}

// declareChoice decides which alternative in is.
func (x *Explorer) declareChoice(s *state.State, in *state.Input, name string) (done, going bool) {
	_, most := in.Decl.Range()
	v := x.ctx.Var(scalarVar(name, in.Decl.Kind), 32)
	k, done, going := x.chosen(s, exec.Choice, v, in.Decl.DefaultInt, 0, most)
	if done {
		in.Value, in.Index = x.ctx.ZExt(v, 64), int64(k)
	}
	return done, going
}

// declareScalar gives in its variable, and that its bounds.
func (x *Explorer) declareScalar(s *state.State, in *state.Input, name string) (done, going bool) {
	decl, e := in.Decl, x.ctx
	width := uint(64)
	if decl.Kind == device.KindBool {
		width = 1
	}
	v := e.Var(scalarVar(name, decl.Kind), width)
	ok := true
	switch decl.Kind {
	case device.KindBool:
		x.assign(s, v, uint64(decl.DefaultInt))
	case device.KindInt:
		lo, hi := decl.Range()
		ok = x.scalar(s, v, min(max(decl.DefaultInt, lo), hi), lo, hi)
	case device.KindFloat:
		ok = x.real(s, v, decl)
	}
	in.Value = e.ZExt(v, 64)
	return ok, ok
}

// scalar gives variable v its default and bounds, once per path; false when the path ends.
func (x *Explorer) scalar(s *state.State, v expr.Ref, def, lo, hi int64) bool {
	e := x.ctx
	w := e.Width(v)
	at := func(n int64) expr.Ref { return e.Const(uint64(n), w) }
	low, high := e.Sle(at(lo), v), e.Sle(v, at(hi))
	if s.Facts.Fixed[low] == 1 && s.Facts.Fixed[high] == 1 {
		return true
	}
	if _, known := s.Facts.Fixed[v]; known {
		return true
	}
	x.assign(s, v, uint64(def)&expr.Mask(w))
	return x.assume(s, low) && x.assume(s, high)
}

// real is scalar for a float input: v are the bits of a number within its bounds.
func (x *Explorer) real(s *state.State, v expr.Ref, decl *device.Input) bool {
	e := x.ctx
	lo, hi := decl.Reals()
	at := func(f float64) expr.Ref { return e.Const(uint64(device.Order(f)), 64) }
	sign := e.AShr(v, e.Const(63, 64))
	order := e.Xor(v, e.And(sign, e.Const(math.MaxInt64, 64))) // device.Order; that of NaN is above inf's, or below -inf's
	low, high := e.Sle(at(lo), order), e.Sle(order, at(hi))
	if s.Facts.Fixed[low] == 1 && s.Facts.Fixed[high] == 1 {
		return true
	}
	x.assign(s, v, math.Float64bits(decl.DefaultFloat))
	return x.assume(s, low) && x.assume(s, high)
}

// assign gives the new variable v its first value: def, or on a trail the one that leads along it.
func (x *Explorer) assign(s *state.State, v expr.Ref, def uint64) {
	id := x.ctx.VarOf(v)
	if x.trail != nil && int(id) < len(x.trail.Model) {
		def = x.trail.Model[id]
	}
	model := make(expr.Assignment, max(len(s.Model), int(id)+1))
	copy(model, s.Model)
	model[id] = def
	s.Model = model
}

// place writes the expressions of a layout over an input into a guest object.
func (x *Explorer) place(s *state.State, space *mem.Space, req *device.Request) bool {
	fail := func(text string) bool {
		x.reply(s, device.Err(text))
		return true
	}
	if req.ID >= len(s.Inputs) {
		return fail(fmt.Sprintf("no input %d", req.ID))
	}
	l, known := x.cfg.Layouts[req.Layout]
	if !known {
		return fail(interp.NoLayout(req.Layout, x.cfg.Layouts))
	}
	if l == nil { // it was not found in this interpreter
		x.reply(s, device.OK(0))
		return true
	}
	in := s.Inputs[req.ID]
	v := interp.Input{Kind: in.Decl.Kind, Value: in.Value, Bytes: in.Bytes}
	if in.Decl.Kind != device.KindStr && in.Decl.Kind != device.KindBytes {
		v.Min, v.Max = in.Decl.Range()
	}
	p, err := l.Build(x.ctx, v)
	if err != nil {
		return fail(err.Error())
	}
	for _, c := range p.Checks {
		got, err := space.ReadU(req.Addr+c.Off, c.Size)
		if err != nil || got != c.Want || space.HasSym(req.Addr+c.Off, uint64(c.Size)) {
			return fail(fmt.Sprintf("layout %s: the object has %#x at offset %d, not %#x", req.Layout, got, c.Off, c.Want))
		}
	}
	for _, c := range p.Constraints {
		if !x.assume(s, c) {
			s.Report.Pruned = true
			x.end(s, End{})
			return false
		}
	}
	for _, st := range p.Stores {
		if err := space.WriteSym(req.Addr+st.Off, x.m.Split(x.ctx.Eval(st.Value, s.Model), st.Value)); err != nil {
			return fail(err.Error())
		}
	}
	x.reply(s, device.OK())
	return true
}

// boundsOf proves bounds of guest memory; bounds that cannot be proved are those of its width.
func (x *Explorer) boundsOf(s *state.State, space *mem.Space, req *device.Request) (lo, hi uint64, err error) {
	b, err := space.ReadSym(req.Addr, int(req.Len))
	if err != nil {
		return 0, 0, err
	}
	w := x.m.Word(b)
	if v, isConst := x.ctx.IsConst(w); isConst {
		return v, v, nil
	}
	lo, hi, res := x.solv.Bounds(solver.Query{Conjuncts: s.Conjuncts(x.ctx), Hint: s.Model}, w)
	if res != solver.Sat {
		return 0, expr.Mask(x.ctx.Width(w)), nil
	}
	return lo, hi, nil
}
