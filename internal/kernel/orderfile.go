package kernel

import (
	"fmt"
	"slices"
	"strings"

	"golang.org/x/sys/unix"
)

// file notes a step at a file: by its name, and as what the name stands for, which other names may stand for, too.
func (c *call) file(path string, node int, changes bool, w site) {
	o, k := c.s.order, c.t.strand
	for _, key := range []string{"file " + path, fmt.Sprintf("inode %d", node)} {
		switch {
		case key == "inode 0":
		case changes:
			o.write(k, key, w)
			o.shows(k)
		default:
			o.read(k, key, w)
		}
	}
}

// lookups notes the files that the call has looked up. What it finds depends on the folders and links on the way.
func (c *call) lookups(name string, changes bool, err error) {
	o, k := c.s.order, c.t.strand
	if len(o.looked) == 0 {
		return
	}
	c.thing(name, "folder", c.p.PID, false)
	c.thing(name, "ids", c.p.PID, false)
	for _, path := range o.way {
		c.file(path, 0, false, c.step(name, path))
		if strings.Contains(path, "/fd/") || strings.HasSuffix(path, "/cwd") {
			c.proc(name, path)
		}
	}
	opens := strings.HasPrefix(name, "open") && err == nil
	for i, l := range o.looked {
		c.proc(name, l.path)
		if o.why != "" {
			return
		}
		made := opens && i == len(o.looked)-1 && c.opens(name)&unix.O_CREAT != 0 && !l.exists || name == "bind" && err == nil
		cut := opens && c.opens(name)&unix.O_TRUNC != 0
		w := c.step(name, l.path)
		if terminal(l.path) {
			o.touch(k, "terminal", strings.HasPrefix(name, "open"), w)
		}
		c.file(l.path, l.node, changes || made || cut || opens && l.kind == unix.S_IFIFO, w)
		if changes || cut {
			c.s.cuts(l.node, w)
		}
		switch {
		case made || changes:
			o.insert(k, "folder "+l.path[:strings.LastIndexByte(l.path, '/')], w)
		case l.kind == unix.S_IFDIR && strings.Contains(name, "stat"): // how many there are in it, and when that has changed
			o.read(k, "folder "+l.path, w)
		}
	}
}

// pollStep notes what a call that waits for files has looked at; ep is the open file of its first argument.
func (c *call) pollStep(name string, ep int) {
	s, o, k := c.s, c.s.order, c.t.strand
	if f := s.files.get(ep); strings.HasPrefix(name, "epoll") && f != nil {
		o.write(k, fmt.Sprintf("epoll %d", ep), c.step(name, "a descriptor"))
	}
	alone := c.waitsForOne(name, ep)
	for _, i := range s.polled {
		f := s.files.get(i)
		key, object := s.channel(i, false)
		w := c.step(name, object)
		switch {
		case f == nil:
		case f.tty():
			o.read(k, "terminal", c.step(name, "a terminal"))
		case f.Kind == filePID && alone:
			o.acquire(k, o.ends[f.PID])
		case f.Kind == filePID:
			o.read(k, lifeKey(f.PID), c.step(name, "a process"))
		case key == "":
		case f.Kind == filePipe && f.In < 0 && s.roomy(i, key, pipeAtomic): // whether somebody reads it is what matters
			o.refused(k, key, w)
		case alone:
			o.waited(k, key, !(f.Kind == filePipe && c.keeps(f.In)), w)
		default: // which are ready by now is another matter
			o.peek(k, key, w)
			if to, _ := s.channel(i, true); to != key && !s.roomy(i, to, pipeAtomic) {
				o.peek(k, to, w)
			}
		}
	}
}

// waitsForOne: the call waits until there is something to read from one file, as long as that takes, and asks for nothing else.
func (c *call) waitsForOne(name string, ep int) bool {
	const reads = unix.POLLIN | 0x40 // POLLRDNORM
	events, forever := uint32(0), false
	switch name {
	case "poll", "ppoll":
		if b, err := c.bytes(c.a[0], 8); err == nil && c.a[1] == 1 {
			events = uint32(b[4]) | uint32(b[5])<<8
		}
		forever = name == "poll" && c.arg32(2) < 0 || name == "ppoll" && c.a[2] == 0
	case "select", "pselect6":
		if c.a[2] == 0 && c.a[3] == 0 {
			events = unix.POLLIN
		}
		forever = c.a[4] == 0
	case "epoll_wait", "epoll_pwait":
		if f := c.s.files.get(ep); f != nil && len(f.Watch) == 1 { // not only once, nor at edges
			events = f.Watch[0].Events
		}
		forever = c.arg32(3) < 0
	}
	files := slices.Clone(c.s.polled)
	slices.Sort(files)
	return forever && events != 0 && events&^reads == 0 && len(slices.Compact(files)) == 1
}

// keeps: the process itself has a descriptor for writing to pipe n, which no other thread of it may close.
func (c *call) keeps(n int) bool {
	return c.s.lone() && slices.ContainsFunc(c.p.Fds, func(e fdEntry) bool {
		f := c.s.files.get(e.File)
		return e.File >= 0 && f.Kind == filePipe && f.Out == n
	})
}

// lifeStep notes a call that finds out whether a process lives.
func (c *call) lifeStep(name string) {
	s, o, k, pid, w := c.s, c.s.order, c.t.strand, c.named(name), c.step(name, "")
	if name == "kill" {
		pid = c.arg32(0)
	}
	own := false // a child is there until it is waited for
	if q := s.process(pid); q != nil && q.Parent == c.p.PID {
		a := c.p.Actions[unix.SIGCHLD]
		own = a.Handler != sigIgn && a.Flags&saNoCldWait == 0 && s.lone()
	}
	switch {
	case name == "kill" && pid <= 0, name == "pidfd_send_signal":
		c.anything(name)
	case name == "tkill" || name == "tgkill":
		if !s.lone() {
			c.anything(name)
		}
	case name == "kill" && !own && pid != c.p.PID:
		o.read(k, lifeKey(pid), w)
		for _, word := range []string{"group", "state"} {
			o.read(k, thingKey(word, pid), w)
		}
	case name != "kill" && pid != c.p.PID:
		o.read(k, lifeKey(pid), w)
	}
}
