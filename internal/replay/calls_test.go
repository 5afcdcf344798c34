package replay

import (
	"testing"

	"golang.org/x/sys/unix"

	"symchef/internal/kernel"
)

// Each call stands in one rule of a mode.
func TestCallsOnce(t *testing.T) {
	for _, m := range []Mode{Namespaces, Landlock} {
		seen := map[uint32]string{}
		for _, r := range append(append([]rule{}, allowed...), refused...) {
			if r.why == "" {
				t.Errorf("a rule without a reason: %d", r.calls)
			}
			for _, nr := range r.calls {
				if r.in != "" && r.in != m {
					continue
				}
				if was, ok := seen[nr]; ok {
					t.Errorf("%s: call %d is in %q and in %q", m, nr, was, r.why)
				}
				seen[nr] = r.why
			}
		}
	}
}

// What the machine lets a program do, the sandbox does.
func TestCallsAllowed(t *testing.T) {
	may := map[uint64]bool{}
	for _, r := range allowed {
		for _, nr := range r.calls {
			may[uint64(nr)] = may[uint64(nr)] || r.in != Landlock
		}
	}
	for nr, name := range kernel.Modelled() {
		if !may[nr] {
			t.Errorf("the machine has %s (%d), the sandbox refuses it", name, nr)
		}
	}
}

// runFilter is what prog says of call nr with args.
func runFilter(t *testing.T, prog []unix.SockFilter, nr uint32, args ...uint32) uint32 {
	t.Helper()
	data := map[uint32]uint32{0: nr, 4: unix.AUDIT_ARCH_X86_64}
	for i, a := range args {
		data[uint32(16+8*i)] = a
	}
	jump := func(cond bool, f unix.SockFilter) int {
		if cond {
			return int(f.Jt)
		}
		return int(f.Jf)
	}
	var a uint32
	for pc := 0; pc < len(prog); pc++ {
		switch f := prog[pc]; f.Code {
		case unix.BPF_LD | unix.BPF_W | unix.BPF_ABS:
			a = data[f.K]
		case unix.BPF_ALU | unix.BPF_AND | unix.BPF_K:
			a &= f.K
		case unix.BPF_JMP | unix.BPF_JEQ | unix.BPF_K:
			pc += jump(a == f.K, f)
		case unix.BPF_JMP | unix.BPF_JGE | unix.BPF_K:
			pc += jump(a >= f.K, f)
		case unix.BPF_RET | unix.BPF_K:
			return f.K
		default:
			t.Fatalf("instruction %#x", f.Code)
		}
	}
	t.Fatal("no end")
	return 0
}

// Where nothing else holds signals back, the filter does: those that the kernel sends for a process, too.
func TestFilterScope(t *testing.T) {
	const self, other = 100, 200
	for _, c := range []struct {
		name             string
		scoped, unscoped bool
		nr               uint32
		args             []uint32
	}{
		{"kill itself", true, true, unix.SYS_KILL, []uint32{self, 9}},
		{"kill another", true, false, unix.SYS_KILL, []uint32{other, 9}},
		{"F_GETFL", true, true, unix.SYS_FCNTL, []uint32{3, unix.F_GETFL}},
		{"F_SETOWN", true, false, unix.SYS_FCNTL, []uint32{3, unix.F_SETOWN, other}},
		{"F_SETOWN_EX", true, false, unix.SYS_FCNTL, []uint32{3, unix.F_SETOWN_EX}},
		{"F_SETLK", false, false, unix.SYS_FCNTL, []uint32{3, unix.F_SETLK}},
		{"clone", true, true, unix.SYS_CLONE, []uint32{17}},
		{"clone a thread", true, true, unix.SYS_CLONE, []uint32{unix.CLONE_THREAD | unix.CLONE_VM | unix.CLONE_SIGHAND | unix.CLONE_FILES}},
		{"clone a thread with descriptors of its own", false, false, unix.SYS_CLONE, []uint32{unix.CLONE_THREAD | unix.CLONE_VM | unix.CLONE_SIGHAND}},
		{"close_range", true, true, unix.SYS_CLOSE_RANGE, []uint32{3, 9, unix.CLOSE_RANGE_CLOEXEC}},
		{"close_range of a table of its own", false, false, unix.SYS_CLOSE_RANGE, []uint32{3, 9, unix.CLOSE_RANGE_UNSHARE}},
		{"limits of its own", true, true, unix.SYS_PRLIMIT64, []uint32{0}},
		{"limits of its own, by number", true, true, unix.SYS_PRLIMIT64, []uint32{self}},
		{"limits of another", false, false, unix.SYS_PRLIMIT64, []uint32{other}},
		{"priority of its own", true, true, unix.SYS_SETPRIORITY, []uint32{unix.PRIO_PROCESS, self}},
		{"priority of a user", false, false, unix.SYS_SETPRIORITY, []uint32{unix.PRIO_USER, 0}},
		{"clone untraced", false, false, unix.SYS_CLONE, []uint32{17 | unix.CLONE_UNTRACED}},
	} {
		for scoped, want := range map[bool]bool{true: c.scoped, false: c.unscoped} {
			if got := runFilter(t, filter(Landlock, self, scoped), c.nr, c.args...) == unix.SECCOMP_RET_ALLOW; got != want {
				t.Errorf("%s, scoped %v: allowed %v, want %v", c.name, scoped, got, want)
			}
		}
	}
}
