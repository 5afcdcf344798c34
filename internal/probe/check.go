package probe

import (
	"errors"
	"fmt"
	"maps"

	"symchef/internal/exec"
	"symchef/internal/expr"
	"symchef/internal/mem"
	"symchef/internal/model"
)

// texts are what a model's program gets as a, b and c. Two of them are equal, one is a name that means something to the interpreter.
var texts = [3]string{"key", "__index", "key"}

// Check holds a binding's model against the stock functions: its program must return the same text of concrete texts without the model as
// with it of symbolic ones, which have the same values. So what compares addresses behind the back of the model is found.
func Check(p *Process, img *Image, b model.Binding) error {
	want, err := outcome(p.with(nil), img, b, false)
	if err != nil {
		return fmt.Errorf("its program: %w", err)
	}
	if want == "" {
		return errors.New("its program returns nothing")
	}
	got, err := outcome(p.with(b.Hooks(model.Address(0))), img, b, true)
	if err != nil {
		return fmt.Errorf("its program, with symbolic texts: %w", err)
	}
	if got != want {
		return fmt.Errorf("its program returns %q of symbolic texts, and %q of the same that are not", got, want)
	}
	return nil
}

// with is a copy of p in a machine with models.
func (p *Process) with(hooks map[uint64]exec.Hook) *Process {
	q := &Process{m: newMachine(), sys: p.sys.Fork(), Limit: callLimit}
	maps.Copy(q.m.Hooks, hooks)
	return q
}

// outcome is what the program returns.
func outcome(p *Process, img *Image, b model.Binding, symbolic bool) (string, error) {
	a := api{p, img, b.Functions}
	state, err := a.call("new-state")
	if err != nil {
		return "", err
	}
	if _, err = a.call("libraries", state); err != nil {
		return "", err
	}
	if got, err := a.call("load", state, p.Put([]byte(b.Program)), uint64(len(b.Program)), p.Put([]byte("=program")), 0); err != nil || uint32(got) != 0 {
		why, _ := a.top(state)
		return "", errors.Join(err, fmt.Errorf("it does not compile: %s", why))
	}
	for i, text := range texts {
		at := p.Put([]byte(text))
		if symbolic {
			if err := p.hide(at, text, fmt.Sprint("text", i)); err != nil {
				return "", err
			}
		}
		if _, err := a.call("push-string", state, at, uint64(len(text))); err != nil {
			return "", err
		}
	}
	if got, err := a.call("call", state, uint64(len(texts)), 1, 0, 0, 0); err != nil || uint32(got) != 0 {
		why, _ := a.top(state)
		return "", errors.Join(err, fmt.Errorf("it fails: %s", why))
	}
	return a.top(state)
}

// hide makes the bytes of a text at an address symbolic; their value stays.
func (p *Process) hide(at uint64, text, name string) error {
	b := mem.Bytes{Data: []byte(text), Sym: make([]expr.Ref, len(text))}
	for i := range text {
		v := p.m.Ctx.Var(fmt.Sprintf("%s_%d", name, i), 8)
		for uint64(len(p.values)) <= uint64(p.m.Ctx.VarOf(v)) {
			p.values = append(p.values, 0)
		}
		p.values[p.m.Ctx.VarOf(v)] = uint64(text[i])
		b.Sym[i] = v
	}
	return p.Memory().WriteSym(at, b)
}

// run runs to the end of a call. Where symbolic values must be known they are what they are.
func (p *Process) run() exec.Stop {
	facts := exec.Facts{Fixed: map[expr.Ref]uint64{}, Ranges: map[expr.Ref][2]uint64{}}
	if p.facts != nil {
		facts = *p.facts
	}
	p.facts = &facts
	for end := p.sys.Retired + p.Limit; ; {
		if p.sys.Retired >= end {
			return exec.Stop{Kind: exec.Budget}
		}
		switch stop := p.m.Run(p.sys, p.facts, end-p.sys.Retired); stop.Kind {
		case exec.Decide:
			p.facts.Fixed[stop.Ref] = p.m.Ctx.Eval(stop.Ref, p.values)
		case exec.Bounds:
			p.facts.Ranges[stop.Ref] = [2]uint64{0, expr.Mask(p.m.Ctx.Width(stop.Ref))}
		default:
			return stop
		}
	}
}

// api are functions by what they do.
type api struct {
	p     *Process
	img   *Image
	names map[string]string
}

func (a api) call(what string, args ...uint64) (uint64, error) {
	fn := a.img.Export(a.names[what])
	if fn == 0 {
		return 0, fmt.Errorf("%s is not exported", a.names[what])
	}
	v, err := a.p.Call(fn, args...)
	if err != nil {
		return 0, fmt.Errorf("%s: %w", a.names[what], err)
	}
	return v, nil
}

// top is the text on top of a state's stack.
func (a api) top(state uint64) (string, error) {
	length := a.p.Put(make([]byte, 8))
	at, err := a.call("text", state, minus(1), length)
	if err != nil {
		return "", err
	}
	b, err := a.p.Memory().ReadSym(at, int(min(a.p.Read(length, 8), 1<<16)))
	return string(b.Data), err
}
