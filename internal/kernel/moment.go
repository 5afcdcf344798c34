package kernel

import (
	"encoding/binary"

	"golang.org/x/sys/unix"

	"symchef/internal/expr"
	"symchef/internal/mem"
)

// The moment at which something is executed is no input, but may decide what becomes of it. MoveTo moves a system to a later one, and may make
// how much later it is a variable: what the guest is told of clocks and dates is an expression of it then, so that every branch that depends
// on the moment is a decision. Differences between moments are not unknown, nor are the clocks of processes.

// moment is what is known of the present moment.
type moment struct {
	later   expr.Ref // how many seconds later it is, in 64 bits; 0: no variable
	seconds uint64   // its value
	from    int64    // what CLOCK_REALTIME showed when the system was moved
	told    bool     // the guest has been told of it since
}

// MoveTo makes it so many seconds later. later, if not 0, is a 64-bit expression that has this value.
func (s *System) MoveTo(seconds uint64, later expr.Ref) {
	s.skew += Time(seconds) * 1e9
	s.moment = moment{later: later, seconds: seconds, from: s.now().wall()}
}

// ToldMoment reports whether the guest has been told what moment it is since MoveTo.
func (s *System) ToldMoment() bool { return s.moment.told }

// dated returns the expression of n, which counts since some fixed moment, so many in a second; 0: there is none.
func (s *System) dated(n, inSecond uint64) expr.Ref {
	s.moment.told = true
	if s.moment.later == 0 {
		return 0
	}
	return s.terms.Linear(s.moment.later, inSecond, n-s.moment.seconds*inSecond)
}

// datedBytes is n as the guest reads it in 8 bytes.
func (s *System) datedBytes(n, inSecond uint64) mem.Bytes {
	if r := s.dated(n, inSecond); r != 0 {
		return s.terms.Split(n, r)
	}
	return mem.Concrete(binary.LittleEndian.AppendUint64(nil, n))
}

// putDate writes ns, nanoseconds since some fixed moment, as seconds and a rest in units.
func (c *call) putDate(addr uint64, ns, unit int64) error {
	if err := c.putSym(addr, c.s.datedBytes(uint64(ns/1e9), 1)); err != nil {
		return err
	}
	return c.put64(addr+8, uint64(ns%1e9/unit))
}

// putStat writes st as struct stat. Files that were made or changed since the system was moved have dates that depend on when that is. So have pipes
// and terminals, but whoever writes to them is told of these with the rest.
func (c *call) putStat(addr uint64, st stat) error {
	b := mem.Concrete(st.encode(&c.s.cfg.World))
	if k := st.Mode & unix.S_IFMT; k != unix.S_IFREG && k != unix.S_IFDIR {
		return c.putSym(addr, b)
	}
	for i, t := range [3]int64{st.Atime, st.Mtime, st.Ctime} {
		if c.s.moment.from == 0 || t < c.s.moment.from || t > c.s.now().wall() {
			continue
		}
		if d := c.s.datedBytes(uint64(t/1e9), 1); !d.IsConcrete() {
			if b.Sym == nil {
				b.Sym = make([]expr.Ref, len(b.Data))
			}
			copy(b.Sym[72+16*i:], d.Sym)
		}
	}
	return c.putSym(addr, b)
}
