package kernel

import (
	"fmt"
	"maps"
	"slices"

	"golang.org/x/sys/unix"
)

// What a path has asked: the calls that may have told it what is no input, and the files of /proc, /sys and /dev that it looked at. Two paths that have asked the
// same mostly depend on the same, so one of them need be executed in other worlds.

// quiet are calls that tell nothing but what the program has said itself, and what all paths have done before.
var quiet = func() (set map[uint64]bool) {
	set = map[uint64]bool{}
	for _, nr := range []uint64{unix.SYS_READ, unix.SYS_WRITE, unix.SYS_CLOSE, unix.SYS_EXIT, unix.SYS_EXIT_GROUP, unix.SYS_BRK, unix.SYS_MUNMAP, unix.SYS_MPROTECT,
		unix.SYS_RT_SIGACTION, unix.SYS_RT_SIGPROCMASK, unix.SYS_RT_SIGRETURN, unix.SYS_FUTEX} {
		set[nr] = true
	}
	return set
}()

// subjects are calls that ask one thing or another: which argument says what.
var subjects = map[uint64]int{
	unix.SYS_IOCTL: 1, unix.SYS_PRCTL: 0, unix.SYS_ARCH_PRCTL: 0, unix.SYS_SOCKET: 0, unix.SYS_GETSOCKOPT: 2, unix.SYS_CLOCK_GETTIME: 0, unix.SYS_CLOCK_GETRES: 0,
	unix.SYS_GETRLIMIT: 0, unix.SYS_PRLIMIT64: 1, unix.SYS_FCNTL: 1,
}

// questions are what a path has asked: calls by number, and by name what has a subject. A system shares names with those that it was copied to.
type questions struct {
	calls [8]uint64
	names []string // sorted
}

// call notes one that the guest makes.
func (q *questions) call(nr uint64, a *[6]uint64) {
	switch i, ok := subjects[nr]; {
	case quiet[nr]:
	case ok:
		q.name(fmt.Sprintf("%s %#x", rowOf(nr).name, a[i]))
	case nr < uint64(64*len(q.calls)):
		q.calls[nr/64] |= 1 << (nr % 64)
	}
}

// name notes something by name.
func (q *questions) name(n string) {
	if i, ok := slices.BinarySearch(q.names, n); !ok {
		q.names = slices.Insert(slices.Clone(q.names), i, n)
	}
}

// askedFile notes a made-up file, by its path.
func (s *System) askedFile(at string) {
	if _, _, tail, ok := s.procOf(at); ok {
		at = "/proc/self/" + tail
	}
	s.asked.name(at)
}

// Asked is what the guest has asked since ForgetAsked, each once and sorted.
func (s *System) Asked() []string {
	set := map[string]bool{}
	for _, n := range s.asked.names {
		set[n] = true
	}
	for nr := range uint64(64 * len(s.asked.calls)) {
		if row := rowOf(nr); row != nil && s.asked.calls[nr/64]>>(nr%64)&1 != 0 {
			set[row.name] = true
		}
	}
	return slices.Sorted(maps.Keys(set))
}

// ForgetAsked makes it so that nothing has been asked yet.
func (s *System) ForgetAsked() { s.asked = questions{} }
