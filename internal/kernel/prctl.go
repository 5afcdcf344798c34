package kernel

import "golang.org/x/sys/unix"

// prctl is what prctl(2) sets and tells of a process; there, threads have some of it each.
type prctl struct {
	Undumpable bool
	DeathSig   int    // sent when the parent ends
	Reaper     bool   // has no effect
	NoNew      bool   // PR_SET_NO_NEW_PRIVS: has no effect
	KeepCaps   bool   // has no effect
	Slack      uint64 // of timers in ns, has no effect; 0: defaultSlack
}

const defaultSlack = 50000

func (c *call) sysPrctl() (uint64, error) {
	p := &c.p.Prctl
	flag := func(v bool) (uint64, error) {
		if v {
			return 1, nil
		}
		return 0, nil
	}
	switch arg := c.a[1]; c.a[0] {
	case unix.PR_SET_NAME:
		n, err := c.str(arg, 16, 0)
		if err != nil && err != unix.Errno(0) {
			return 0, err
		}
		c.p.Comm = n[:min(15, len(n))]
	case unix.PR_GET_NAME:
		return 0, c.put(arg, append([]byte(c.p.Comm), make([]byte, 16-len(c.p.Comm))...))
	case unix.PR_SET_PDEATHSIG:
		if arg > numSignals {
			return 0, unix.EINVAL
		}
		p.DeathSig = int(arg)
	case unix.PR_GET_PDEATHSIG:
		return 0, c.put32(arg, uint32(p.DeathSig))
	case unix.PR_SET_DUMPABLE:
		if arg > 1 {
			return 0, unix.EINVAL
		}
		p.Undumpable = arg == 0
	case unix.PR_GET_DUMPABLE:
		return flag(!p.Undumpable)
	case unix.PR_SET_KEEPCAPS:
		if arg > 1 {
			return 0, unix.EINVAL
		}
		if c.s.cfg.World.Sandbox { // whose secure bits are locked
			return 0, unix.EPERM
		}
		p.KeepCaps = arg == 1
	case unix.PR_GET_KEEPCAPS:
		return flag(p.KeepCaps)
	case unix.PR_SET_NO_NEW_PRIVS:
		if arg != 1 || c.a[2] != 0 || c.a[3] != 0 || c.a[4] != 0 {
			return 0, unix.EINVAL
		}
		p.NoNew = true
	case unix.PR_GET_NO_NEW_PRIVS:
		if arg != 0 || c.a[2] != 0 || c.a[3] != 0 || c.a[4] != 0 {
			return 0, unix.EINVAL
		}
		return flag(p.NoNew || c.s.cfg.World.Sandbox)
	case unix.PR_SET_TIMERSLACK:
		p.Slack = arg
		if int64(arg) <= 0 {
			p.Slack = 0
		}
	case unix.PR_GET_TIMERSLACK:
		if p.Slack == 0 {
			return defaultSlack, nil
		}
		return p.Slack, nil
	case unix.PR_SET_CHILD_SUBREAPER:
		p.Reaper = arg != 0
	case unix.PR_GET_CHILD_SUBREAPER:
		v, _ := flag(p.Reaper)
		return 0, c.put32(arg, uint32(v))
	case unix.PR_GET_SECCOMP:
		if c.s.cfg.World.Sandbox {
			return 2, nil
		}
	case unix.PR_GET_TSC:
		return 0, c.put32(arg, unix.PR_TSC_ENABLE)
	case unix.PR_GET_TIMING:
	default:
		return 0, unix.EINVAL
	}
	return 0, nil
}
