package session

import (
	"context"
	"time"

	"symchef/internal/cpu"
	"symchef/internal/exec"
	"symchef/internal/interp"
	"symchef/internal/kernel"
	"symchef/internal/mem"
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

// nativeLimit is how long a native boot may take before the machine goes on.
const nativeLimit = 20 * time.Second

// always returns where the models of img have hooks that do something though nothing is symbolic, the interpreter being mapped in s.
func always(img *interp.Image, s *mem.Space) (at []uint64) {
	for i, md := range rebased(img, s).Models {
		switch {
		case groups[md.Name] != nil:
			for _, place := range concrete {
				if a, ok := md.Places[place]; ok {
					at = append(at, a)
				}
			}
		case md.Entry == 0:
			at = append(at, modelAt(i))
		}
	}
	return at
}

// nativeRuns is how often a native boot is taken up again after children of the interpreter have ended, and aloneWithin how many
// instructions that may take.
const (
	nativeRuns  = 8
	aloneWithin = 1 << 28
)

// untilAlone lets the machine go on until there is one task. If that is not before the device is open, the result is a
// system before that.
func (w *worker) untilAlone(c context.Context, sys *kernel.System) (*kernel.System, bool) {
	const chunk = 1 << 18
	for n := 0; n < aloneWithin && c.Err() == nil; n += chunk {
		before := sys.Fork()
		stop := w.m.Run(sys, &exec.Facts{}, chunk)
		switch {
		case stop.Kind != exec.Budget || sys.Opened():
			return before, false
		case len(sys.Tasks()) == 1:
			return sys, true
		}
	}
	return sys, false
}

// native starts sys natively as far as that is possible, up to where the guest opens its device: before the code under test. The
// machine goes on from there, or from the start of the process: the result is the system to go on with.
func (w *worker) native(c context.Context, sys *kernel.System, cfg kernel.Config) (*kernel.System, error) {
	r := w.r
	entry, err := entryPoint(r.t.tc.Interpreter)
	if err != nil {
		return nil, err
	}
	b := nativeboot.Boot{
		Sys: sys, Limit: nativeLimit, MaxMemory: cfg.MaxMemory, Entry: entry,
		Before: func(path string) bool { return path == kernel.DevicePath },
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
		if code := code[md.Name]; code != nil && md.Entry == 0 {
			b.Code[modelAt(i)] = code
		}
	}
	ended, err := b.Run(c)
	for n := 0; err == nil && ended == nativeboot.ManyTasks && b.Entered && n < nativeRuns; n++ {
		alone := false
		if b.Sys, alone = w.untilAlone(c, b.Sys); !alone {
			break
		}
		ended, err = b.Run(c)
	}
	sys = b.Sys
	if err != nil {
		ended = err.Error()
		sys, err = kernel.Boot(cfg)
	}
	if ended != "" && r.prog != nil {
		r.prog.say("native boot: %s; the machine goes on", ended)
	}
	return sys, err
}
