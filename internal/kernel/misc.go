package kernel

import (
	"cmp"
	"encoding/binary"

	"golang.org/x/sys/unix"
)

// What uname(2) says.
const (
	unameRelease = "6.1.0"
	unameNode    = "symchef"
)

func (c *call) sysUname() (uint64, error) {
	b := make([]byte, 6*65)
	for i, t := range []string{"Linux", c.s.cfg.World.host().node, c.s.cfg.World.host().release, "#1 SMP", "x86_64", "(none)"} {
		copy(b[65*i:], t)
	}
	return 0, c.put(c.a[0], b)
}

func (c *call) sysSysinfo() (uint64, error) {
	b := make([]byte, 112) // struct sysinfo, sysinfo(2)
	le := binary.LittleEndian
	le.PutUint64(b, uint64(c.s.Now())/1e9)
	for i, load := range c.s.cfg.World.host().loads {
		le.PutUint64(b[8+8*i:], load)
	}
	le.PutUint64(b[32:], c.s.cfg.World.host().memory)
	le.PutUint64(b[40:], c.s.cfg.World.host().memory)
	le.PutUint16(b[80:], uint16(len(c.s.tasks)+c.s.cfg.World.host().tasks))
	put32(b[104:], 1)
	if err := c.put(c.a[0], b); err != nil {
		return 0, err
	}
	return 0, c.putSym(c.a[0], c.s.datedBytes(le.Uint64(b), 1))
}

func (c *call) sysGetpid() (uint64, error)  { return uint64(c.p.PID), nil }
func (c *call) sysGettid() (uint64, error)  { return uint64(c.t.TID), nil }
func (c *call) sysGetppid() (uint64, error) { return uint64(c.p.Parent), nil }
func (c *call) sysGetuid() (uint64, error)  { return uint64(c.s.cfg.UID), nil }
func (c *call) sysGetgid() (uint64, error)  { return uint64(c.s.cfg.GID), nil }
func (c *call) sysGetpgrp() (uint64, error) { return uint64(c.p.Group), nil }

// sysGetresuid stores one id three times: getresuid and getresgid.
func (c *call) sysGetresuid() (uint64, error) { return c.triple(c.s.cfg.UID) }
func (c *call) sysGetresgid() (uint64, error) { return c.triple(c.s.cfg.GID) }

func (c *call) triple(id int) (uint64, error) {
	for i := range 3 {
		if err := c.put32(c.a[i], uint32(id)); err != nil {
			return 0, err
		}
	}
	return 0, nil
}

// sysSetids accepts the ids that the process has: setuid, setgid, setreuid, ....
func (c *call) sysSetuid() (uint64, error) { return c.sameIDs(c.s.cfg.UID, 1) }
func (c *call) sysSetgid() (uint64, error) { return c.sameIDs(c.s.cfg.GID, 1) }

func (c *call) sysSetresuid() (uint64, error) { return c.sameIDs(c.s.cfg.UID, 3) }
func (c *call) sysSetresgid() (uint64, error) { return c.sameIDs(c.s.cfg.GID, 3) }
func (c *call) sysSetreuid() (uint64, error)  { return c.sameIDs(c.s.cfg.UID, 2) }
func (c *call) sysSetregid() (uint64, error)  { return c.sameIDs(c.s.cfg.GID, 2) }

func (c *call) sameIDs(id, n int) (uint64, error) {
	for i := range n {
		if v := c.arg32(i); v != id && !(v == -1 && n > 1) {
			return 0, cmp.Or(c.s.known(uint32(v), id), c.s.refused())
		}
	}
	return 0, nil
}

// sysGetgroups: the process has one group, its own; elsewhere none.
func (c *call) sysGetgroups() (uint64, error) {
	n := c.s.cfg.World.host().groups
	switch {
	case c.a[0] == 0 || n == 0:
		return uint64(n), nil
	case c.arg32(0) < n:
		return 0, unix.EINVAL
	}
	return uint64(n), c.put32(c.a[1], uint32(c.s.cfg.GID))
}

// sysOK is a call without a visible effect here.
func (c *call) sysOK() (uint64, error) { return 0, nil }

// sysNoSys is a call that kernels may lack and that programs can do without.
func (c *call) sysNoSys() (uint64, error) {
	if c.s.cfg.World.Beyond {
		return 0, unix.EPERM
	}
	return 0, unix.ENOSYS
}

// sysAnother is a call that does what another one does, too: who calls it falls back to that where the kernel lacks it, and only there. A host that has it is not
// told from one that refuses it: native runs have it.
func (c *call) sysAnother() (uint64, error) { return 0, unix.ENOSYS }

// lacks is err, the answer of a kernel that does not know what it is asked for; one that does says yes.
func (c *call) lacks(err error) error {
	if c.s.cfg.World.Beyond {
		return nil
	}
	return err
}

// sysRseq: restartable sequences are left out, but what a host that has them writes at once, rseq(2).
func (c *call) sysRseq() (uint64, error) {
	if !c.s.cfg.World.Beyond {
		return 0, unix.ENOSYS
	}
	n := uint32(c.s.cfg.World.host().processor)
	for i := range uint64(2) {
		if err := c.put32(c.a[0]+4*i, n); err != nil {
			return 0, err
		}
	}
	return 0, nil
}

// sysPerm is a call that needs a privilege the guest lacks.
func (c *call) sysPerm() (uint64, error) { return 0, c.s.refused() }

func (c *call) sysGetrandom() (uint64, error) {
	if c.a[2]&^7 != 0 {
		return 0, unix.EINVAL
	}
	n := min(c.a[1], maxIO) // in pieces of whole random numbers, so it does not matter how many there are
	if err := c.room(c.a[0], n); err != nil {
		return 0, err
	}
	return c.inPieces(n, func(done, k uint64) (uint64, error) { return k, c.put(c.a[0]+done, c.s.randomBytes(int(k))) })
}

func (c *call) sysSchedGetaffinity() (uint64, error) {
	if c.a[1] < 8 || c.a[1]%8 != 0 {
		return 0, unix.EINVAL
	}
	return 8, c.put64(c.a[2], c.s.cfg.World.host().processors)
}

func (c *call) sysSchedGetparam() (uint64, error) { return 0, c.put32(c.a[1], 0) }

// sysSchedSetscheduler refuses what only the superuser may, sched(7).
func (c *call) sysSchedSetscheduler() (uint64, error) {
	if c.a[2] == 0 {
		return 0, unix.EINVAL
	}
	priority, err := c.u32(c.a[2])
	if err != nil {
		return 0, err
	}
	switch policy := uint32(c.a[1]) &^ unix.SCHED_RESET_ON_FORK; {
	case policy == unix.SCHED_FIFO || policy == unix.SCHED_RR:
		if priority < 1 || priority > 99 {
			return 0, unix.EINVAL
		}
		if !c.s.super() {
			return 0, unix.EPERM
		}
	case policy != unix.SCHED_NORMAL && policy != unix.SCHED_BATCH && policy != unix.SCHED_IDLE || priority != 0:
		return 0, unix.EINVAL
	}
	return 0, nil
}

func (c *call) sysSchedPriority() (uint64, error) {
	switch c.a[0] {
	case 0, 3, 5: // SCHED_OTHER, SCHED_BATCH, SCHED_IDLE
		return 0, nil
	case 1, 2: // SCHED_FIFO, SCHED_RR
		return 1, nil
	}
	return 0, unix.EINVAL
}

func (c *call) sysGetcpu() (uint64, error) {
	for i := range 2 {
		if c.a[i] != 0 {
			if err := c.put32(c.a[i], uint32(c.s.cfg.World.host().processor*(1-i))); err != nil { // all of one node
				return 0, err
			}
		}
	}
	return 0, nil
}

// niced returns the processes that the first two arguments of getpriority(2) select.
func (c *call) niced() ([]*Process, error) {
	var l []*Process
	for _, p := range c.s.procs {
		switch who := c.arg32(1); c.a[0] {
		case unix.PRIO_PROCESS:
			if p == c.s.processOf(who) || who == 0 && p == c.p {
				l = append(l, p)
			}
		case unix.PRIO_PGRP:
			if p.Group == who || who == 0 && p.Group == c.p.Group {
				l = append(l, p)
			}
		case unix.PRIO_USER:
			if who == 0 || who == c.s.cfg.UID {
				l = append(l, p)
			}
		default:
			return nil, unix.EINVAL
		}
	}
	if l == nil {
		return nil, unix.ESRCH
	}
	return l, nil
}

func (c *call) sysGetpriority() (uint64, error) {
	l, err := c.niced()
	best := 0
	for _, p := range l {
		best = max(best, 20-p.Nice)
	}
	return uint64(best), err
}

func (c *call) sysSetpriority() (uint64, error) {
	l, err := c.niced()
	nice := max(-20, min(c.arg32(2), 19))
	for _, p := range l {
		if nice < p.Nice && !c.s.super() {
			err = unix.EACCES
			continue
		}
		p.Nice = nice
	}
	return 0, err
}

func (c *call) sysMemfdCreate() (uint64, error) {
	name, err := c.str(c.a[0], 250, unix.EINVAL)
	if err != nil {
		return 0, err
	}
	if c.a[1]&^(unix.MFD_CLOEXEC|unix.MFD_ALLOW_SEALING) != 0 {
		return 0, unix.EINVAL
	}
	n := c.s.nodes.add(c.s.owner, &inode{Mode: unix.S_IFREG | 0o777, UID: uint32(c.s.cfg.UID), GID: uint32(c.s.cfg.GID), Atime: c.s.Now().wall(), Mtime: c.s.Now().wall(), Ctime: c.s.Now().wall()})
	f := &file{Kind: fileNode, Flags: unix.O_RDWR | largeFile, Path: "/memfd:" + name + " (deleted)", Node: n}
	return c.open(f, c.a[1]&unix.MFD_CLOEXEC != 0)
}

func (c *call) sysSchedPriorityMax() (uint64, error) {
	v, err := c.sysSchedPriority()
	return v * 99, err
}
