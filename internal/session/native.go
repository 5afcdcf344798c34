package session

import (
	"context"
	"time"

	"symchef/internal/cpu"
	"symchef/internal/exec"
	"symchef/internal/interp"
	"symchef/internal/kernel"
	"symchef/internal/mem"
	"symchef/internal/model"
	"symchef/internal/nativeboot"
)

// How the interpreter starts, Options.Boot.
const (
	BootAuto     = "auto"
	BootNative   = "native"
	BootEmulated = "emulated"
)

// Boots lists the values of Options.Boot.
func Boots() []string { return []string{BootAuto, BootNative, BootEmulated} }

// nativeRate is how many instructions a native boot is taken to execute in a second: with those that a boot may have, it computes for 20 s before the
// machine goes on.
const nativeRate = bootShare * DefaultPathInstructions / 20

func (o *Options) nativeLimit() time.Duration {
	limit := time.Duration(o.bootInstructions(false)/(nativeRate/1000)) * time.Millisecond
	if o.PathTime > 0 {
		limit = min(limit, o.PathTime)
	}
	return limit
}

// always returns where the models of img have hooks that do something though nothing is symbolic, the interpreter being mapped in s.
func always(img *interp.Image, s *mem.Space) (at []uint64) {
	for i, b := range rebased(img, s).Models {
		at = append(at, b.Concrete(model.Address(i))...)
	}
	return at
}

// nativeRuns is how often a native boot is taken up again after children of the interpreter have ended, and aloneWithin how many
// instructions that may take.
const (
	nativeRuns  = 8
	aloneWithin = 1 << 28
)

// untilAlone lets the machine go on until there is one process. If that is not before the device is open, the result is a
// system before that.
func (w *worker) untilAlone(c context.Context, sys *kernel.System) (*kernel.System, bool) {
	const chunk = 1 << 18
	for n := 0; n < aloneWithin && c.Err() == nil; n += chunk {
		before := sys.Fork()
		stop := w.m.Run(sys, &exec.Facts{}, chunk)
		switch {
		case stop.Kind != exec.Budget || sys.Opened():
			return before, false
		case nativeboot.OneProcess(sys):
			return sys, true
		}
	}
	return sys, false
}

// native starts sys natively as far as that is possible, up to where the guest opens its device: before the code under test. On the way it
// keeps a snapshot where the guest looks at the test file for the first time; behind says that sys is one. The machine goes on from there, or from the start of the process: the result is the system to go on with.
func (w *worker) native(c context.Context, sys *kernel.System, cfg kernel.Config, behind bool) (*kernel.System, error) {
	r := w.r
	entry, err := r.entryPoint()
	if err != nil {
		return nil, err
	}
	b := nativeboot.Boot{
		Sys: sys, Limit: r.o.nativeLimit(), MaxMemory: cfg.MaxMemory, Entry: entry, Entered: behind,
		AtEntry: func(s *mem.Space, native func(uint64) uint64) []uint64 {
			enter(w.m, r.t.found.Image, s, native)
			return always(r.t.found.Image, s)
		},
		Code: map[uint64][]byte{},
		Hook: func(at uint64, c *cpu.CPU, s *mem.Space) (bool, string) {
			handled, stop := w.m.Hooks[at](w.m, c, s)
			if stop != nil {
				return false, "a model asks for a decision"
			}
			return handled, ""
		},
	}
	for i, md := range r.t.found.Image.Models {
		if code := md.Kind().Native; code != nil {
			b.Code[model.Address(i)] = code
		}
	}
	atHead := false
	b.Before = func(path string) bool {
		switch {
		case path == kernel.DevicePath:
			return true
		case behind:
		case path == r.t.tc.Path:
			behind = true
			atHead = b.Sys.Calls() >= headCalls
			return atHead
		}
		return false
	}
	start := func() (ended string, err error) {
		if ended, err = b.Run(c); atHead && err == nil {
			atHead = false
			b.Sys = r.saveHead(b.Sys, &cfg)
			ended, err = b.Run(c)
		}
		return ended, err
	}
	ended, err := start()
	for n := 0; err == nil && ended == nativeboot.ManyProcesses && b.Entered && n < nativeRuns; n++ {
		alone := false
		if b.Sys, alone = w.untilAlone(c, b.Sys); !alone {
			break
		}
		ended, err = start()
	}
	sys = b.Sys
	if err != nil {
		ended = err.Error()
		sys, err = kernel.Boot(cfg)
	}
	w.slow = ended == nativeboot.Slow
	if ended != "" && r.prog != nil && c.Err() == nil && !w.slow { // the machine has its own bound
		once("native boot: "+ended+"; the machine goes on", func(line string) { r.prog.say("%s", line) })
	}
	return sys, err
}
