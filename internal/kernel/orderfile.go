package kernel

import (
	"fmt"
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
			if strings.HasPrefix(name, "open") {
				o.write(k, "terminal", w)
			} else {
				o.read(k, "terminal", w)
			}
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
	alone := name == "poll" && c.a[1] == 1 && c.arg32(2) < 0
	for _, i := range s.polled {
		f := s.files.get(i)
		key, object := s.channel(i, false)
		w := c.step(name, object)
		switch {
		case f == nil:
		case f.tty():
			o.read(k, "terminal", c.step(name, "a terminal"))
		case f.Kind == filePID && alone:
			o.acquire(k, o.ends[int(f.Count)])
		case f.Kind == filePID:
			o.read(k, lifeKey(int(f.Count)), c.step(name, "a process"))
		case key == "":
		case f.Kind == filePipe && f.In < 0 && s.roomy(i, key, pipeAtomic): // whether somebody reads it is what matters
			o.refused(k, key, w)
		case alone:
			o.waited(k, key, w)
		default: // which are ready by now is another matter
			o.peek(k, key, w)
			if to, _ := s.channel(i, true); to != key && !s.roomy(i, to, pipeAtomic) {
				o.peek(k, to, w)
			}
		}
	}
}

// left is how much a channel still has, of open file i, and whether messages are taken as a whole.
func (s *System) left(i int) (n int, whole bool) {
	switch f := s.files.get(i); f.Kind {
	case filePipe:
		if p := s.pipes.get(f.In); p != nil {
			return len(p.Buf.Data), false
		}
	case fileSocket:
		if x := s.socks.get(f.Sock); x != nil {
			return x.Held, x.Type != unix.SOCK_STREAM
		}
	case fileEvent:
		return int(min(f.Count, 1<<40)), false
	}
	return 0, false
}

// roomy: the channel that open file i writes to would have room for what it has, and n bytes more, even if nobody had read since the order began.
func (s *System) roomy(i int, key string, n int) bool {
	taken := 0
	if x := s.order.objects[key]; x != nil {
		taken = x.taken
	}
	switch f := s.files.get(i); f.Kind {
	case filePipe:
		p := s.pipes.get(max(f.In, f.Out))
		return p != nil && len(p.Buf.Data)+taken+n <= p.size()
	case fileSocket:
		const most = 1024 // of the sender's buffer that a byte can take: it may be a packet
		x := s.socks.get(f.Sock)
		o := s.socks.get(x.Other)
		return x.Other < 0 || o != nil && o.Cost+(taken+n)*most <= x.buffer()
	}
	return true
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
