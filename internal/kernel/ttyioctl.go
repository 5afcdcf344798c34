package kernel

import (
	"bytes"
	"encoding/binary"

	"golang.org/x/sys/unix"
)

// ioctl requests that golang.org/x/sys/unix lacks or that are clearer beside the others (tty_ioctl(4)).
const (
	tcGets, tcSets, tcSetsW, tcSetsF = 0x5401, 0x5402, 0x5403, 0x5404
	tcSbrk, tcXonc, tcFlush, tcSbrkP = 0x5409, 0x540a, 0x540b, 0x5425
	tiocSCTTY, tiocNoTTY             = 0x540e, 0x5422
	tiocGPgrp, tiocSPgrp, tiocGSID   = 0x540f, 0x5410, 0x5429
	tiocGWinsz, tiocSWinsz           = 0x5413, 0x5414
	tiocGPtN, tiocSPtLck, tiocGPtLck = 0x80045430, 0x40045431, 0x80045439
	tiocGPtPeer                      = 0x5441
)

// ttyRequest is what an ioctl of a terminal does, tty_ioctl(4).
type ttyRequest struct {
	master  bool                                           // there is none of the terminal itself
	changes bool                                           // it stops a process in the background
	do      func(c *call, f *file, t *tty) (uint64, error) // t is f's terminal, for reading
}

var ttyRequests = map[uint64]ttyRequest{
	tcGets:        {do: ttyAttributes},
	tcSets:        {changes: true, do: setTTYAttributes},
	tcSetsW:       {changes: true, do: setTTYAttributes},
	tcSetsF:       {changes: true, do: setTTYAttributes},
	tcSbrk:        {changes: true, do: ttyNothing},
	tcSbrkP:       {changes: true, do: ttyNothing},
	tcXonc:        {changes: true, do: ttyNothing},
	tcFlush:       {changes: true, do: flushTTY},
	tiocGWinsz:    {do: func(c *call, _ *file, t *tty) (uint64, error) { return 0, c.put(c.a[2], t.Window[:]) }},
	tiocSWinsz:    {do: setTTYWindow},
	tiocGPtN:      {master: true, do: func(c *call, f *file, _ *tty) (uint64, error) { return 0, c.put32(c.a[2], uint32(f.In)) }},
	tiocSPtLck:    {master: true, do: lockTTY},
	tiocGPtLck:    {master: true, do: ttyLocked},
	tiocGPtPeer:   {master: true, do: ttyPeer},
	unix.TIOCINQ:  {do: ttyHeld},
	unix.TIOCOUTQ: {do: func(c *call, _ *file, _ *tty) (uint64, error) { return 0, c.put32(c.a[2], 0) }},
	tiocSCTTY:     {do: takeTTY},
	tiocNoTTY:     {do: giveUpTTY},
	tiocGPgrp:     {do: ttyGroup},
	tiocSPgrp:     {changes: true, do: setTTYGroup},
	tiocGSID:      {do: ttySession},
}

// ttyIoctl is ioctl(2) on either side.
func (c *call) ttyIoctl(f *file) (uint64, error) {
	r, known := ttyRequests[c.a[1]]
	switch {
	case r.master && f.Kind != fileMaster:
		return 0, unix.ENOTTY
	case c.s.hung(f):
		return 0, unix.EIO
	case !known:
		return 0, unix.ENOTTY
	}
	if r.changes {
		if err := c.foreground(f, unix.SIGTTOU); err != nil {
			return 0, err
		}
	}
	return r.do(c, f, c.s.ttys.get(f.In))
}

func ttyNothing(*call, *file, *tty) (uint64, error) { return 0, nil }

func ttyAttributes(c *call, _ *file, t *tty) (uint64, error) {
	b, _ := binary.Append(nil, binary.LittleEndian, t.Term)
	return 0, c.put(c.a[2], b)
}

func setTTYAttributes(c *call, f *file, _ *tty) (uint64, error) {
	b, err := c.bytes(c.a[2], 36)
	if err != nil {
		return 0, err
	}
	w := c.s.tty(f.In)
	was := w.Term.Lflag & unix.ICANON
	_, _ = binary.Decode(b, binary.LittleEndian, &w.Term)
	if c.a[1] == tcSetsF {
		w.In, w.Line = nil, nil
	}
	if was != 0 && w.Term.Lflag&unix.ICANON == 0 && len(w.Line) > 0 {
		w.In, w.Line = append(w.In, w.Line), nil
	}
	w.Wakes++
	return 0, nil
}

func flushTTY(c *call, f *file, _ *tty) (uint64, error) {
	w, which, master := c.s.tty(f.In), c.a[2], f.Kind == fileMaster
	w.Wakes++
	if which > 2 {
		return 0, unix.EINVAL
	}
	if in := which != unix.TCOFLUSH; in != master || which == unix.TCIOFLUSH {
		w.In, w.Line = nil, nil
	}
	if out := which != unix.TCIFLUSH; out != master || which == unix.TCIOFLUSH {
		w.Out = nil
	}
	return 0, nil
}

func setTTYWindow(c *call, f *file, _ *tty) (uint64, error) {
	b, err := c.bytes(c.a[2], 8)
	if err != nil {
		return 0, err
	}
	if w := c.s.tty(f.In); !bytes.Equal(b, w.Window[:]) {
		copy(w.Window[:], b)
		c.s.signalGroup(w.Group, unix.SIGWINCH)
	}
	return 0, nil
}

func lockTTY(c *call, f *file, _ *tty) (uint64, error) {
	v, err := c.u32(c.a[2])
	if err == nil {
		c.s.tty(f.In).Locked = v != 0
	}
	return 0, err
}

func ttyLocked(c *call, _ *file, t *tty) (uint64, error) {
	v := uint32(0)
	if t.Locked {
		v = 1
	}
	return 0, c.put32(c.a[2], v)
}

// ttyPeer opens the terminal of a master.
func ttyPeer(c *call, f *file, _ *tty) (uint64, error) {
	path := ttyPath(f.In)
	st, err := c.s.synthStat(c.p, path)
	if err != nil {
		return 0, err
	}
	flags := int(c.a[2])
	peer := &file{Flags: flags &^ (unix.O_CLOEXEC | unix.O_NOCTTY), Path: path, Low: path, Out: -1, St: st}
	return c.openTTY(f.In, peer, flags&unix.O_NOCTTY != 0, flags&unix.O_CLOEXEC != 0)
}

func ttyHeld(c *call, f *file, t *tty) (uint64, error) {
	n := t.held()
	if f.Kind == fileMaster {
		n = len(t.Out)
	}
	return 0, c.put32(c.a[2], uint32(n))
}

// controls reports whether t is the controlling terminal of p.
func (t *tty) controls(p *Process) bool { return t.Session != 0 && t.Session == p.Session }

// takeTTY makes the terminal the caller's controlling one.
func takeTTY(c *call, f *file, t *tty) (uint64, error) {
	_, has := c.s.ttyOf(c.p, "/dev/tty")
	switch {
	case t.controls(c.p) && c.p.Session == c.p.PID:
		return 0, nil
	case c.p.Session != c.p.PID || has || t.Session != 0:
		return 0, unix.EPERM
	}
	w := c.s.tty(f.In)
	w.Session, w.Group = c.p.Session, c.p.Group
	return 0, nil
}

func giveUpTTY(c *call, _ *file, t *tty) (uint64, error) {
	if !t.controls(c.p) {
		return 0, unix.ENOTTY
	}
	c.s.leaveTTY(c.p, false)
	return 0, nil
}

func ttyGroup(c *call, f *file, t *tty) (uint64, error) {
	if f.Kind != fileMaster && !t.controls(c.p) {
		return 0, unix.ENOTTY
	}
	return 0, c.put32(c.a[2], uint32(t.Group))
}

func ttySession(c *call, f *file, t *tty) (uint64, error) {
	if f.Kind != fileMaster && !t.controls(c.p) || t.Session == 0 {
		return 0, unix.ENOTTY
	}
	return 0, c.put32(c.a[2], uint32(t.Session))
}

func setTTYGroup(c *call, f *file, t *tty) (uint64, error) {
	v, err := c.u32(c.a[2])
	switch {
	case err != nil:
		return 0, err
	case !t.controls(c.p):
		return 0, unix.ENOTTY
	case int32(v) < 0:
		return 0, unix.EINVAL
	}
	for _, p := range c.s.procs {
		if p.Group != int(v) {
			continue
		}
		if p.Session != c.p.Session {
			return 0, unix.EPERM
		}
		c.s.tty(f.In).Group = int(v)
		return 0, nil
	}
	return 0, unix.ESRCH
}
