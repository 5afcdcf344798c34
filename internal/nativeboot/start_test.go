package nativeboot

import (
	"fmt"
	"os"
	"runtime"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"symchef/internal/guest"
	"symchef/internal/kernel"
)

// region returns where the process has the mapping of a name.
func (p *process) region(t *testing.T, name string) (start, end uint64) {
	t.Helper()
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/maps", p.pid))
	if err != nil {
		t.Fatal(err)
	}
	for _, line := range strings.Split(string(text), "\n") {
		if strings.HasSuffix(line, name) {
			if _, err := fmt.Sscanf(line, "%x-%x", &start, &end); err != nil {
				t.Fatal(err)
			}
		}
	}
	return start, end
}

// Whatever the host puts where the gate will be, in part or as a whole, the gate is all that is left.
func TestGateTaken(t *testing.T) {
	if err := Probe(); err != nil {
		t.Skipf("skipped: %v", err)
	}
	for _, x := range []struct {
		name  string
		place uint64
	}{
		{"[stack]", gate - 2*guest.PageSize}, {"[stack]", gate}, {"[vdso]", gate - guest.PageSize}, {"[vdso]", gate},
		{"[vvar]", gate - guest.PageSize},
	} {
		t.Run(fmt.Sprintf("%s at %#x", x.name, x.place), func(t *testing.T) {
			runtime.LockOSThread()
			defer runtime.UnlockOSThread()
			p, err := spawn()
			if err != nil {
				t.Fatal(err)
			}
			defer p.kill()
			at := p.regs.Rip
			if _, err := p.mem.WriteAt(gateCode, int64(at)); err != nil {
				t.Fatal(err)
			}
			start, end := p.region(t, x.name)
			if start == end {
				t.Skipf("skipped: the host maps no %s", x.name)
			}
			if now, err := p.invokeAt(at, unix.SYS_MREMAP, start, end-start, end-start, unix.MREMAP_MAYMOVE|unix.MREMAP_FIXED, x.place); err != nil || now != x.place {
				t.Fatalf("moved to %#x: %v", now, err)
			}
			p.regs.Rip = at
			if err := p.prepare(nil); err != nil {
				t.Fatal(err)
			}
			text, err := os.ReadFile(fmt.Sprintf("/proc/%d/maps", p.pid))
			if err != nil {
				t.Fatal(err)
			}
			for _, line := range strings.Split(strings.TrimSpace(string(text)), "\n") {
				if !strings.HasPrefix(line, fmt.Sprintf("%x-%x r-xp", uint64(gate), uint64(gate+gateSize))) && !strings.HasSuffix(line, "[vsyscall]") {
					t.Errorf("there is also %s", line)
				}
			}
		})
	}
}

// A program starts natively wherever the host's randomisation puts things.
func TestManyStarts(t *testing.T) {
	cfg := kernel.Config{Path: compile(t, "testdata/early.c"), Argv: []string{"prog", "int3"}, DeviceEnabled: true}
	starts := 100
	if os.Getenv("SYMCHEF_SLOW") != "" {
		starts = 10000
	}
	for i := range starts {
		if ended := native(t, Boot{Sys: boot(t, cfg)}); !strings.Contains(ended, "a breakpoint at ") {
			t.Fatalf("start %d: %s", i, ended)
		}
	}
}
