package replay

import (
	"fmt"
	"os"
	"slices"
	"unsafe"

	"golang.org/x/sys/unix"
)

// seccomp binds this thread, and what it executes, to the calls of the tables.
// scoped says that signals to other processes are held back by other means.
func seccomp(m Mode, scoped bool) error {
	var only uint32
	if !scoped {
		only = uint32(os.Getpid())
	}
	prog := filter(m, only)
	fprog := unix.SockFprog{Len: uint16(len(prog)), Filter: &prog[0]}
	if _, _, e := unix.Syscall(unix.SYS_SECCOMP, unix.SECCOMP_SET_MODE_FILTER, 0, uintptr(unsafe.Pointer(&fprog))); e != 0 {
		return fmt.Errorf("seccomp: %w", e)
	}
	return nil
}

// filter is the program of seccomp(2) for mode m. If only is not 0, calls with
// a scope reach that process alone. The kernel remembers which calls it allows
// whatever their arguments are, so its length costs nothing.
func filter(m Mode, only uint32) []unix.SockFilter {
	const (
		load  = unix.BPF_LD | unix.BPF_W | unix.BPF_ABS
		and   = unix.BPF_ALU | unix.BPF_AND | unix.BPF_K
		jeq   = unix.BPF_JMP | unix.BPF_JEQ | unix.BPF_K
		jge   = unix.BPF_JMP | unix.BPF_JGE | unix.BPF_K
		ret   = unix.BPF_RET | unix.BPF_K
		allow = unix.SECCOMP_RET_ALLOW
		// Offsets in struct seccomp_data, seccomp(2).
		offNr, offArch, offArgs = 0, 4, 16
		x32                     = 0x4000_0000
	)
	fail := func(errno uint32) unix.SockFilter {
		return unix.SockFilter{Code: ret, K: unix.SECCOMP_RET_ERRNO | errno}
	}
	noSuchCall := fail(uint32(unix.ENOSYS))
	prog := []unix.SockFilter{
		{Code: load, K: offArch},
		{Code: jeq, Jt: 1, K: unix.AUDIT_ARCH_X86_64}, // int 0x80 and its like
		noSuchCall,
		{Code: load, K: offNr},
		{Code: jge, Jf: 1, K: x32},
		noSuchCall,
	}
	// call appends what happens to call nr: body, which has to end in a ret.
	call := func(nr uint32, body ...unix.SockFilter) {
		prog = append(prog, unix.SockFilter{Code: jeq, Jf: uint8(len(body)), K: nr})
		prog = append(prog, body...)
	}
	elsewhere := map[uint32]rule{} // calls that are allowed in the other mode only
	here := map[uint32]bool{}
	for _, r := range allowed {
		failed := fail(r.failure())
		for _, nr := range r.calls {
			if r.in != "" && r.in != m {
				elsewhere[nr] = r
				continue
			}
			here[nr] = true
			if r.never {
				call(nr, failed)
				continue
			}
			tests := r.when
			if r.scope && only != 0 {
				tests = []test{{arg: 0, oneOf: []uint32{only}}}
			}
			var body []unix.SockFilter
			for _, t := range tests {
				body = append(body, unix.SockFilter{Code: load, K: uint32(offArgs + 8*t.arg)})
				if t.mask != 0 {
					body = append(body, unix.SockFilter{Code: and, K: t.mask})
				}
				if t.not != 0 {
					body = append(body, unix.SockFilter{Code: jeq, Jf: 1, K: t.not}, failed)
					continue
				}
				good := t.oneOf
				if only == 0 {
					good = slices.Concat(good, t.scoped)
				}
				if good == nil {
					good = []uint32{0}
				}
				for i, v := range good {
					body = append(body, unix.SockFilter{Code: jeq, Jt: uint8(len(good) - i), K: v})
				}
				body = append(body, failed)
			}
			call(nr, append(body, unix.SockFilter{Code: ret, K: allow})...)
		}
	}
	for nr, r := range elsewhere {
		if !here[nr] {
			call(nr, fail(r.failure()))
		}
	}
	for _, r := range refused {
		for _, nr := range r.calls {
			call(nr, fail(r.failure()))
		}
	}
	return append(prog, noSuchCall)
}

// failure is the errno of r as a filter returns it.
func (r rule) failure() uint32 {
	switch r.errno {
	case 0:
		return uint32(unix.EPERM)
	case done:
		return 0
	}
	return uint32(r.errno)
}
