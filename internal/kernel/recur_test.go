package kernel

import (
	"reflect"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"symchef/internal/expr"
	"symchef/internal/ir"
	"symchef/internal/mem"
)

// notRecurring are the fields of a System that Recurs does not compare as such, with the reason.
var notRecurring = map[string]string{
	"Retired": "time", "cost": "time", "calls": "time, and no more once the device is open", "opened": "time",
	"looked": "compared first", "entered": "compared where there are several tasks", "waits": "only the order of waits matters",
	"owner": "of the fork", "cfg": "shared by all forks", "host": "shared by all forks", "terms": "of the machine",
	"procs": "one by one", "tasks": "one by one", "cur": "one of tasks", "ended": "it has not", "objects": "memory", "stdin": "does not change",
	"moment": "of what is executed again", "ordering": "of the run", "asked": "says what a path has asked, and is not read by the guest", "order": "says what is known of other schedules, not what happens", "unordered": "likewise", "bounded": "says what kept the guest from something", "calling": "of a call", "callName": "of a call", "polled": "of a call",
}

// Every field of a System has a part in whether it recurs, or a reason why not.
func TestRecursComparesAll(t *testing.T) {
	compared := strings.Fields("files pipes socks ttys segments nodes out lastID skew rng status ports stored lastObject device")
	for i := range reflect.TypeFor[System]().NumField() {
		name := reflect.TypeFor[System]().Field(i).Name
		known := notRecurring[name] != ""
		for _, c := range compared {
			known = known || c == name
		}
		if !known {
			t.Errorf("System.%s: compare it in sameKernel, or say in notRecurring why it has no part in what happens next", name)
		}
	}
}

// What a system does in a round of a loop may be done for ever only if nothing is left of it but time.
func TestRecurs(t *testing.T) {
	m := boot(t, Config{Stdin: mem.Concrete([]byte("ab"))})
	buf := m.space(64)
	clock := m.space(16)
	m.must(unix.SYS_READ, 0, buf, 8)                // the second one is at the end
	m.must(unix.SYS_CLOSE, m.must(unix.SYS_DUP, 0)) // the list of descriptors does not become shorter
	for _, c := range []struct {
		what  string
		round func()
		want  bool
	}{
		{"nothing", func() { m.Retired += 1000 }, true},
		{"end of file", func() { m.must(unix.SYS_READ, 0, buf, 8) }, true},
		{"getppid", func() { m.must(unix.SYS_GETPPID) }, true},
		{"dup and close", func() { m.must(unix.SYS_CLOSE, m.must(unix.SYS_DUP, 0)) }, true},
		{"a word there and back", func() { poke(m, buf+16, 7); poke(m, buf+16, 0) }, true},
		{"a word", func() { poke(m, buf, 7) }, false},
		{"an expression", func() {
			if err := m.CurrentProcess().Mem.WriteSym(buf+8, mem.Bytes{Data: []byte{0}, Sym: []expr.Ref{1}}); err != nil {
				t.Fatal(err)
			}
		}, false},
		{"a register", func() { m.Current().CPU.Set(ir.R12, m.Current().CPU.R[ir.R12]+1) }, false},
		{"a symbolic register", func() { m.Current().CPU.SetSym(ir.R13, 0, 1) }, false},
		{"the clock", func() { m.must(unix.SYS_CLOCK_GETTIME, 1, clock) }, false},
		{"rdtsc", func() { m.Timestamp() }, false},
		{"random numbers", func() { m.must(unix.SYS_GETRANDOM, clock, 8, 0); poke(m, clock, 0) }, false},
		{"output", func() { m.must(unix.SYS_WRITE, 1, buf, 1) }, false},
		{"a file", func() { m.must(unix.SYS_OPEN, m.str("/tmp/f"), unix.O_CREAT|unix.O_RDWR, 0o600) }, false},
		{"a descriptor", func() { m.must(unix.SYS_DUP, 0) }, false},
		{"the mask", func() { m.must(unix.SYS_UMASK, m.must(unix.SYS_UMASK, 1)+1) }, false},
		{"a mapping", func() { m.must(unix.SYS_MMAP, 0, 4096, 3, unix.MAP_PRIVATE|unix.MAP_ANONYMOUS, ^uint64(0), 0) }, false},
		{"a timer that is set", func() { m.must(unix.SYS_ALARM, 1) }, false},
		{"a timer that runs", func() {}, false},
		{"nothing, the timer off", func() { m.must(unix.SYS_ALARM, 0) }, false},
	} {
		before := m.Fork()
		regs := m.Current().CPU
		c.round()
		if cpu := &m.Current().CPU; !strings.Contains(c.what, "register") {
			*cpu = regs
		}
		if got := m.Recurs(before); got != c.want {
			t.Errorf("%s: recurs: %v", c.what, got)
		}
	}
}

func poke(m *machine, at, v uint64) {
	if err := m.CurrentProcess().Mem.WriteU(at, v, 8); err != nil {
		m.t.Fatal(err)
	}
}
