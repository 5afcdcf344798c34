package hlpc

import (
	"context"
	"fmt"
	"io/fs"
	"strings"
	"testing/fstest"
	"time"

	"symchef/internal/exec"
	"symchef/internal/expr"
	"symchef/internal/interp"
	"symchef/internal/kernel"
	"symchef/internal/nativeboot"
)

// bootLimit and windowLimit bound what a calibration executes, in instructions.
const (
	bootLimit   = 4e9
	windowLimit = 1e9
	chunk       = 1 << 20
)

// runs executes one calibration script: once to its first mark, and from there as often as asked.
type runs struct {
	cal   *interp.Calibration
	marks *marks
	start *kernel.System // shortly before the first mark
}

// nativeLimit is how long the start of an interpreter may compute natively before the machine goes on.
const nativeLimit = 20 * time.Second

// boot runs the interpreter until its script asks for the first mark: natively as far as possible, or not at all.
func boot(cfg kernel.Config, cal *interp.Calibration, native bool) (*runs, error) {
	r := &runs{cal: cal, marks: &marks{}}
	virtual := map[string]fs.FS{
		interp.MarkDir:   r.marks,
		interp.ScriptDir: fstest.MapFS{cal.ScriptName(): {Data: []byte(cal.Script)}},
	}
	for at, tree := range cfg.Virtual {
		virtual[at] = tree
	}
	cfg.Virtual = virtual
	cfg.DeviceEnabled = true // for its clock, which runs natively, too
	sys, err := kernel.Boot(cfg)
	if err == nil && native {
		sys, err = r.native(sys, cfg)
	}
	if err != nil {
		return nil, err
	}
	m, facts := exec.New(expr.New()), &exec.Facts{}
	for r.marks.asked == nil {
		r.start = sys.Fork()
		if stop := m.Run(sys, facts, chunk); stop.Kind != exec.Budget && r.marks.asked == nil {
			return nil, r.failure(sys, stop)
		}
		if sys.Retired > bootLimit {
			return nil, fmt.Errorf("the calibration script has not begun after %.0e instructions", float64(bootLimit))
		}
	}
	return r, nil
}

// native runs sys to the call that asks for the first mark, or as far as it comes.
func (r *runs) native(sys *kernel.System, cfg kernel.Config) (*kernel.System, error) {
	b := nativeboot.Boot{Sys: sys, Limit: nativeLimit, Before: func(path string) bool { return strings.HasPrefix(path, interp.MarkDir+"/") }}
	if _, err := b.Run(context.Background()); err != nil || r.marks.asked != nil { // or it asked in another way
		*r.marks = marks{}
		return kernel.Boot(cfg)
	}
	return sys, nil
}

// again runs from the start to the end of the script with machine m.
func (r *runs) again(m *exec.Machine) error {
	r.marks.window, r.marks.asked = "", nil
	sys, facts := r.start.Fork(), &exec.Facts{}
	for limit := sys.Retired + windowLimit; sys.Retired < limit; {
		switch stop := m.Run(sys, facts, chunk); stop.Kind {
		case exec.Budget:
		case exec.Exited:
			return r.complete(sys, stop)
		default:
			return r.failure(sys, stop)
		}
	}
	return fmt.Errorf("the calibration script does not end")
}

// complete checks that the script went through all windows.
func (r *runs) complete(sys *kernel.System, stop exec.Stop) error {
	for _, w := range []string{interp.WindowShort, interp.WindowLong, interp.WindowLoop, interp.WindowRecursion, interp.WindowMixed, endMark} {
		if !r.marks.asked[w] {
			return fmt.Errorf("the script did not get to its window %s: %w", w, r.failure(sys, stop))
		}
	}
	return nil
}

// failure says why a run ended too early.
func (r *runs) failure(sys *kernel.System, stop exec.Stop) error {
	said := strings.TrimSpace(string(sys.Stderr().Data))
	if len(said) > 400 {
		said = said[len(said)-400:]
	}
	switch stop.Kind {
	case exec.Exited:
		return fmt.Errorf("the interpreter ended with %+v: %s", sys.ExitStatus(), said)
	case exec.Unsupported:
		return fmt.Errorf("unsupported: %s", stop.What)
	}
	return fmt.Errorf("the interpreter stopped (%d): %s", stop.Kind, said)
}

// trace records the branches that only selects at the places locs; judge says which are dispatches.
func (r *runs) trace(locs []Loc, only func(*Function, bool) bool, judge *Candidate) (*Trace, error) {
	rec := &recorder{judge: judge, trace: Trace{Locs: locs, Statements: r.cal.Statements}, marks: r.marks, modules: modules{}, only: only, by: map[branchKey]*Branch{}}
	m := exec.New(expr.New())
	m.Watch = rec.watch
	if err := r.again(m); err != nil {
		return nil, err
	}
	return &rec.trace, nil
}
