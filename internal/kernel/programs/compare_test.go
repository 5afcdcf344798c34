package programs

import (
	"bytes"
	"fmt"
	"maps"
	"slices"

	"golang.org/x/sys/unix"
)

// What may differ between the machine and Linux, and why.

// opaque are the calls whose results, where they are no errors, are addresses or times.
var opaque = map[string]bool{"mmap": true, "mremap": true, "clock_gettime": true}

// masked are the parts of what a call leaves in memory that need not be the same, by call and argument.
var masked = map[string]map[int]func(b []byte){
	"stat":       {1: maskStat},
	"lstat":      {1: maskStat},
	"fstat":      {1: maskStat},
	"newfstatat": {2: maskStat},
	// The order of names is the file system's.
	"getdents64": {1: func(b []byte) { clear(b) }},
	// What time it is.
	"clock_gettime": {1: func(b []byte) { clear(b) }},
	"gettimeofday":  {0: func(b []byte) { clear(b) }},
	// How much of a sleep is left, or of a timer.
	"nanosleep":       {1: func(b []byte) { clear(b) }},
	"clock_nanosleep": {3: func(b []byte) { clear(b) }},
	"setitimer":       {2: maskTimer},
	"getitimer":       {1: maskTimer},
	"timer_settime":   {3: maskTimer},
	"timer_gettime":   {1: maskTimer},
	"ppoll":           {2: maskLeft},
}

// maskStat leaves type, permissions, links, owners and, except of directories, size. Numbers of files, blocks and times are the file system's.
func maskStat(b []byte) {
	if len(b) < 144 {
		return
	}
	mode := uint32(b[24]) | uint32(b[25])<<8
	clear(b[0:16])
	if mode&unix.S_IFMT == 0 { // files without a name; those that stand for processes have had others since 6.9
		clear(b[24:28])
	}
	if mode&unix.S_IFMT == unix.S_IFDIR {
		clear(b[48:56])
	}
	clear(b[56:144])
}

// maskLeft leaves whether there is time left.
func maskLeft(b []byte) {
	if slices.Max(b) > 0 {
		clear(b)
		b[0] = 1
	}
}

// maskTimer leaves whether a timer runs and its interval.
func maskTimer(b []byte) {
	if len(b) < 32 {
		return
	}
	if slices.Max(b[16:32]) > 0 {
		clear(b[16:32])
		b[16] = 1
	}
}

// versions are differences between versions of Linux: the machine does as 6.1, which it says it is. What a program does afterwards may differ, too.
var versions = []struct {
	call           string
	machine, linux unix.Errno
	why            string
}{
	{"write", 0, unix.EINVAL, "more than 8 bytes for an eventfd"},
	{"writev", 0, unix.EINVAL, "more than 8 bytes for an eventfd"},
	{"pidfd_open", unix.EINVAL, unix.ENOENT, "a thread that is no process"},
	{"ftruncate", unix.EINVAL, unix.EOPNOTSUPP, "what stands for a process is a file of its own file system"},
	{"fchmod", 0, unix.EOPNOTSUPP, "files without a name have no permissions to change"},
	{"fchown", 0, unix.EOPNOTSUPP, "files without a name have no owner to change"},
}

// version says which of these explains a difference in step i; "" for none.
func version(p program, m, l outcome) string {
	for i := range p.steps() {
		for _, v := range versions {
			if p.step(i).name == v.call && errno(m.result[i]) == v.machine && errno(l.result[i]) == v.linux && m.ran[i] == 2 && l.ran[i] == 2 {
				return v.call + ": " + v.why
			}
		}
	}
	return ""
}

// differences compares what came of p in the machine with what came of it on Linux.
func differences(p program, e encoded, m, l outcome) (out []string) {
	differ := func(format string, a ...any) { out = append(out, fmt.Sprintf(format, a...)) }
	for i := range p.steps() {
		s := p.step(i)
		if m.ran[i] != l.ran[i] {
			differ("step %d %s: begun or ended %d times, on Linux %d", i, s.name, m.ran[i], l.ran[i])
			continue
		}
		mr, lr := m.result[i], l.result[i]
		if me, le := errno(mr), errno(lr); me != le || me == 0 && mr != lr && !opaque[s.name] {
			differ("step %d %s: %s, on Linux %s", i, s.name, result(mr), result(lr))
		}
		for k, x := range e.pieces[i] {
			a, b := bytes.Clone(m.memory(x)), bytes.Clone(l.memory(x))
			if f := masked[s.name][k]; f != nil {
				f(a)
				f(b)
			}
			if !bytes.Equal(a, b) {
				differ("step %d %s: argument %d is %q, on Linux %q", i, s.name, k, short(a), short(b))
			}
		}
	}
	if !bytes.Equal(nested(e, m), nested(e, l)) {
		differ("memory that records point to: %q, on Linux %q", short(nested(e, m)), short(nested(e, l)))
	}
	if !slices.Equal(m.signals, l.signals) {
		differ("handlers were told %v, on Linux %v", m.signals, l.signals)
	}
	if m.status != l.status || m.stuck != l.stuck {
		differ("the end: status %#x stuck %v, on Linux %#x %v", m.status, m.stuck, l.status, l.stuck)
	}
	for _, name := range slices.Sorted(maps.Keys(m.files)) {
		if m.files[name] != l.files[name] {
			differ("file %s: %s, on Linux %s", name, m.files[name], l.files[name])
		}
	}
	for _, name := range slices.Sorted(maps.Keys(l.files)) {
		if m.files[name] == "" {
			differ("file %s: none, on Linux %s", name, l.files[name])
		}
	}
	return out
}

// nested returns the arena without the memory of arguments.
func nested(e encoded, o outcome) []byte {
	b := bytes.Clone(o.arena)
	for _, l := range e.pieces {
		for _, x := range l {
			clear(b[x.at : x.at+x.n])
		}
	}
	return b
}

func result(v uint64) string {
	if e := errno(v); e != 0 {
		return e.Error()
	}
	return fmt.Sprint(int64(v))
}

func short(b []byte) []byte {
	return bytes.TrimRight(b, "\x00")[:min(160, len(bytes.TrimRight(b, "\x00")))]
}
