package kernel

import (
	"bytes"
	"cmp"
	"debug/elf"
	"fmt"
	"slices"
	"sync"

	"golang.org/x/arch/x86/x86asm"

	"symchef/internal/ir"
	"symchef/internal/mem"
)

// A semaphore of the C library (sem_post(3), sem_wait(3)) counts what was posted and not yet taken. Who takes comes after a post, and that is a must-edge
// where no schedule could give another one:
//
//   - Posts in an order of their own, as those of one task: the j-th taking comes after the j-th post.
//   - Posts without order: when all have been taken, all come before. A post that comes later, and without order, to what has been taken might have
//     been taken instead: a conflict.
//   - Takings without order compete: a conflict. So do whoever tries, waits for a time only, or asks for the value.
//
// The value is the lower half of eight bytes, the upper half of which counts who waits. Only instructions of these functions are semaphore steps: any other
// access of the same memory conflicts with them as all do.

// semaphores are the functions whose instructions post and take.
var semaphores = []string{"sem_post", "sem_wait"}

var semaphoreCode sync.Map // *mem.Backing: [][2]uint64, in which instructions are theirs, by offset in the file

// semaphoreAt is where instructions of a C library are semaphore steps: those that their entries lead to, but for what they call.
func semaphoreAt(back *mem.Backing) [][2]uint64 {
	if at, ok := semaphoreCode.Load(back); ok {
		return at.([][2]uint64)
	}
	var ranges [][2]uint64
	if f, err := elf.NewFile(bytes.NewReader(back.Data)); err == nil {
		all, _ := f.DynamicSymbols()
		for _, x := range all {
			if slices.Contains(semaphores, x.Name) && x.Section != elf.SHN_UNDEF {
				ranges = append(ranges, reached(back.Data, offsetOf(f, x.Value))...)
			}
		}
		slices.SortFunc(ranges, func(a, b [2]uint64) int { return cmp.Compare(a[0], b[0]) })
		ranges = slices.Compact(ranges)
	}
	at, _ := semaphoreCode.LoadOrStore(back, ranges)
	return at.([][2]uint64)
}

// reached are the instructions that code leads to without a call.
func reached(code []byte, from uint64) (out [][2]uint64) {
	seen := map[uint64]bool{}
	for todo := []uint64{from}; len(todo) > 0 && len(out) < 1000; {
		at := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		if seen[at] || at >= uint64(len(code)) {
			continue
		}
		seen[at] = true
		inst, err := x86asm.Decode(code[at:min(at+15, uint64(len(code)))], 64)
		if err != nil {
			continue
		}
		next := at + uint64(inst.Len)
		out = append(out, [2]uint64{at, next})
		if rel, ok := inst.Args[0].(x86asm.Rel); ok && inst.Op != x86asm.CALL {
			todo = append(todo, next+uint64(int64(rel)))
		}
		if inst.Op != x86asm.JMP && inst.Op != x86asm.RET && inst.Op != x86asm.UD2 && inst.Op != x86asm.HLT {
			todo = append(todo, next)
		}
	}
	return out
}

// semaphoreSteps says how many of n bytes at w are of semaphore steps.
func semaphoreSteps(w site, n uint64) (k uint64) {
	for _, r := range semaphoreAt(w.back) {
		if lo, hi := max(w.off, r[0]), min(w.off+n, r[1]); lo < hi {
			k += hi - lo
		}
	}
	return k
}

// semaphoreKey is the object of the semaphore at a place.
func semaphoreKey(pid int, at uint64) string { return fmt.Sprintf("semaphore %d %#x", pid, at) }

// isSemaphore: a semaphore has been used at an address of the current task.
func (s *System) isSemaphore(addr uint64) bool {
	return s.order != nil && s.order.objects[s.semaphoreOf(s.cur, addr)] != nil
}

// semaphoreOf is the object of a semaphore that a task has at an address.
func (s *System) semaphoreOf(t *Task, addr uint64) string {
	if at := s.placeOf(t.proc.Mem, addr); at.space == s.objects {
		return semaphoreKey(0, at.addr)
	}
	return semaphoreKey(s.order.strands[t.strand].space, addr)
}

// semaphoreStep notes an access of n bytes at addr, the place (pid, at), by an instruction of the semaphore functions: a compare-and-exchange that is
// about to succeed posts or takes.
func (s *System) semaphoreStep(pid int, at, addr, n uint64, write bool, w site) {
	if n != 8 {
		return
	}
	o, k, key := s.order, s.cur.strand, semaphoreKey(pid, at)
	o.object(key, "")
	l := s.instructions(w.pc)
	if write || len(l) == 0 || l[0].Op != x86asm.CMPXCHG {
		return
	}
	reg, ok := l[0].Args[1].(x86asm.Reg)
	old, err := s.cur.proc.Mem.ReadU(addr, 8)
	if !ok || err != nil || reg < x86asm.RAX || reg > x86asm.R15 || s.cur.CPU.R[ir.RAX] != old {
		return
	}
	value := uint32(old)
	w.caller, w.from = s.caller()
	switch uint32(s.cur.CPU.R[ir.RAX+ir.Slot(reg-x86asm.RAX)]) {
	case value + 1:
		o.post(k, key, int(value), w)
	case value - 1:
		o.take(k, key, int(value), w)
	}
}

// forgets: what is not a semaphore step changes bytes of memory. What semaphores there hold comes from nobody.
func (o *order) forgets(pid int, at, n uint64) {
	for i := range uint64(15) {
		if a := at - 7 + i; a < at+n && at < a+8 {
			if key := semaphoreKey(pid, a); o.objects[key] != nil {
				o.object(key, "").queue = nil
			}
		}
	}
}

// holds makes the queue of a semaphore what its value says: more comes from before the order, or from a step that was none of these.
func (x *object) holds(value int) {
	held := x.held()
	if held > value {
		x.queue, held = nil, 0
	}
	if held < value {
		x.queue = slices.Insert(slices.Clone(x.queue), 0, parcel{n: value - held})
	}
}

// post adds one to a semaphore that holds value.
func (o *order) post(k int, key string, value int, w site) {
	x := o.object(key, "")
	x.holds(value)
	m := o.here(k, w)
	for _, a := range x.sends {
		if !o.before(a, k) {
			x.mixed = true
			o.against(m, x.reads) // those might have taken this one instead
		}
	}
	x.sends = o.noted(x.sends, m)
	x.queue = append(slices.Clip(x.queue), parcel{1, o.release(k), m})
}

// take takes one from a semaphore that holds value.
func (o *order) take(k int, key string, value int, w site) {
	x := o.object(key, "")
	x.holds(value)
	m := o.here(k, w)
	o.against(m, x.reads)
	x.reads = o.noted(x.reads, m)
	first := x.queue[0]
	if x.queue = slices.Clone(x.queue); first.n > 1 {
		x.queue[0].n--
	} else {
		x.queue = x.queue[1:]
	}
	if x.mixed { // it may have been any of them
		x.open = append(slices.Clip(x.open), first.now)
		if len(x.queue) > 0 {
			return
		}
		for _, now := range x.open {
			o.acquire(k, now)
		}
		x.open, x.mixed = nil, false
		return
	}
	o.acquire(k, first.now)
}
