package kernel

import (
	"fmt"
	"maps"
	"net/netip"
	"slices"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

// TestWorlds guards that every part of a World changes what a guest sees of it, and nothing else of these things.
func TestWorlds(t *testing.T) {
	seen := func(w World) map[string]string {
		s := newSystem(&Config{Path: "/bin/true", Argv: []string{"true"}, Cwd: "/", Host: NewHost(), World: w})
		task := s.start()
		text := func(at string) string {
			b, err := s.synthText(at)
			if err != nil {
				t.Fatal(at, err)
			}
			return string(b)
		}
		list := []dirent{{Name: "."}, {Name: ".."}, {Name: "a"}, {Name: "b"}}
		w.arrange(list)
		s.Retired = 1_000_000
		real, _ := s.clock(0)
		monotonic, _ := s.clock(1)
		worked, _ := s.clock(2)
		show := func(v ...any) string { return fmt.Sprint(v...) }
		return map[string]string{
			"wall": show(real - int64(w.pace())*1_000_000), "monotonic": show(monotonic - int64(w.pace())*1_000_000), "work": show(worked), "usage": show(s.usage()),
			"pid": show(task.proc.PID, task.TID), "parent": show(task.proc.Parent),
			"mappings": show(w.mmapTop()), "heap": show(w.heap(0x10000)),
			"node": w.host().node, "cpus": show(w.host().processors, strings.Count(text("/proc/cpuinfo"), "processor")),
			"memory": text("/proc/meminfo"), "release": text("/proc/sys/kernel/osrelease"), "load": text("/proc/loadavg"),
			"limits": task.proc.Limits.text(), "random": show(s.random()), "inode": show(stat{Ino: 7}.encode(&w)[8:16]), "order": show(list),
			"rights": show(s.super(), s.refused()), "session": show(task.proc.Session), "seccomp": show((&call{s: s, p: task.proc, a: [6]uint64{unix.PR_GET_SECCOMP}}).sysPrctl()),
			"nice": show(task.proc.Nice), "processor": show(s.Processor()), "unknown": show((&call{s: s, p: task.proc, a: [6]uint64{999}}).sysPrctl()), "network": show(s.route(&socket{}, sockName{IP: netip.MustParseAddr("8.8.8.8")})),
			"tasks": show(s.mayStart(task.proc)), "owner": show((&System{cfg: &Config{UID: 7, GID: 7, World: w}}).boxed(stat{Mode: unix.S_IFREG | 0o666}).UID),
		}
	}
	base := seen(World{})
	for name, c := range map[string]struct {
		w       World
		changes string
	}{
		"later":     {World{Later: 1e9}, "monotonic wall"},
		"pace":      {World{Pace: 3}, "usage work"},
		"delay":     {World{Delay: 3}, "monotonic usage wall work"},
		"taken":     {World{Taken: 3}, "usage work"},
		"used":      {World{Used: 3}, "usage"},
		"pids":      {World{PIDs: 77}, "parent pid session"},
		"lower":     {World{Lower: 5 << 12}, "heap mappings"},
		"elsewhere": {World{Elsewhere: true}, "cpus limits load memory nice node release"},
		"still":     {World{Still: true}, "usage work"},
		"beyond":    {World{Beyond: true}, "unknown"},
		"level":     {World{Level: true}, "processor"},
		"network":   {World{Network: true}, "network"},
		"inodes":    {World{Inodes: 9}, "inode"},
		"rights":    {World{OtherRights: true}, "rights"},
		"sandbox":   {World{Sandbox: true}, "limits owner seccomp"},
		"owned":     {World{Owned: true}, "owner"},
		"bounds":    {World{Bounds: Bounds{Tasks: 1}}, "tasks"},
		"inverse":   {World{Inverse: true}, "random"},
		"backwards": {World{Backwards: true}, "order"}, "turned": {World{Turned: true}, "order"},
	} {
		var changed []string
		for _, k := range slices.Sorted(maps.Keys(base)) {
			if seen(c.w)[k] != base[k] {
				changed = append(changed, k)
			}
		}
		if got := strings.Join(changed, " "); got != c.changes {
			t.Errorf("%s changes %q, not %q", name, got, c.changes)
		}
	}
}
