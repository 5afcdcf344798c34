package nativeboot

import (
	"context"
	"encoding/binary"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"strconv"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"symchef/internal/cpu"
	machine "symchef/internal/exec"
	"symchef/internal/expr"
	"symchef/internal/ir"
	"symchef/internal/kernel"
	"symchef/internal/mem"
)

// compile builds a C program, or skips where gcc is missing.
func compile(t *testing.T, file string) string {
	t.Helper()
	gcc, err := exec.LookPath("gcc")
	if err != nil {
		t.Skip("skipped: gcc is not installed")
	}
	out := filepath.Join(t.TempDir(), "prog")
	if b, err := exec.Command(gcc, "-O1", "-pthread", "-o", out, file, "-lm").CombinedOutput(); err != nil {
		t.Fatalf("gcc: %v\n%s", err, b)
	}
	return out
}

// boot makes the system of cfg.
func boot(t *testing.T, cfg kernel.Config) *kernel.System {
	t.Helper()
	sys, err := kernel.Boot(cfg)
	if err != nil {
		t.Fatal(err)
	}
	return sys
}

// native runs sys natively up to the device and says why that ended.
func native(t *testing.T, b Boot) string {
	t.Helper()
	if err := Probe(); err != nil {
		t.Skipf("skipped: %v", err)
	}
	b.Before = func(path string) bool { return path == kernel.DevicePath }
	ended, err := b.Run(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	return ended
}

// open runs sys in the machine until the device is just open.
func open(t *testing.T, sys *kernel.System) *kernel.System {
	t.Helper()
	m := machine.New(expr.New())
	for n := uint64(1 << 14); !sys.Opened(); {
		before := sys.Fork()
		if stop := m.Run(sys, &machine.Facts{}, n); stop.Kind != machine.Budget && !sys.Opened() {
			t.Fatalf("%+v, standard error %s", stop, sys.Stderr().Data)
		}
		if sys.Opened() && n > 1 { // again, block by block
			sys, n = before, 1
		}
	}
	return sys
}

// finish runs sys in the machine to its end and tells what it has done.
func finish(t *testing.T, sys *kernel.System) string {
	t.Helper()
	m := machine.New(expr.New())
	for {
		switch stop := m.Run(sys, &machine.Facts{}, 1<<20); stop.Kind {
		case machine.Budget:
		case machine.Device:
			sys.DeviceReply(mem.Concrete([]byte("ok\n")))
		case machine.Exited:
			return fmt.Sprintf("%+v\n%s%s", sys.ExitStatus(), sys.Stdout().Data, sys.Stderr().Data)
		default:
			return fmt.Sprintf("%v %s\n%s%s", stop.Kind, stop.What, sys.Stdout().Data, sys.Stderr().Data)
		}
	}
}

// masks reports whether u and v are MXCSR and MXCSR_MASK as FXSAVE stored them, on processors that differ in the latter.
func masks(u, v uint64) bool {
	const known = 0x2ffff // with misaligned-exception mask, AMD64 manual vol. 2, 3.1
	return uint32(u) == uint32(v) && u>>32&^known == 0 && v>>32 == 0xffff
}

// differences lists what differs between the tasks of two systems: words of memory, but for the dead part of the stack, and registers.
func differences(t *testing.T, a, b *kernel.System) (list []string) {
	t.Helper()
	x, y := a.CurrentProcess().Mem, b.CurrentProcess().Mem
	if len(x.Areas()) != len(y.Areas()) {
		t.Fatalf("%d and %d areas", len(x.Areas()), len(y.Areas()))
	}
	c, d := &a.Current().CPU, &b.Current().CPU
	for i, area := range x.Areas() {
		if o := y.Areas()[i]; o.Start != area.Start || o.End != area.End || o.Prot != area.Prot || o.Name != area.Name || o.Off != area.Off {
			t.Fatalf("areas %+v and %+v", *area, *o)
		}
		var p, q [4096]byte
		for at := area.Start; at < area.End; at += 4096 {
			if n, m := x.Read(at, p[:]), y.Read(at, q[:]); n != m {
				t.Fatalf("%#x: %v and %v", at, n, m)
			}
			for i := uint64(0); i < 4096 && p != q; i += 8 {
				u, v := binary.LittleEndian.Uint64(p[i:]), binary.LittleEndian.Uint64(q[i:])
				if u != v && !masks(u, v) && (area.Name != "[stack]" || at+i >= c.R[ir.RSP]-128) {
					list = append(list, fmt.Sprintf("%s+%#x: %#x and %#x", area.Name, at+i-area.Start, u, v))
				}
			}
		}
	}
	for s := ir.RAX; s < ir.NumState; s++ {
		if c.R[s] != d.R[s] && (s < ir.CCOp || s > ir.CCC) {
			list = append(list, fmt.Sprintf("slot %d: %#x and %#x", s, c.R[s], d.R[s]))
		}
	}
	if c.PC != d.PC || c.RFLAGS() != d.RFLAGS() {
		list = append(list, fmt.Sprintf("PC %#x and %#x, flags %#x and %#x", c.PC, d.PC, c.RFLAGS(), d.RFLAGS()))
	}
	if !reflect.DeepEqual(a.Consulted(), b.Consulted()) {
		list = append(list, "what was asked of the host")
	}
	return list
}

// alike boots cfg in both ways up to the device, compares memory and registers there, and what comes after.
func alike(t *testing.T, cfg kernel.Config) {
	t.Helper()
	n, e := boot(t, cfg), boot(t, cfg)
	if ended := native(t, Boot{Sys: n}); ended != "" {
		t.Errorf("ended: %s", ended)
	}
	if n.Retired != 0 {
		t.Errorf("%d instructions in the machine", n.Retired)
	}
	n, e = open(t, n), open(t, e)
	if d := differences(t, n, e); len(d) > 0 {
		t.Errorf("native and emulated differ: %d\n%s", len(d), strings.Join(d[:min(len(d), 20)], "\n"))
	}
	if got, want := finish(t, n), finish(t, e); got != want {
		t.Errorf("native:\n%s\nemulated:\n%s", got, want)
	} else if !strings.HasPrefix(got, "{Code:") {
		t.Error(got)
	}
}

// Unusual state of the processor and of the process is that of the machine.
func TestState(t *testing.T) {
	alike(t, kernel.Config{Path: compile(t, "testdata/state.c"), Argv: []string{"prog", "x"}, Env: []string{"A=1"}, DeviceEnabled: true})
}

// Threads take turns, timers expire and signals arrive where they do in the machine; a thread may be alive when the test begins.
func TestThreads(t *testing.T) {
	alike(t, kernel.Config{Path: compile(t, "testdata/threads.c"), Argv: []string{"prog"}, DeviceEnabled: true})
}

// What shared mappings show is that of the machine, by mappings and by files.
func TestShared(t *testing.T) {
	prog := compile(t, "testdata/shared.c")
	alike(t, kernel.Config{Path: prog, Argv: []string{"prog", prog}, DeviceEnabled: true})
}

// The state in which an interpreter is left is that of the machine, byte for byte.
func TestInterpreters(t *testing.T) {
	for _, argv := range [][]string{
		{"/usr/bin/lua5.4", "-e", "t = {} for i = 1, 1000 do t[i] = tostring(i) end local f = io.open('/dev/symchef', 'a+') print(#table.concat(t), os.time())"},
		{"/usr/bin/python3.11", "-c", "import json, re\nopen('/dev/symchef', 'rb+', 0)\nprint(json.dumps([1, 2.5]), hash('x'), id(re))"},
		{"/usr/bin/perl", "-e", "use strict; use POSIX; open(F, '/dev/symchef'); print sin(1), floor(2.5), \"\\n\""},
		{"/usr/bin/ruby3.1", "--disable=gems", "-e", "a = (1..1000).map { |x| x.to_s }.join; open('/dev/symchef'); puts a.size, Time.now, a.hash"},
		{"/usr/bin/php8.2", "-n", "-r", "$f = fopen('/dev/symchef', 'r'); echo preg_match('/a+b/', 'caab'), time();"},
		{"/usr/lib/R/bin/exec/R", "--vanilla", "--no-echo", "-e", "library(jsonlite); f <- file('/dev/symchef', 'rb', raw=TRUE); cat(toJSON(list(a=1.5, b=1:3)), runif(1), tempdir())"},
	} {
		t.Run(filepath.Base(argv[0]), func(t *testing.T) {
			if _, err := os.Stat(argv[0]); err != nil {
				t.Skipf("skipped: %s is not installed", argv[0])
			}
			if strings.HasSuffix(argv[0], "/R") && os.Getenv("SYMCHEF_SLOW") == "" {
				t.Skip("skipped: R takes long to start in the machine; set SYMCHEF_SLOW=1")
			}
			alike(t, kernel.Config{Path: argv[0], Argv: argv, Env: []string{"PATH=/bin", "PYTHONHASHSEED=0", "R_HOME=/usr/lib/R",
				"LD_LIBRARY_PATH=/usr/lib/R/lib", "R_DEFAULT_PACKAGES=NULL", "LC_ALL=C", "TZ=UTC"}, DeviceEnabled: true})
		})
	}
}

// A native run ends where something comes that it leaves to the machine, which goes on as if it had begun.
func TestEarly(t *testing.T) {
	prog := compile(t, "testdata/early.c")
	for _, x := range []struct{ what, ended string }{
		{"child", "a child is made"},
		{"fault", "a fault at " + prog},
		{"divide", "a fault at " + prog},
		{"generated", "generated code"},
		{"protected", "generated code"},
		{"written", "generated code"},
		{"hidden", "the program ends"},
		{"behind", "shared memory goes beyond the end of its file"},
		{"shrunk", "shared memory goes beyond the end of its file"},
		{"breakpoint", "a breakpoint at " + prog},
		{"int80", "a system call by another instruction than syscall"},
		{"gate", "a system call by another instruction than syscall"},
		{"int3", "a breakpoint at " + prog},
		{"memory", "much memory is mapped"},
		{"exec", "generated code"},
	} {
		t.Run(x.what, func(t *testing.T) {
			cfg := kernel.Config{Path: prog, Argv: []string{"prog", x.what, fmt.Sprint(uint64(gate))}, DeviceEnabled: true}
			n, e := boot(t, cfg), boot(t, cfg)
			if ended := native(t, Boot{Sys: n, MaxMemory: 500 << 20}); !strings.Contains(ended, x.ended) {
				t.Errorf("ended: %q, want %q", ended, x.ended)
			}
			if got, want := finish(t, n), finish(t, e); got != want {
				t.Errorf("native:\n%s\nemulated:\n%s", got, want)
			}
		})
	}
}

// A run that is interrupted anywhere goes on in the machine.
func TestInterrupt(t *testing.T) {
	prog := compile(t, "testdata/early.c")
	cfg := kernel.Config{Path: prog, Argv: []string{"prog", "loop", "20000"}, DeviceEnabled: true}
	want := finish(t, boot(t, cfg))
	for i := range 8 {
		sys := boot(t, cfg)
		ended := native(t, Boot{Sys: sys, Limit: time.Millisecond << i})
		if got := finish(t, sys); got != want {
			t.Errorf("ended %q: %s, want %s", ended, got, want)
		}
	}
	c, cancel := context.WithCancel(context.Background())
	cancel()
	sys := boot(t, cfg)
	if ended, err := (&Boot{Sys: sys, Before: func(string) bool { return false }}).Run(c); ended != Slow || err != nil {
		t.Errorf("%q, %v", ended, err)
	}
	if got := finish(t, sys); got != want {
		t.Error(got)
	}
}

// The time in which a run does not compute, for one because the host is busy, is no part of its limit.
func TestLimitIsProcessorTime(t *testing.T) {
	if err := Probe(); err != nil {
		t.Skipf("skipped: %v", err)
	}
	const limit = time.Second
	asked := 0
	sys := boot(t, kernel.Config{Path: compile(t, "testdata/early.c"), Argv: []string{"prog", "int3"}, DeviceEnabled: true})
	b := Boot{Sys: sys, Limit: limit, Before: func(string) bool {
		if asked++; asked == 1 {
			time.Sleep(limit + limit/5)
		}
		return false
	}}
	if ended, err := b.Run(context.Background()); err != nil || asked == 0 || !strings.Contains(ended, "a breakpoint") {
		t.Errorf("asked %d times, ended: %q, %v", asked, ended, err)
	}
}

// What Linux answers without a system call is not answered.
func TestVsyscall(t *testing.T) {
	if err := Probe(); err != nil {
		t.Skipf("skipped: %v", err)
	}
	cfg := kernel.Config{Path: compile(t, "testdata/early.c"), Argv: []string{"prog", "vsyscall"}, DeviceEnabled: true}
	sys := boot(t, cfg)
	ended, err := (&Boot{Sys: sys, Before: func(string) bool { return false }}).Run(context.Background())
	if err != nil {
		t.Logf("%v", err) // vsyscall=xonly or emulate
	} else if got, want := finish(t, sys), finish(t, boot(t, cfg)); !strings.HasPrefix(ended, "a fault at") || got != want {
		t.Errorf("ended %q, %s, want %s", ended, got, want)
	}
}

// What cannot be looked through is an error, and nothing is tried.
func TestHuge(t *testing.T) {
	if err := Probe(); err != nil {
		t.Skipf("skipped: %v", err)
	}
	sys := boot(t, kernel.Config{Path: compile(t, "testdata/early.c"), Argv: []string{"prog", "huge"}, DeviceEnabled: true})
	if ended, err := (&Boot{Sys: sys, Before: func(string) bool { return false }}).Run(context.Background()); err == nil {
		t.Errorf("ended %q", ended)
	}
}

// children are the processes that this one has.
func children(t *testing.T) (list []int) {
	t.Helper()
	files, _ := filepath.Glob("/proc/self/task/*/children")
	if files == nil {
		t.Skip("skipped: the kernel does not list children")
	}
	for _, f := range files {
		b, err := os.ReadFile(f)
		for _, x := range strings.Fields(string(b)) {
			pid, _ := strconv.Atoi(x)
			list = append(list, pid)
		}
		if err != nil && !os.IsNotExist(err) {
			t.Skipf("skipped: %v", err)
		}
	}
	return list
}

// A process that somebody kills is an error, and none is left behind, nor a file open.
func TestKilled(t *testing.T) {
	if err := Probe(); err != nil {
		t.Skipf("skipped: %v", err)
	}
	prog := compile(t, "testdata/early.c")
	open := func() int {
		l, err := os.ReadDir("/proc/self/fd")
		if err != nil {
			t.Fatal(err)
		}
		return len(l)
	}
	before := open()
	for range 3 {
		sys := boot(t, kernel.Config{Path: prog, Argv: []string{"prog", "loop", "20000"}, DeviceEnabled: true})
		seen := 0
		b := Boot{Sys: sys, Before: func(path string) bool {
			if path == "/dev/null" {
				for _, pid := range children(t) {
					seen++
					if err := unix.Kill(pid, unix.SIGKILL); err != nil {
						t.Error(err)
					}
				}
			}
			return false
		}}
		if ended, err := b.Run(context.Background()); err == nil {
			t.Errorf("ended %q", ended)
		}
		if seen != 1 {
			t.Errorf("%d processes", seen)
		}
	}
	if now, left := open(), children(t); now != before || len(left) > 0 {
		t.Errorf("%d files open, %d before; processes %v", now, before, left)
	}
}

// Hooks run in place of code: where code is, which then runs after all or not, and where none is; and as machine code.
func TestHooks(t *testing.T) {
	const nowhere = uint64(0x1230)
	add := []byte{0x48, 0x8d, 0x04, 0x37, 0xc3} // lea rax, [rdi+rsi]; ret
	for _, code := range []map[uint64][]byte{nil, {nowhere: add}} {
		sys := boot(t, kernel.Config{Path: compile(t, "testdata/hooks.c"), Argv: []string{"prog"}, DeviceEnabled: true})
		space := sys.CurrentProcess().Mem
		slot, twice, never := uint64(0), uint64(0), uint64(0)
		calls := map[uint64]int{}
		ret := func(c *cpu.CPU, s *mem.Space, v uint64) {
			c.PC, _ = s.ReadU(c.R[ir.RSP], 8)
			c.Set(ir.RSP, c.R[ir.RSP]+8)
			c.Set(ir.RAX, v)
		}
		b := Boot{Sys: sys, Code: code, Entry: entryOf(t, sys),
			AtEntry: func(s *mem.Space, native func(uint64) uint64) []uint64 {
				at := symbols(t, sys)
				slot, twice, never = at["slot"], at["twice"], at["never"]
				if err := s.Poke(slot, binary.LittleEndian.AppendUint64(nil, native(nowhere))); err != nil {
					t.Error(err)
				}
				return []uint64{nowhere, twice, never}
			},
			Hook: func(at uint64, c *cpu.CPU, s *mem.Space) (bool, string) {
				calls[at]++
				switch at {
				case nowhere:
					ret(c, s, c.R[ir.RDI]+c.R[ir.RSI])
				case never:
					ret(c, s, 77)
				case twice:
					c.Set(ir.RDI, c.R[ir.RDI]+1)
					return false, ""
				}
				return true, ""
			}}
		if ended := native(t, b); ended != "" {
			t.Errorf("ended: %s", ended)
		}
		want := map[uint64]int{twice: 100, never: 100, nowhere: 100}
		if code != nil {
			delete(want, nowhere)
		}
		if !reflect.DeepEqual(calls, want) {
			t.Errorf("calls %v, want %v", calls, want)
		}
		// The pointer is the machine's again, in the copy that the program made of it, too.
		for _, name := range []string{"slot", "copy"} {
			if v, err := space.ReadU(symbols(t, sys)[name], 8); v != nowhere || err != nil {
				t.Errorf("%s: %#x, %v", name, v, err)
			}
		}
		// 0+...+99 three ways: i + 100, 2*(i+1), 77
		if got, want := finish(t, sys), fmt.Sprintf("{Code:0 Signal:0}\n%d %d %d\n", 4950+10000, 2*4950+200, 7700); got != want {
			t.Errorf("%s, want %s", got, want)
		}
	}
}

// However many files the process maps, it and this one have one file of memory open for them: there may be few descriptors.
func TestOneMemoryFile(t *testing.T) {
	if err := Probe(); err != nil {
		t.Skipf("skipped: %v", err)
	}
	sys := boot(t, kernel.Config{Path: compile(t, "testdata/early.c"), Argv: []string{"prog", "loop", "20000"}, DeviceEnabled: true})
	mapped, open := map[string]bool{}, 0
	b := Boot{Sys: sys, Before: func(path string) bool {
		if path != "/dev/null" {
			return false
		}
		for _, a := range sys.CurrentProcess().Mem.Areas() {
			if a.Back != nil {
				mapped[a.Back.Name] = true
			}
		}
		files, _ := filepath.Glob("/proc/self/fd/*")
		for _, f := range files {
			if to, _ := os.Readlink(f); strings.Contains(to, "memfd:guest") {
				open++
			}
		}
		return true
	}}
	if _, err := b.Run(context.Background()); err != nil || len(mapped) < 3 || open != 1 {
		t.Errorf("%d files are mapped, %d files of memory open, %v", len(mapped), open, err)
	}
}
