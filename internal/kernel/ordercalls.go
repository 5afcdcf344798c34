package kernel

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// What system calls do to objects of the kernel, for the order of tasks. Files go by their path, descriptors and what else a process has by
// its number, pipes, sockets and event counters are channels. Memory of one's own, time, numbers of tasks and processes, addresses that the kernel
// chooses and random bytes are none: nobody else sees them, or they are as the environment has them.

// step is the place of the present call.
func (c *call) step(name, object string) site {
	if object != "" {
		name += " of " + object
	}
	return site{call: fmt.Sprintf("%s by process %d", name, c.p.PID), tid: c.t.TID}
}

// ordered notes what the call has done; before is the open file of its first argument when it began, -1 if that is none.
func (c *call) ordered(row *syscallRow, before int, v uint64, err error) {
	s := c.s
	o := s.order
	if o.why != "" {
		return
	}
	if w, waits := err.(blocked); waits {
		c.waits(row.name, before, wait(w))
		return // it is made again
	}
	if _, again := err.(needConcrete); again {
		return
	}
	c.childMask(c.mask)
	if o.why != "" {
		return
	}
	x := c.accessOf(row.name)
	if x == nil {
		c.anything(row.name)
		return
	}
	c.usesAll(row.name)
	c.redone(row.name)
	c.lookups(row.name, x.step == touchWrite, err)
	c.touches(row.name, x, c.named(row.name))
	if o.why != "" {
		return
	}
	switch x.step {
	case touchFile:
		c.fileStep(row.name, before, v, err)
	case touchRead, touchWrite:
		if len(o.looked) == 0 {
			c.itself(row.name, x.step == touchWrite)
		}
	case touchPoll:
		c.pollStep(row.name, before)
	case touchFlags:
		c.flagStep(row.name, before, v, err)
	case touchLife:
		c.lifeStep(row.name)
	case touchSegment:
		c.segmentStep(row.name)
	case touchMappings:
		c.mappingStep(row.name, v, err)
	case touchAnything:
		c.anything(row.name)
	}
}

// anything: the call may conflict with whatever others do.
func (c *call) anything(name string) {
	for _, x := range c.s.order.others(c.t.strand) {
		c.s.order.conflict(c.step(name, ""), site{call: fmt.Sprintf("what process %d does", x.pid), tid: x.tid})
		return
	}
}

// usesAll notes the descriptors that the call has asked for, which other threads may close or make.
func (c *call) usesAll(name string) {
	for _, u := range c.s.order.used {
		c.uses(name, u.fd)
	}
}

func (c *call) uses(name string, fd int) {
	if !c.s.lone() {
		c.s.order.read(c.t.strand, fmt.Sprintf("descriptor %d of %d", fd, c.p.PID), c.step(name, "a descriptor"))
	}
}

// redone notes the descriptors that the call has made, changed or closed.
func (c *call) redone(name string) {
	o, old, now := c.s.order, c.s.order.fds, c.p.Fds
	if c.s.lone() || c.p.Dead {
		return
	}
	any := false
	for fd := range max(len(old), len(now)) {
		was, is := fdEntry{File: -1}, fdEntry{File: -1}
		if fd < len(old) {
			was = old[fd]
		}
		if fd < len(now) {
			is = now[fd]
		}
		if was == is {
			continue
		}
		w := c.step(name, "a descriptor")
		o.write(c.t.strand, fmt.Sprintf("descriptor %d of %d", fd, c.p.PID), w)
		if any = any || (was.File < 0) != (is.File < 0); any {
			o.write(c.t.strand, thingKey("numbers", c.p.PID), w)
		}
	}
}

// itself notes a call that asks for a file, or changes it, by a descriptor instead of a name.
func (c *call) itself(name string, changes bool) {
	for _, u := range c.s.order.used {
		if f := c.s.files.get(u.file); f != nil && (f.Node != 0 || f.Kind == fileLower || f.Kind == fileDir || f.Kind == filePath) {
			w := c.step(name, f.Path)
			if c.file(f.Path, f.Node, changes, w); !changes && f.Kind == fileDir {
				c.s.order.read(c.t.strand, "folder "+f.Path, w)
			}
		}
	}
}

// proc: a file below /proc shows what other processes, or threads of this one, do, or what this one has.
func (c *call) proc(name, path string) {
	rest, ok := strings.CutPrefix(path, "/proc/")
	if !ok {
		return
	}
	dir, more, _ := strings.Cut(rest, "/")
	pid, err := strconv.Atoi(dir)
	if err == nil && pid != c.p.PID || strings.HasPrefix(more, "task") && !c.s.lone() {
		c.anything(name)
		return
	}
	if rest := taskPart(more); rest != "" {
		_, more, _ = strings.Cut(rest, "/")
	}
	if fd, err := strconv.Atoi(strings.TrimPrefix(strings.TrimPrefix(more, "fdinfo/"), "fd/")); err == nil {
		c.uses(name, fd)
		return
	}
	for _, word := range strings.Fields(procShows[more]) {
		c.thing(name, word, c.p.PID, false)
	}
}

// procShows are the things that files of /proc/PID show.
var procShows = map[string]string{
	"fd": "numbers", "fdinfo": "numbers", "smaps_rollup": "mappings", "cwd": "folder", "limits": "limits", "maps": "mappings", "smaps": "mappings", "statm": "mappings", "comm": "name",
	"stat": "name parent group priority handlers state tasks", "status": "name parent group ids handlers numbers state mask tasks",
}

// opens are the flags of a call that opens a file.
func (c *call) opens(name string) int {
	if name == "openat" {
		return int(c.a[2])
	}
	return int(c.a[1])
}

// flagStep notes a call on what open files have of their own.
func (c *call) flagStep(name string, i int, v uint64, err error) {
	s, o, k, w := c.s, c.s.order, c.t.strand, c.step(name, "a descriptor")
	if name == "epoll_ctl" {
		o.write(k, fmt.Sprintf("epoll %d", i), w)
		return
	}
	switch c.a[1] {
	case unix.F_SETLK, unix.F_SETLKW, unix.F_OFD_SETLK, unix.F_OFD_SETLKW, unix.F_GETLK, unix.F_OFD_GETLK:
		c.fileStep("flock", i, v, err)
	case unix.F_GETFL:
		o.read(k, fmt.Sprintf("flags %d", i), w)
	case unix.F_SETFL:
		o.write(k, fmt.Sprintf("flags %d", i), w)
	case unix.F_GETPIPE_SZ, unix.F_SETPIPE_SZ:
		f := s.files.get(i)
		if f == nil || f.Kind != filePipe {
			return
		}
		n := max(f.In, f.Out)
		if c.a[1] == unix.F_GETPIPE_SZ {
			o.read(k, fmt.Sprintf("room %d", n), w)
			return
		}
		o.write(k, fmt.Sprintf("room %d", n), w)
		o.upset(k, fmt.Sprintf("pipe %d", n), w)
	}
}

// waits notes that a call on open file i waits: it may do so for ever, and who else wants the same is told apart by the schedule.
func (c *call) waits(name string, i int, w wait) {
	x := c.accessOf(name)
	if x == nil {
		return
	}
	c.usesAll(name)
	switch {
	case x.step == touchPoll:
		c.touches(name, x, c.p.PID)
		if f := c.s.files.get(i); f != nil && f.Kind == fileEpoll {
			c.s.order.write(c.t.strand, fmt.Sprintf("epoll %d", i), c.step(name, "a descriptor"))
		}
		return
	case x.step == touchRead: // of a FIFO
		c.lookups(name, false, nil)
		return
	case x.step != touchFile || c.s.files.get(i) == nil:
		return
	}
	c.lookups(name, false, nil)
	o, k := c.s.order, c.t.strand
	if c.s.files.get(i).Refs > 1 || !c.s.lone() { // which may say that it does not wait
		o.read(k, fmt.Sprintf("flags %d", i), c.step(name, "an open file"))
	}
	if f := c.s.files.get(i); f.Kind == fileSocket {
		c.socketState(name, f.Sock)
	}
	switch m := c.step(name, "a socket"); name {
	case "connect":
		o.send(k, "connections", 0, m)
		return
	case "accept", "accept4":
		x := o.object("connections", "")
		o.against(o.here(k, m), x.reads)
		x.reads = o.noted(x.reads, o.here(k, m))
		return
	}
	writes := strings.Contains(name, "write") || strings.HasPrefix(name, "send")
	if key, object := c.s.channel(i, writes); key != "" {
		if n := w.Done - c.was.Done; writes && n > 0 { // what has gone so far
			o.send(k, key, n, c.step(name, object))
			return
		}
		x, m := o.object(key, ""), o.here(k, c.step(name, object))
		if writes {
			o.against(m, x.sends)
			x.sends = o.noted(x.sends, m)
		} else {
			o.against(m, x.reads)
			x.reads = o.noted(x.reads, m)
		}
	}
}

// socketState notes that the call asks for what socket n has beside what is sent, its options and names, or changes that.
func (c *call) socketState(name string, n int) {
	key, w := fmt.Sprintf("state of socket %d", n), c.step(name, "a socket")
	switch name {
	case "connect", "shutdown", "bind", "listen", "setsockopt":
		c.s.order.write(c.t.strand, key, w)
	default:
		c.s.order.read(c.t.strand, key, w)
	}
}

// nothing: there is something to read from open file i, and no end.
func (c *call) nothing(i int) bool {
	left, whole := c.s.left(i)
	return left > 0 && !whole
}

// asked is how many bytes the call would have taken.
func (c *call) asked(name string) int {
	switch name {
	case "read", "pread64", "recvfrom", "write", "pwrite64", "sendto":
		return int(min(c.a[2], 1<<40))
	}
	return 1 << 40 // of several buffers, more than there are at least
}

// socketFlags is what flags a call on a socket has.
func (c *call) socketFlags(name string) int {
	if name == "recvmsg" || name == "sendmsg" {
		return int(c.a[2])
	}
	return int(c.a[3])
}

// shut notes that the current task, or the process that ends with it, closes one descriptor of open file i.
func (s *System) shut(i int, last bool) {
	o := s.order
	if o == nil || o.why != "" || s.cur == nil {
		return
	}
	f := s.files.get(i)
	k, w := s.cur.strand, func(what string) site {
		return site{call: fmt.Sprintf("close of %s by process %d", what, s.cur.proc.PID), tid: s.cur.TID}
	}
	f.kind().shut(s, f, last, k, w)
}

// adopted: the present task's process ends, and with it the parent of q.
func (s *System) adopted(q *Process) {
	if o := s.order; o != nil && o.why == "" {
		o.write(s.cur.strand, fmt.Sprintf("parent %d", q.PID), site{call: fmt.Sprintf("the end of process %d", s.cur.proc.PID), tid: s.cur.TID})
	}
}

// forgetChannel forgets a channel, or the offset of an open file, since its number may be given again.
func (s *System) forgetChannel(key string, i int) {
	if s.order != nil {
		delete(s.order.objects, fmt.Sprintf("%s %d", key, i))
	}
}

// single reports whether p has one task.
func (s *System) single(p *Process) bool {
	n := 0
	for _, t := range s.tasks {
		if t.proc == p {
			n++
		}
	}
	return n == 1
}

// awaits notes that the call waits for child pid, or as waitpid(2) says, which another thread may do.
func (c *call) awaits(pid int) {
	o := c.s.order
	if o == nil || o.why != "" || c.s.lone() {
		return
	}
	all, w := fmt.Sprintf("children %d", c.p.PID), c.step("wait for a child", "")
	if pid > 0 {
		o.read(c.t.strand, all, w)
		all = fmt.Sprintf("child %d", pid)
	}
	o.write(c.t.strand, all, w)
}

// reaped notes that the call has got news of child q, or of none (nil), of those that it asked for.
func (c *call) reaped(q *Process, pid int, hang bool) {
	s := c.s
	o := s.order
	if o == nil || o.why != "" {
		return
	}
	w := c.step("wait for a child", "")
	for _, x := range s.procs {
		if x == q || x.Parent != c.p.PID || pid > 0 && x.PID != pid {
			continue
		}
		// Another child might have come first; one that is not waited for might have ended by now.
		if q != nil && q.Dead && x.Dead && slices.Equal(o.ends[x.PID].join(o.ends[q.PID]), o.ends[x.PID]) {
			continue // it ended after q in any case
		}
		if !x.Dead && s.idle(x) {
			continue
		}
		o.conflict(w, site{call: fmt.Sprintf("the end of process %d", x.PID), tid: x.PID})
		return
	}
	switch {
	case q == nil:
		return
	case !q.Dead && q.News == int(unix.SIGCONT): // it goes on, and may stop again or end before this is told
		o.conflict(w, site{call: fmt.Sprintf("what process %d does then", q.PID), tid: q.PID})
		return
	case !hang:
		for _, x := range o.others(c.t.strand) { // without waiting: it might not have ended, or stopped, yet
			if x.pid == q.PID {
				o.conflict(site{call: fmt.Sprintf("the end of process %d", q.PID), tid: q.PID}, w)
				return
			}
		}
	}
	if q.Dead {
		s.waitedFor(c.t, q.PID)
	} else {
		o.acquire(c.t.strand, o.ends[stopKey(q.PID)])
	}
}

// idle reports whether no task of p has done anything since the order began.
func (s *System) idle(p *Process) bool {
	return !slices.ContainsFunc(s.tasks, func(t *Task) bool { return t.proc == p && !s.order.strands[t.strand].asleep })
}
