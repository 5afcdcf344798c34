package kernel

import (
	"reflect"
	"slices"

	"symchef/internal/ir"
)

// Recurs reports whether s is again what it was when then was forked from it, but for the time, which the guest has not looked at
// since: so it does for ever what it has done since then. It compares everything that can have a part in what happens next, expressions
// included:
//
//	then ── the same registers, memory and kernel objects ──► s ──► then ──► ...
//
// False says nothing: a program that counts, prints, sleeps or reads the clock does not recur, nor is one of several tasks taken for
// recurring that has asked the kernel for anything, for then the end of a slice may make the next one run.
func (s *System) Recurs(then *System) bool {
	switch {
	case s.looked != then.looked || s.ended || len(s.tasks) != len(then.tasks) || len(s.procs) != len(then.procs) || !sameCPU(s.cur, then.cur):
		return false
	case len(s.tasks) > 1 && (s.entered != then.entered || !s.alone()):
		return false
	}
	for i, p := range s.procs {
		if q := then.procs[i]; (p.Mem == nil) != (q.Mem == nil) || p.Mem != nil && !p.Mem.Same(q.Mem) || p.clocked() {
			return false
		}
	}
	return s.objects.Same(then.objects) && s.sameKernel(then)
}

// alone reports whether only the current task can go on.
func (s *System) alone() bool {
	return !slices.ContainsFunc(s.tasks, func(t *Task) bool { return t != s.cur && (t.Wait.Deadline != 0 || s.runnable(t)) })
}

// clocked reports whether a timer of p runs.
func (p *Process) clocked() bool {
	on := func(t timer) bool { return t.At != 0 }
	return on(p.Timer) || slices.ContainsFunc(p.CPUTimers[:], on) || slices.ContainsFunc(p.Timers, func(t posixTimer) bool { return on(t.Timer) })
}

// sameCPU compares the registers of two tasks, at the start of a block.
func sameCPU(t, u *Task) bool {
	a, b := &t.CPU, &u.CPU
	if t.TID != u.TID || a.PC != b.PC {
		return false
	}
	for i := range ir.Slot(ir.NumState) {
		if a.R[i] != b.R[i] || a.Sym.Has(i) != b.Sym.Has(i) || a.Sym.Has(i) && a.S[i] != b.S[i] {
			return false
		}
	}
	return true
}

// SameRegisters compares the registers of the current tasks: the cheap part of Recurs.
func (s *System) SameRegisters(then *System) bool { return sameCPU(s.cur, then.cur) }

// sameKernel compares what is neither memory nor a register of the current task. The fields of a System that it leaves out stand in notRecurring, beside the test.
func (s *System) sameKernel(then *System) bool {
	for i, p := range s.procs {
		q := then.procs[i]
		if p.PID != q.PID || !same(&p.process, &q.process) {
			return false
		}
	}
	for i, t := range s.tasks {
		u := then.tasks[i]
		if t.proc.PID != u.proc.PID || !sameCPU(t, u) {
			return false
		}
		a, b := t.task, u.task
		a.proc, b.proc = nil, nil
		a.Wait.Seq, b.Wait.Seq = 0, 0 // the order is that of the list
		if !same(&a, &b) {
			return false
		}
	}
	return sameTable(&s.files, &then.files) && sameTable(&s.pipes, &then.pipes) && sameTable(&s.socks, &then.socks) &&
		sameTable(&s.ttys, &then.ttys) && sameTable(&s.segments, &then.segments) && sameTable(&s.nodes, &then.nodes) && s.out == then.out &&
		s.lastID == then.lastID && s.skew == then.skew && s.rng == then.rng && s.status == then.status && s.ports == then.ports &&
		s.stored == then.stored && s.lastObject == then.lastObject && s.device == then.device && len(s.stdin.Data) == len(then.stdin.Data)
}

func same[T any](a, b *T) bool { return reflect.DeepEqual(a, b) }

// sameTable compares the objects of two tables; those that were not written since the fork are shared.
func sameTable[T any](a, b *table[T]) bool {
	return slices.EqualFunc(a.rows, b.rows, func(x, y *row[T]) bool {
		return x == y || x != nil && y != nil && (x.v == y.v || same(x.v, y.v))
	})
}
