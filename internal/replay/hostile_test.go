package replay

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"symchef/internal/pace"
	"symchef/internal/testcase"
)

// hostileDir, in the environment, has the hostile programs ready to run.
const hostileDir = "SYMCHEF_HOSTILE_DIR"

// tight are limits that the programs that take too much reach at once.
var tight = Limits{Time: 1500 * time.Millisecond, Memory: 512 << 20, FileSize: 16 << 20, Disk: 32 << 20, Processes: 64}.withDefaults()

// runners start a program by the ending of its name.
var runners = map[string]string{".c": "", ".py": python, ".lua": "/usr/bin/lua5.4", ".R": "/usr/bin/Rscript"}

// hostilePrograms makes the programs of testdata/hostile and returns where they are.
func hostilePrograms(t *testing.T) string {
	t.Helper()
	if dir := os.Getenv(hostileDir); dir != "" {
		return dir
	}
	dir, err := os.MkdirTemp("", "symchef-programs-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	os.Chmod(dir, 0o755)
	files, err := filepath.Glob("testdata/hostile/*.*")
	if err != nil {
		t.Fatal(err)
	}
	// All programs in C are one, which takes the part that its name tells.
	all, parts := "", ""
	for _, f := range files {
		name := filepath.Base(f)
		switch filepath.Ext(f) {
		case ".h":
		case ".c":
			main := "main_" + strings.TrimSuffix(name, ".c")
			path, err := filepath.Abs(f)
			if err != nil {
				t.Fatal(err)
			}
			all += fmt.Sprintf("#define main %s\n#include %q\n#undef main\n", main, path)
			parts += fmt.Sprintf("if (strcmp(name, %q) == 0) return %s();\n", name, main)
			if err := os.Symlink("all", filepath.Join(dir, name)); err != nil {
				t.Fatal(err)
			}
		default:
			text, err := os.ReadFile(f)
			if err == nil {
				err = os.WriteFile(filepath.Join(dir, name), text, 0o644)
			}
			if err != nil {
				t.Fatal(err)
			}
		}
	}
	gcc := exec.Command("gcc", "-w", "-x", "c", "-o", filepath.Join(dir, "all"), "-", "-lpthread")
	gcc.Stdin = strings.NewReader(all + "int main(int argc, char **argv) {\nchar *name = strrchr(argv[0], '@') + 1;\n" + parts + "return 99;\n}\n")
	if out, err := gcc.CombinedOutput(); errors.Is(err, exec.ErrNotFound) {
		t.Log("skipped the programs in C: no gcc")
	} else if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return dir
}

// attack runs one program; ends says that it does not take all the time it could.
func (s *surroundings) attack(t *testing.T, program string, m Mode, ends bool) (Native, error) {
	name := filepath.Base(program)
	limits := tight
	switch {
	case ends:
		limits.Time = pace.Stretch(t, 40*limits.Time)
		limits.CPU = limits.Time
	case filepath.Ext(name) == ".R": // which takes a second to start
		limits.Time = pace.Stretch(t, 5*limits.Time)
	}
	g := testcase.Target{Kind: testcase.Program, Path: program, Argv: []string{s.mark + "@" + name}, Env: s.env(m), Cwd: t.TempDir()}
	if r := runners[filepath.Ext(name)]; r != "" {
		g.Path, g.Argv = r, []string{r, program}
	}
	if filepath.Ext(name) == ".R" {
		g.Env = slices.DeleteFunc(g.Env, func(e string) bool { return e == "R_HOME=" })
	}
	return native(context.Background(), g, testcase.Test{}, Options{Mode: m, Limits: limits}, false)
}

// exceeds says how a program ends that takes more than a replay may: in which
// mode, and of what. Elsewhere it is refused what it takes.
var exceeds = map[string]string{
	"memory.c": "memory", "sockets.c": "memory", "pagetables.c": "memory", "sharedmemory.c": "memory", "memfds.c": "memory", "pool.py": "memory",
	"flight.c namespaces": "memory", "shm.c namespaces": "memory",
	"semaphores.c namespaces": "memory", "messages.c namespaces": "memory",
	"forks.c landlock": "processes", "forkbomb.c landlock": "processes", "bomb.lua landlock": "processes",
	"disk.c landlock": "files",
}

// Each program of testdata/hostile runs confined, and the host is as it was.
func TestHostileSuite(t *testing.T) {
	dir := hostilePrograms(t)
	programs, err := filepath.Glob(dir + "/*.*")
	if err != nil || len(programs) == 0 {
		t.Fatalf("no programs in %s: %v", dir, err)
	}
	for _, m := range modes(t) {
		t.Run(string(m), func(t *testing.T) {
			s := newSurroundings(t)
			before := s.state()
			t.Run("all", func(t *testing.T) {
				for _, p := range programs {
					name := filepath.Base(p)
					t.Run(name, func(t *testing.T) {
						if r := runners[filepath.Ext(p)]; r != "" && !exists(r) || !exists(p) {
							t.Skip("skipped: cannot be run")
						}
						t.Parallel()
						what := exceeds[name]
						if what == "" {
							what = exceeds[name+" "+string(m)]
						}
						start := time.Now()
						n, err := s.attack(t, p, m, what != "")
						if err != nil {
							t.Fatal(err)
						}
						if what == "" && pace.Exceeds(t, start, time.Minute) {
							t.Errorf("took %v: something has outlived its time", time.Since(start))
						}
						if strings.Contains(string(n.Stdout), "ESCAPED") || strings.Contains(string(n.Stdout), "4321") {
							t.Errorf("%s", n.Stdout)
						}
						if what != "" && !strings.Contains(n.Outcome.Message, what) {
							t.Errorf("%v %s%s; want it to have taken too much of: %s", n.Outcome, n.Stdout, n.Stderr, what)
						}
					})
				}
			})
			for _, c := range changes(before, s.state()) {
				t.Error(c)
			}
		})
	}
}

// A program that goes for the process that watches it ends as it wants to, and the others are replayed.
func TestSupervisorStays(t *testing.T) {
	program := filepath.Join(hostilePrograms(t), "supervisor.c")
	if !exists(program) {
		t.Skip("skipped: no programs in C")
	}
	for _, m := range modes(t) {
		g := shell(t, `[ "$1" = x ] || exit 0; exec -a @supervisor.c `+program)
		g.Path, g.Argv[0] = "/bin/bash", "bash"
		var tests []testcase.Test
		for _, arg := range []string{"a", "x", "b"} {
			c := wants(arg, testcase.Outcome{Kind: testcase.OK}, "", testcase.Argv(3, []byte("sh")), testcase.Argv(4, []byte(arg+"\x00")))
			if arg == "x" {
				c = wants(arg, testcase.Outcome{Kind: testcase.Exit, ExitStatus: 7}, "done\n", c.Inputs...)
			}
			tests = append(tests, c)
		}
		rep, err := Run(t.Context(), g, tests, Options{Mode: m})
		if err != nil {
			t.Errorf("%s: %v", m, err)
		}
		for _, r := range rep.Results {
			if r.Verdict != Agreed {
				t.Errorf("%s: %s: %s: %s", m, r.ID, r.Verdict, r.Why)
			}
		}
	}
}

// Where what watches a program is ended all the same, as by a host out of memory, that is a matter of this program.
func TestSupervisorDies(t *testing.T) {
	for _, m := range modes(t) {
		t.Run(string(m), func(t *testing.T) {
			t.Parallel()
			g := shell(t, `[ "$1" = x ] && exec sleep 1000.`+fmt.Sprint(os.Getpid())+`; exit 0`)
			var tests []testcase.Test
			for _, arg := range []string{"a", "x", "b"} {
				tests = append(tests, wants(arg, testcase.Outcome{Kind: testcase.OK}, "", testcase.Argv(3, []byte("sh")), testcase.Argv(4, []byte(arg+"\x00"))))
			}
			over := make(chan struct{})
			defer close(over)
			go endSupervisors(over, os.Getpid(), "sleep\x001000."+fmt.Sprint(os.Getpid()))
			rep, err := Run(t.Context(), g, tests, Options{Mode: m, Parallel: 1})
			if err != nil {
				t.Fatal(err)
			}
			if rep.Agreed != 2 || rep.Skipped != 1 || !strings.Contains(rep.Results[1].Why, errDied.Error()) {
				t.Errorf("%+v", rep)
			}
		})
	}
}

// endSupervisors ends the confine children below process top that a process with these arguments is below, until over is closed.
func endSupervisors(over <-chan struct{}, top int, args string) {
	for {
		dirs, _ := filepath.Glob("/proc/[0-9]*")
		for _, d := range dirs {
			if b, _ := os.ReadFile(d + "/cmdline"); !strings.HasPrefix(string(b), args) {
				continue
			}
			supervisor := ""
			for d != "/proc/" && d != "/proc/0" && d != fmt.Sprint("/proc/", top) {
				if b, _ := os.ReadFile(d + "/cmdline"); strings.HasPrefix(string(b), confineArg+"\x00") {
					supervisor = d
				}
				d = "/proc/" + statusField(d, "PPid:")
			}
			if pid, _ := strconv.Atoi(filepath.Base(supervisor)); pid > 0 && d == fmt.Sprint("/proc/", top) {
				unix.Kill(pid, unix.SIGKILL)
			}
		}
		select {
		case <-over:
			return
		case <-time.After(20 * time.Millisecond):
		}
	}
}

// Where the owners of files cannot be shifted, the superuser's program keeps its id, and is held all the same.
func TestHostileUnshifted(t *testing.T) {
	if os.Getuid() != 0 || Probe(t.Context(), Namespaces) != nil {
		t.Skip("skipped: not the superuser, or no namespaces")
	}
	dir := hostilePrograms(t)
	before := who
	who = func() identity { return sameAll }
	t.Cleanup(func() { who = before })
	s := newSurroundings(t)
	state := s.state()
	for _, name := range []string{
		"sysctl.c", "write.c", "places.c", "modes.c", "names.c", "caps.c", "trace.c", "fifo.c", "network.c", "devices.c", "cgroups.c", "setuid.c",
		"handles.c", "mounts.c", "namespaces.c", "signals.c", "priority.c", "proc.py", "secrets.py", "files.py", "links.py",
	} {
		p := filepath.Join(dir, name)
		if r := runners[filepath.Ext(p)]; r != "" && !exists(r) || !exists(p) {
			continue
		}
		n, err := s.attack(t, p, Namespaces, false)
		if err != nil {
			t.Fatal(err)
		}
		if strings.Contains(string(n.Stdout), "ESCAPED") || strings.Contains(string(n.Stdout), "4321") {
			t.Errorf("%s: %s", name, n.Stdout)
		}
	}
	for _, c := range changes(state, s.state()) {
		t.Error(c)
	}
}

func exists(p string) bool { _, err := os.Stat(p); return err == nil }

// harmless are programs that do no harm but to their surroundings, whoever runs them.
var harmless = []string{
	"ipc_remove.c", "ipc_write.c", "ipc_make.c", "mqueue.c", "chattr.c", "xattr.c", "modes.c", "truncate.c", "names.c", "write.c", "places.c",
	"keys_read.c", "keys_add.c", "signals.c", "priority.c", "network.c", "fifo.c", "terminal.c", "locks.c", "trace.c",
	"files.py", "links.py", "network.py", "secrets.py", "files.lua", "execute.lua", "files.R",
}

// Without confinement the same programs do what they want, and are found out.
func TestHostileUnconfined(t *testing.T) {
	if os.Getuid() == 0 {
		t.Skip("skipped: not as the superuser; TestHostileAsUser does it")
	}
	dir := hostilePrograms(t)
	for _, name := range harmless {
		t.Run(name, func(t *testing.T) {
			if r := runners[filepath.Ext(name)]; r != "" && !exists(r) || !exists(filepath.Join(dir, name)) {
				t.Skip("skipped: cannot be run")
			}
			s := newSurroundings(t)
			before := s.state()
			n, err := s.attack(t, filepath.Join(dir, name), Unconfined, false)
			if err != nil {
				t.Fatal(err)
			}
			after := s.state()
			for _, d := range s.places() {
				left, _ := filepath.Glob(filepath.Join(d, s.mark+"*"))
				for _, f := range left {
					os.RemoveAll(f)
				}
			}
			if len(changes(before, after)) == 0 && !strings.Contains(string(n.Stdout), "ESCAPED") {
				t.Errorf("nothing has changed: %v %s%s", n.Outcome, n.Stdout, n.Stderr)
			}
		})
	}
	s := newSurroundings(t)
	before := s.state()
	left := exec.Command("sleep", "100")
	left.Env = s.env(Unconfined)
	if err := left.Start(); err != nil {
		t.Fatal(err)
	}
	if len(changes(before, s.state())) == 0 {
		t.Error("a process is not seen")
	}
	left.Process.Kill()
	left.Wait()
}

// ordinary is a user without any rights.
const ordinary = 61234

// The suites again, as an ordinary user.
func TestHostileAsUser(t *testing.T) {
	if os.Getuid() != 0 {
		t.Skip("skipped: this is an ordinary user already")
	}
	dir := hostilePrograms(t)
	self, err := os.ReadFile("/proc/self/exe")
	if err != nil {
		t.Fatal(err)
	}
	binary := filepath.Join(dir, "replay")
	if err := os.WriteFile(binary, self, 0o755); err != nil {
		t.Fatal(err)
	}
	home, err := os.MkdirTemp("", "symchef-user-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(home) })
	os.Chown(home, ordinary, ordinary)
	if err := errors.Join(os.Mkdir(home+"/foreign", 0o777), os.WriteFile(home+"/foreign/f", []byte("a\n"), 0o666), os.Chmod(home+"/foreign", 0o777), os.Chmod(home+"/foreign/f", 0o666)); err != nil {
		t.Fatal(err)
	}
	for _, test := range []string{"TestHostileSuite", "TestSupervisorStays", "TestHostileUnconfined", "TestKilled", "TestForeignFolders", "TestForeignFiles"} {
		t.Run(test, func(t *testing.T) {
			t.Parallel()
			cmd := exec.Command(binary, "-test.run", "^"+test+"$", "-test.timeout", "5m", "-test.parallel", "4")
			cmd.Dir = home
			cmd.Env = []string{"PATH=/usr/bin:/bin", "HOME=" + home, "TMPDIR=" + os.TempDir(), hostileDir + "=" + dir}
			cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: ordinary, Gid: ordinary}}
			if out, err := cmd.CombinedOutput(); err != nil {
				t.Errorf("%v\n%s", err, out)
			}
		})
	}
}

// launchOnly, in the environment, makes the test binary replay a program.
const launchOnly = "SYMCHEF_HOSTILE_LAUNCH"

// launchHostile replays the program that the environment tells of, as a symchef that a test can kill.
func launchHostile() {
	program, mode, _ := strings.Cut(os.Getenv(launchOnly), "@")
	limits := tight
	limits.Time = time.Minute
	g := testcase.Target{Kind: testcase.Program, Path: program, Argv: []string{"@" + filepath.Base(program)}, Env: os.Environ(), Cwd: "/tmp"}
	n, err := native(context.Background(), g, testcase.Test{}, Options{Mode: Mode(mode), Limits: limits}, false)
	fmt.Println(n.Outcome, err)
}

// When symchef or its supervisor is killed, nothing that they run lives on.
func TestKilled(t *testing.T) {
	dir := hostilePrograms(t)
	if !exists(dir + "/subreaper.c") {
		t.Skip("skipped: no programs in C")
	}
	for _, m := range modes(t) {
		for _, who := range []string{"symchef", "supervisor", "all"} {
			t.Run(string(m)+" "+who, func(t *testing.T) {
				t.Parallel()
				mark := fmt.Sprintf("MARK=killed-%d-%s-%s", os.Getpid(), m, who)
				tmp := t.TempDir()
				cmd := exec.Command("/proc/self/exe")
				cmd.Env = []string{launchOnly + "=" + dir + "/subreaper.c@" + string(m), mark, "HOME=/", "TMPDIR=" + tmp}
				var out strings.Builder
				cmd.Stdout, cmd.Stderr = &out, &out
				if err := cmd.Start(); err != nil {
					t.Fatal(err)
				}
				defer func() {
					cmd.Process.Kill()
					if cmd.Wait(); t.Failed() {
						t.Logf("%s", out.String())
					}
				}()
				if !eventually(func() bool { return len(marked(mark, cmd.Process.Pid)) >= 20 }) {
					t.Fatalf("%d processes only", len(marked(mark, cmd.Process.Pid)))
				}
				var supervisors []int
				parents := []int{cmd.Process.Pid}
				for len(parents) > 0 {
					files, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/children", parents[0]))
					parents = parents[1:]
					for _, f := range files {
						b, _ := os.ReadFile(f)
						for _, p := range strings.Fields(string(b)) {
							var pid int
							fmt.Sscan(p, &pid)
							if args, _ := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", pid)); strings.HasPrefix(string(args), confineArg) {
								supervisors, parents = append(supervisors, pid), append(parents, pid)
							}
						}
					}
				}
				if len(supervisors) == 0 {
					t.Fatal("no supervisor")
				}
				if who != "supervisor" {
					cmd.Process.Kill()
				}
				if who != "symchef" {
					for _, pid := range supervisors {
						unix.Kill(pid, unix.SIGKILL)
					}
				}
				if !eventually(func() bool { return len(marked(mark, cmd.Process.Pid)) == 0 }) {
					t.Errorf("%v live on", marked(mark, cmd.Process.Pid))
				}
			})
		}
	}
}

// marked are the processes with an environment that has text, but for one.
func marked(text string, but int) (pids []string) {
	dirs, _ := filepath.Glob("/proc/[0-9]*")
	for _, d := range dirs {
		env, _ := os.ReadFile(d + "/environ")
		if d != fmt.Sprint("/proc/", but) && strings.Contains(string(env), text) {
			pids = append(pids, d)
		}
	}
	return pids
}

func eventually(f func() bool) bool {
	for range 500 {
		if f() {
			return true
		}
		time.Sleep(10 * time.Millisecond)
	}
	return false
}

// An ordinary user's program writes in its folders also where these are in
// folders of another, and nowhere else.
func TestForeignFolders(t *testing.T) {
	if Probe(context.Background(), Namespaces) != nil {
		t.Skip("skipped: no namespaces")
	}
	// /var/tmp is the superuser's, in a folder of the superuser's.
	dir, err := os.MkdirTemp("/var/tmp", "symchef-foreign-")
	if err != nil {
		t.Skip("skipped: ", err)
	}
	defer os.RemoveAll(dir)
	if err := os.WriteFile(dir+"/old", []byte("old"), 0o644); err != nil {
		t.Fatal(err)
	}
	g := shell(t, "echo x >>old && mkdir new && echo y >new/f && cat old new/f && echo z >/var/tmp/symchef-z && rm /var/tmp/symchef-z && mv old new/ && ls new")
	g.Cwd = dir
	agree(t, g, wants("foreign", testcase.Outcome{Kind: testcase.OK}, "oldx\ny\nf\nold\n"), Options{Mode: Namespaces})
	if os.Getuid() != 0 {
		g = shell(t, "for d in / /usr /etc /var; do test -w $d && echo $d; mkdir $d/symchef-no 2>/dev/null && echo made; done; true")
		none := wants("elsewhere", testcase.Outcome{Kind: testcase.OK}, "")
		none.Files = []testcase.FileEffect{} // nor has anything changed of folders that the user cannot read, as /root
		agree(t, g, none, Options{Mode: Namespaces})
	}
	if b, err := os.ReadFile(dir + "/old"); string(b) != "old" {
		t.Errorf("%q, %v", b, err)
	}
}

// An ordinary user's program writes in files of others that it may write, renames and links them: an overlay alone could not copy them.
func TestForeignFiles(t *testing.T) {
	dir, err := filepath.Abs("foreign")
	if err != nil || !exists(dir+"/f") || os.Getuid() == 0 || Probe(context.Background(), Namespaces) != nil {
		t.Skip("skipped: no namespaces, or no files of others: see TestHostileAsUser")
	}
	f := func(name string, change testcase.Change, text string) testcase.FileEffect {
		return testcase.FileEffect{Path: testcase.Text(dir + "/" + name), Change: change, Kind: testcase.RegularFile, Mode: "0666", Size: int64(len(text)), SHA256: testcase.OutputDigest([]byte(text))}
	}
	for _, c := range []struct {
		script, out string
		files       []testcase.FileEffect
	}{
		{"echo z >>foreign/f; cat foreign/f", "a\nz\n", []testcase.FileEffect{f("f", testcase.Changed, "a\nz\n")}},
		{": >foreign/f", "", []testcase.FileEffect{f("f", testcase.Changed, "")}},
		{"mv foreign/f foreign/g", "", []testcase.FileEffect{{Path: testcase.Text(dir + "/f"), Change: testcase.Removed}, f("g", testcase.Made, "a\n")}},
		{"ln foreign/f foreign/g; cat foreign/g", "a\n", []testcase.FileEffect{f("g", testcase.Made, "a\n")}},
		{"rm foreign/f", "", []testcase.FileEffect{{Path: testcase.Text(dir + "/f"), Change: testcase.Removed}}},
	} {
		g := shell(t, c.script)
		g.Cwd = filepath.Dir(dir)
		want := wants("foreign", testcase.Outcome{Kind: testcase.OK}, c.out)
		want.Files = c.files
		agree(t, g, want, Options{Mode: Namespaces})
	}
}
