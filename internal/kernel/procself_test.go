package kernel

import (
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// procKeys are what the lines of a file of /proc begin with.
func procKeys(text string) (keys []string) {
	for _, m := range regexp.MustCompile(`(?m)^([A-Za-z_]+):`).FindAllStringSubmatch(text, -1) {
		keys = append(keys, m[1])
	}
	return keys
}

// TestProcSelf guards that what libraries read of /proc/self is there as it is on Linux: the same names, permissions and lines, in the same order.
func TestProcSelf(t *testing.T) {
	s := newSystem(&Config{Path: "/bin/true", Argv: []string{"true"}, Cwd: "/", Host: NewHost()})
	p := s.start().proc
	at := func(name string) string { return strings.Replace("/proc/1000/"+name, "TID", "1000", 1) }
	self := func(name string) string {
		return "/proc/self/" + strings.Replace(name, "TID", regexp.MustCompile(`\d+$`).FindString(threadSelf(t)), 1)
	}
	for _, name := range []string{
		"", "task", "task/TID", "task/TID/comm", "task/TID/stat", "task/TID/status", "task/TID/fd", "fdinfo", "fd", "ns", "ns/pid", "ns/mnt", "exe", "cwd", "root",
		"cgroup", "cmdline", "comm", "coredump_filter", "environ", "io", "limits", "loginuid", "maps", "mountinfo", "mounts", "oom_score", "oom_score_adj",
		"personality", "schedstat", "sessionid", "smaps", "smaps_rollup", "stat", "statm", "status", "timerslack_ns",
	} {
		native, err := os.Lstat(self(name))
		if err != nil {
			continue // this kernel has no such file
		}
		st, err := s.synthStat(p, at(name))
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if mode, _ := hostStat(self(name)); !native.IsDir() && native.Mode()&os.ModeSymlink == 0 && st.Mode != mode.Mode {
			t.Errorf("%s has mode %o, natively %o", name, st.Mode, mode.Mode)
		}
		if !native.Mode().IsRegular() {
			continue
		}
		text, err := s.synthText(at(name))
		want, _ := os.ReadFile(self(name))
		if err != nil || len(want) > 0 && len(text) == 0 && p.Mem != nil {
			t.Errorf("%s: %q, %v", name, text, err)
		}
		keys, there := procKeys(string(text)), procKeys(string(want))
		for _, k := range keys {
			i := slices.Index(there, k)
			if i < 0 {
				t.Errorf("%s has a line %s", name, k)
			}
			there = there[i+1:]
		}
		if strings.HasSuffix(name, "stat") && len(strings.Fields(string(text))) != len(strings.Fields(string(want))) {
			t.Errorf("%s: %s, natively %s", name, text, want)
		}
	}
	if l, err := s.synthDir(p, at("task")); err != nil || len(l) != 1 || l[0].Name != "1000" {
		t.Errorf("tasks %v, %v", l, err)
	}
	if l, err := s.synthDir(p, at("task/TID")); err != nil || slices.ContainsFunc(l, func(e dirent) bool { return e.Name == "task" }) || len(l) < 20 {
		t.Errorf("a task %v, %v", l, err)
	}
	if to, err := s.synthLink(p, "/proc/thread-self"); err != nil || to != "1000/task/1000" {
		t.Errorf("thread-self leads to %s, %v", to, err)
	}
}

func threadSelf(t *testing.T) string {
	to, err := os.Readlink("/proc/thread-self")
	if err != nil {
		t.Skip("skipped: no /proc/thread-self: ", err)
	}
	return to
}

// TestProcElsewhere guards that whatever is told in /proc and /sys is another in some world, but for what all hosts share and what is an input.
func TestProcElsewhere(t *testing.T) {
	alike := []string{"/proc/sys/kernel/ostype", "/proc/sys/kernel/ngroups_max", "cmdline", "comm", "environ", "maps", "smaps"} // the last two have no areas here
	for name, texts := range procFixed {
		if (texts[0] == texts[1]) != slices.Contains(alike, name) {
			t.Errorf("%s: %q and elsewhere %q", name, texts[0], texts[1])
		}
	}
	other := World{Later: 3e9, Pace: 3, Taken: 3e9, Used: 12, PIDs: 77, Lower: 5 << 12, Elsewhere: true, Inodes: 9, OtherRights: true, Sandbox: true}
	text := func(name string, w World) string {
		s := newSystem(&Config{Path: "/bin/true", Argv: []string{"true"}, Env: []string{"A=1"}, Cwd: "/", Host: NewHost(), World: w})
		p := s.start().proc
		return procFiles[name].text(s, p, p.PID)
	}
	for name := range procFiles {
		if (text(name, World{}) == text(name, other)) != slices.Contains(alike, name) {
			t.Errorf("%s: %s\nand elsewhere %s", name, text(name, World{}), text(name, other))
		}
	}
}
