package kernel

import (
	"cmp"

	"golang.org/x/sys/unix"
)

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

// prctls are the operations of prctl(2), by number; arg is the first argument.
var prctls = map[uint64]func(c *call, p *prctl, arg uint64) (uint64, error){
	unix.PR_SET_NAME: func(c *call, _ *prctl, arg uint64) (uint64, error) {
		var name []byte
		for len(name) < 15 { // no more is looked at
			b, err := c.bytes(arg+uint64(len(name)), 1)
			if err != nil {
				return 0, err
			}
			if b[0] == 0 {
				break
			}
			name = append(name, b[0])
		}
		c.p.Comm = string(name)
		return 0, nil
	},
	unix.PR_GET_NAME: func(c *call, _ *prctl, arg uint64) (uint64, error) {
		return 0, c.put(arg, append([]byte(c.p.Comm), make([]byte, 16-len(c.p.Comm))...))
	},
	unix.PR_SET_PDEATHSIG: func(_ *call, p *prctl, arg uint64) (uint64, error) {
		if arg > numSignals {
			return 0, unix.EINVAL
		}
		p.DeathSig = int(arg)
		return 0, nil
	},
	unix.PR_GET_PDEATHSIG: func(c *call, p *prctl, arg uint64) (uint64, error) { return 0, c.put32(arg, uint32(p.DeathSig)) },
	unix.PR_SET_DUMPABLE: func(_ *call, p *prctl, arg uint64) (uint64, error) {
		if arg > 1 {
			return 0, unix.EINVAL
		}
		p.Undumpable = arg == 0
		return 0, nil
	},
	unix.PR_GET_DUMPABLE: func(_ *call, p *prctl, _ uint64) (uint64, error) { return flagOf(!p.Undumpable), nil },
	unix.PR_SET_KEEPCAPS: func(c *call, p *prctl, arg uint64) (uint64, error) {
		if arg > 1 {
			return 0, unix.EINVAL
		}
		if c.s.cfg.World.Sandbox { // whose secure bits are locked
			return 0, unix.EPERM
		}
		p.KeepCaps = arg == 1
		return 0, nil
	},
	unix.PR_GET_KEEPCAPS: func(_ *call, p *prctl, _ uint64) (uint64, error) { return flagOf(p.KeepCaps), nil },
	unix.PR_SET_NO_NEW_PRIVS: func(c *call, p *prctl, arg uint64) (uint64, error) {
		if arg != 1 || c.a[2] != 0 || c.a[3] != 0 || c.a[4] != 0 {
			return 0, unix.EINVAL
		}
		p.NoNew = true
		return 0, nil
	},
	unix.PR_GET_NO_NEW_PRIVS: func(c *call, p *prctl, arg uint64) (uint64, error) {
		if arg != 0 || c.a[2] != 0 || c.a[3] != 0 || c.a[4] != 0 {
			return 0, unix.EINVAL
		}
		return flagOf(p.NoNew || c.s.cfg.World.Sandbox), nil
	},
	unix.PR_SET_TIMERSLACK: func(_ *call, p *prctl, arg uint64) (uint64, error) {
		p.Slack = uint64(max(int64(arg), 0))
		return 0, nil
	},
	unix.PR_GET_TIMERSLACK: func(_ *call, p *prctl, _ uint64) (uint64, error) {
		return cmp.Or(p.Slack, defaultSlack), nil
	},
	unix.PR_SET_CHILD_SUBREAPER: func(_ *call, p *prctl, arg uint64) (uint64, error) {
		p.Reaper = arg != 0
		return 0, nil
	},
	unix.PR_GET_CHILD_SUBREAPER: func(c *call, p *prctl, arg uint64) (uint64, error) { return 0, c.put32(arg, uint32(flagOf(p.Reaper))) },
	unix.PR_GET_SECCOMP: func(c *call, _ *prctl, _ uint64) (uint64, error) {
		if c.s.cfg.World.Sandbox {
			return 2, nil
		}
		return 0, nil
	},
	unix.PR_GET_TSC:    func(c *call, _ *prctl, arg uint64) (uint64, error) { return 0, c.put32(arg, unix.PR_TSC_ENABLE) },
	unix.PR_GET_TIMING: func(*call, *prctl, uint64) (uint64, error) { return 0, nil },
}

// flagOf is 1 or 0.
func flagOf(v bool) uint64 {
	if v {
		return 1
	}
	return 0
}

func (c *call) sysPrctl() (uint64, error) {
	if do := prctls[c.a[0]]; do != nil {
		return do(c, &c.p.Prctl, c.a[1])
	}
	return 0, c.lacks(unix.EINVAL)
}
