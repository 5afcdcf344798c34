package kernel

import (
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"

	"symchef/internal/mem"
)

// The scheduler runs one order of the tasks' steps. The others need not be looked at if no two steps of different tasks conflict
// that are without order: two accesses of the same memory or object, one of them a change. An order holds in every
// schedule where it comes from a must-edge:
//
//   - what a task did before it made another one comes before what that does;
//   - what a task did before it ended comes before what follows in the one that waits for it;
//   - what a writer did before it wrote comes before what follows in the reader, and what all writers did before they closed the
//     pipe comes before what follows the end of the file.
//
//   - what is posted to a semaphore of the C library is sent, and taken by who waits for it, see ordersem.go.
//
// Locks, condition variables, futexes and atomic instructions give no must-edge: another schedule may take them the other way round. Two critical
// sections with the same data conflict, therefore, and so do a flag that is set and a loop that looks at it: how often it looks is another path.
//
// An order is part of the system. There is one only while more than one task lives, or what tasks that have ended did is without order
// to the one that is left. Each task is a strand with a vector clock (Mattern, Fidge); a mark is a step of a strand.

// clock says, by strand, up to which epoch its steps come before. It is never changed in place.
type clock []uint32

func (c clock) at(k int) uint32 {
	if k < len(c) {
		return c[k]
	}
	return 0
}

// join is the least clock that is after both.
func (c clock) join(d clock) clock {
	if len(d) > len(c) {
		c, d = d, c
	}
	for i := range d {
		if d[i] > c[i] {
			out := slices.Clone(c)
			for k := i; k < len(d); k++ {
				out[k] = max(out[k], d[k])
			}
			return out
		}
	}
	return c
}

// with is c where strand k is at epoch v.
func (c clock) with(k int, v uint32) clock {
	out := make(clock, max(len(c), k+1))
	copy(out, c)
	out[k] = v
	return out
}

// strand is a task in an order.
type strand struct {
	now    clock
	tid    int
	pid    int
	space  int  // the process whose memory it uses: its own, or until execve(2) that of the parent (vfork(2))
	asleep bool // it waits since the order began, for a thread of its process: it has done nothing
	ended  bool
	spared bool   // the end of everything may cut it off, see Spare
	fs     uint64 // where its C library keeps it, when it has ended
	stirs  bool   // it has done something since it last released what it did
	shown  uint32 // the epoch of its last step that lasts: a change of files, terminals, output
}

// mark is a step: what, and of which strand in which epoch.
type mark struct {
	strand int
	epoch  uint32
	where  site
}

// site names a step for people.
type site struct {
	call string // a system call and its object; or an instruction:
	back *mem.Backing
	off  uint64 // in back
	pc   uint64
	tid  int

	class  class        // of the instruction
	caller *mem.Backing // of the C library: the file that has called it, as the stack has it; nil: not known
	from   uint64       // in caller
}

// object is what steps of several strands may touch.
type object struct {
	name   string
	writes []mark // the last of each strand
	reads  []mark
	// Of channels (pipes, sockets, event counters): what was sent and not yet received; steps that saw how much there is; what
	// was done before the writers closed it.
	queue   []parcel
	taken   int // how much was received
	sends   []mark
	ends    []mark // that saw whether it is closed
	peeks   []mark // that saw whether there is something, and whether it is closed
	shorts  []mark // that took less than they would have
	closes  []mark // of the writing end
	drops   []mark // of descriptors for reading
	closing clock
	dropped []clock // likewise: what came before
	// Of semaphores: whether posts in the queue, or what was taken since it was empty, have no order; and what came before those that were taken.
	mixed bool
	open  []clock
}

// parcel is what was sent at once, as far as it was not yet received.
type parcel struct {
	n    int
	now  clock
	mark mark
}

// order is the happens-before relation of a system's tasks by must-edges.
type order struct {
	strands []strand
	objects map[string]*object // objects are replaced, never changed in place
	ends    map[int]clock      // of processes that have ended, by PID
	memory  shadow
	looked  []looked  // files that the present call has looked up
	way     []string  // what was met on the way to them
	used    []used    // descriptors that it has asked for
	fds     []fdEntry // those of its process, when it began
	why     string    // the first conflict; then nothing more is noted
}

// looked is a file that a call has looked up.
type looked struct {
	path   string
	node   int // inode of the overlay; 0: none
	kind   uint32
	exists bool
}

// used is a descriptor that a call has asked for.
type used struct{ fd, file int } // file: an open file; -1: none

// use notes that the present call asks for a descriptor.
func (o *order) use(fd, file int) {
	if o != nil {
		o.used = append(o.used, used{fd, file})
	}
}

// look notes that the present call looks up a file. What it finds depends on all folders and links on the way: see walk.
func (o *order) look(base, name string, v vnode, err error) {
	if !strings.HasPrefix(name, "/") {
		name = base + "/" + name
	}
	if name = path.Clean(name); err == nil {
		name = v.path
	}
	if err != nil || !v.exists {
		v = vnode{}
	}
	o.looked = append(o.looked, looked{name, v.node, v.st.kind(), v.exists})
}

// TrackOrder begins to look for steps without order. What has been done so far comes before all.
func (s *System) TrackOrder() {
	s.ordering, s.order = true, nil
	for _, t := range s.tasks {
		t.strand = 0
	}
	if len(s.tasks) > 1 {
		s.begin()
	}
}

// Unordered says which two steps make this one schedule of several that may have other results; empty: no such steps are known.
func (s *System) Unordered() string {
	if s.order == nil {
		return s.unordered
	}
	return s.order.why
}

// begin makes an order of the tasks that there are. Those that wait for another thread have done nothing yet, and come after what wakes them.
func (s *System) begin() {
	o := &order{objects: map[string]*object{}, ends: map[int]clock{}, memory: shadow{}, why: s.unordered}
	for _, t := range s.tasks {
		t.strand = len(o.strands)
		o.strands = append(o.strands, strand{tid: t.TID, pid: t.proc.PID, space: s.spaceOf(t), now: clock{}.with(t.strand, 1), asleep: t != s.cur && s.dormant(t)})
	}
	s.order = o
}

// dormant: t waits for another thread of its process, as long as that takes.
func (s *System) dormant(t *Task) bool {
	return t.Wait.Kind == waitFutex && t.Wait.Deadline == 0 && s.placeOf(t.proc.Mem, t.Wait.Addr).space == t.proc.Mem
}

// fork returns a copy that shares nothing that is changed in place.
func (o *order) fork() *order {
	if o == nil {
		return nil
	}
	c := *o
	c.strands, c.objects, c.ends, c.looked, c.way, c.used, c.fds = slices.Clone(o.strands), maps.Clone(o.objects), maps.Clone(o.ends), nil, nil, nil, nil
	c.memory = o.memory.fork()
	return &c
}

// conflict notes the first one. The earlier step is named first.
func (o *order) conflict(a, b site) {
	if o.why == "" {
		o.why = fmt.Sprintf("one schedule of several: %s and %s", a, b)
		o.objects, o.memory = map[string]*object{}, shadow{clears: o.memory.clears + 1}
	}
}

// before says whether a comes before what strand k does now.
func (o *order) before(a mark, k int) bool {
	return a.strand == k || a.epoch <= o.strands[k].now.at(a.strand)
}

// here is a step of strand k.
func (o *order) here(k int, w site) mark {
	o.strands[k].asleep, o.strands[k].stirs = false, true
	return mark{k, o.strands[k].now.at(k), w}
}

// against looks for a conflict of m with marks.
func (o *order) against(m mark, lists ...[]mark) {
	for _, list := range lists {
		for _, a := range list {
			if !o.before(a, m.strand) {
				o.conflict(a.where, m.where)
				return
			}
		}
	}
}

// noted returns list with m in place of the strand's last mark. It leaves out marks that come before m and whose strand has ended.
func (o *order) noted(list []mark, m mark) []mark {
	out := make([]mark, 0, len(list)+1)
	for _, a := range list {
		if a.strand != m.strand && !(o.strands[a.strand].ended && o.before(a, m.strand)) {
			out = append(out, a)
		}
	}
	return append(out, m)
}

// release ends the strand's epoch and returns its clock until now: whoever acquires that comes after all of it.
func (o *order) release(k int) clock {
	now := o.strands[k].now
	o.strands[k].now = now.with(k, now.at(k)+1)
	o.strands[k].stirs = false
	return now
}

// acquire makes strand k come after now.
func (o *order) acquire(k int, now clock) { o.strands[k].now = o.strands[k].now.join(now) }

// object is a copy of the object of a key, to change.
func (o *order) object(key, name string) *object {
	c := object{name: name}
	if old := o.objects[key]; old != nil {
		c = *old
	}
	o.objects[key] = &c
	return &c
}

// read and write are steps at an object that is no channel.
func (o *order) read(k int, key string, w site) {
	x, m := o.object(key, ""), o.here(k, w)
	o.against(m, x.writes)
	x.reads = o.noted(x.reads, m)
}

func (o *order) write(k int, key string, w site) {
	x, m := o.object(key, ""), o.here(k, w)
	o.against(m, x.writes, x.reads)
	x.writes = o.noted(x.writes, m)
}

// send puts n bytes into a channel.
func (o *order) send(k int, key string, n int, w site) {
	x := o.object(key, "")
	m := o.here(k, w)
	o.against(m, x.sends, x.shorts, x.peeks)
	x.sends = o.noted(x.sends, m)
	x.queue = append(slices.Clip(x.queue), parcel{n, o.release(k), m})
}

// receive takes n bytes out of a channel, where asked would have been taken and left are left. If it waits, the first of what was sent
// orders it; more than that might not have been there.
func (o *order) receive(k int, key string, n, asked, left int, waits, whole bool, w site) {
	x := o.object(key, "")
	m := o.here(k, w)
	if old := n + left - x.held(); old > 0 { // from before the order began
		x.queue = slices.Insert(slices.Clone(x.queue), 0, parcel{n: old})
	}
	o.against(m, x.reads, x.peeks, x.ends)
	x.reads = o.noted(x.reads, m)
	if n == 0 && asked > 0 { // the end
		if !waits {
			o.against(m, x.closes)
		}
		o.acquire(k, x.closing)
		return
	}
	short := n < asked && !whole
	x.taken += n
	for i := 0; n > 0 && i < len(x.queue); i++ {
		q := x.queue[i]
		if i > 0 || !waits {
			o.against(m, []mark{q.mark})
		}
		o.acquire(k, q.now)
		if n < q.n && !whole {
			rest := slices.Clone(x.queue[i:])
			rest[0].n -= n
			x.queue, n = rest, 0
			break
		}
		if n -= q.n; n == 0 || whole {
			x.queue = x.queue[i+1:]
			break
		}
	}
	if short {
		x.shorts = o.noted(x.shorts, o.here(k, w))
	}
}

// held is how much was sent and not yet received.
func (x *object) held() (n int) {
	for _, q := range x.queue {
		n += q.n
	}
	return n
}

// drain takes all that was sent, as one, out of an event counter of which nothing is left.
func (o *order) drain(k int, key string, before bool, waits bool, w site) {
	x := o.object(key, "")
	m := o.here(k, w)
	o.against(m, x.reads, x.peeks)
	x.reads = o.noted(x.reads, m)
	for i, q := range x.queue {
		if i > 0 || before || !waits {
			o.against(m, []mark{q.mark})
		}
		o.acquire(k, q.now)
	}
	x.queue = nil
	x.shorts = o.noted(x.shorts, o.here(k, w)) // more might have come
}

// unaccounted: more was in a channel than was sent since the order began.
func (o *order) unaccounted(key string, n uint64) bool {
	x := o.objects[key]
	return x == nil || uint64(x.held()) < n
}

// accepted: a connection is taken. The first that was made comes before, whichever this is.
func (o *order) accepted(k int, waits bool, w site) {
	x := o.object("connections", "")
	m := o.here(k, w)
	o.against(m, x.reads, x.peeks)
	if !waits {
		o.against(m, x.sends)
	}
	x.reads = o.noted(x.reads, m)
	if len(x.queue) > 0 {
		o.acquire(k, x.queue[0].now)
	}
}

// upset changes a channel in a way that everybody may see.
func (o *order) upset(k int, key string, w site) {
	x := o.object(key, "")
	m := o.here(k, w)
	o.against(m, x.sends, x.reads, x.peeks, x.ends, x.shorts, x.closes, x.drops)
	x.peeks, x.reads, x.drops = o.noted(x.peeks, m), o.noted(x.reads, m), o.noted(x.drops, m)
}

// peek sees whether there is something in a channel, and whether it is closed.
func (o *order) peek(k int, key string, w site) {
	x := o.object(key, "")
	m := o.here(k, w)
	o.against(m, x.sends, x.closes, x.reads)
	x.peeks = o.noted(x.peeks, m)
}

// waited: the task has waited until a channel has something, or its end, if it may have one. It sees whether there are both.
func (o *order) waited(k int, key string, end bool, w site) {
	x := o.object(key, "")
	m := o.here(k, w)
	switch {
	case !end:
		o.against(m, x.reads)
		x.reads = o.noted(x.reads, m)
	case len(x.queue) > 0:
		o.against(m, x.closes, x.reads)
		x.ends = o.noted(x.ends, m)
	}
}

// closed: one of the descriptors for writing is closed.
func (o *order) closed(k int, key string, w site) {
	x := o.object(key, "")
	m := o.here(k, w)
	o.against(m, x.peeks, x.ends)
	x.closes = o.noted(x.closes, m)
	x.closing = x.closing.join(o.release(k))
}

// dropped: one of the descriptors for reading is closed; last: nobody reads any more. What was sent found a reader in every schedule if it comes
// before one of the ends.
func (o *order) dropped(k int, key string, last bool, w site) {
	x := o.object(key, "")
	m := o.here(k, w)
	x.drops = o.noted(x.drops, m)
	x.dropped = append(slices.Clip(x.dropped), o.release(k))
	if !last {
		return
	}
	o.against(m, x.peeks)
	for _, a := range x.sends {
		if !slices.ContainsFunc(x.dropped, func(now clock) bool { return a.epoch <= now.at(a.strand) }) {
			o.conflict(a.where, w)
			return
		}
	}
}

// refused: nobody reads what would have been sent.
func (o *order) refused(k int, key string, w site) {
	x := o.object(key, "")
	m := o.here(k, w)
	o.against(m, x.drops)
	x.sends = o.noted(x.sends, m)
}

// touch is a write where something changes, else a read.
func (o *order) touch(k int, key string, changes bool, w site) {
	if changes {
		o.write(k, key, w)
	} else {
		o.read(k, key, w)
	}
}

// insert adds to what a read shows, in any order with others that do.
func (o *order) insert(k int, key string, w site) {
	x, m := o.object(key, ""), o.here(k, w)
	o.against(m, x.reads)
	x.writes = o.noted(x.writes, m)
}

// shows: the step of strand k that was noted last lasts.
func (o *order) shows(k int) { o.strands[k].shown = o.strands[k].now.at(k) }

// born gives a new task its strand, which comes after its maker.
func (s *System) born(t, by *Task) {
	if !s.ordering {
		return
	}
	if s.order == nil {
		s.begin()
		s.order.strands[by.strand].asleep = false
		if t.strand != by.strand { // it is among the tasks already
			s.order.strands[t.strand].now = s.order.release(by.strand).join(clock{}.with(t.strand, 1))
			s.order.strands[t.strand].asleep = false
		}
		return
	}
	s.copies(t, by)
	o := s.order
	t.strand = len(o.strands)
	o.insert(by.strand, thingKey("tasks", 0), site{call: fmt.Sprintf("a new task of process %d", by.proc.PID), tid: by.TID})
	now := o.release(by.strand)
	o.strands = append(o.strands, strand{tid: t.TID, pid: t.proc.PID, space: s.spaceOf(t), now: now.with(t.strand, 1)})
}

// spaceOf is the first process whose memory t uses.
func (s *System) spaceOf(t *Task) int {
	for _, p := range s.procs {
		if p.Mem == t.proc.Mem {
			return p.PID
		}
	}
	return t.proc.PID
}

// executes: t's process replaces its program. Whoever waits for that (vfork(2)) comes after.
func (s *System) executes(t *Task) {
	if o := s.order; o != nil {
		o.ends[-t.proc.PID] = o.release(t.strand)
		o.strands[t.strand].space = t.proc.PID
	}
}

// unfolded: t goes on after vfork(2), since process pid has a program of its own or has ended.
func (s *System) unfolded(t *Task, pid int) {
	if o := s.order; o != nil {
		if now, ok := o.ends[-pid]; ok {
			o.acquire(t.strand, now)
		} else {
			o.acquire(t.strand, o.ends[pid])
		}
	}
}

// woken: u wakes t from a futex. Had it waited since the order began, it waits for that in every schedule.
func (s *System) woken(t, u *Task) {
	if o := s.order; o != nil && u != nil && u != t && o.strands[t.strand].asleep {
		o.acquire(t.strand, o.release(u.strand))
		o.strands[t.strand].asleep = false
	}
}

// waitedFor: t knows that process pid has ended.
func (s *System) waitedFor(t *Task, pid int) {
	if o := s.order; o != nil {
		o.acquire(t.strand, o.ends[pid])
		s.settleOrder(t)
	}
}

// settleOrder forgets the order where one task is left that comes after all that others did.
func (s *System) settleOrder(t *Task) {
	o := s.order
	if len(s.tasks) != 1 || s.tasks[0] != t {
		return
	}
	for range o.others(t.strand) {
		return
	}
	s.unordered, s.order = o.why, nil
}
