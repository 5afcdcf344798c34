package replay

import (
	"context"
	"strings"
	"testing"
	"time"

	"symchef/internal/testcase"
)

// leakTest is a test that does what its input names, and before that tells what it finds of others' doings.
const leakTest = `
import ctypes, fcntl, mmap, os, resource, select, signal, socket, stat, subprocess, sys, tempfile, time
import symchef
here = os.path.dirname(os.path.abspath(__file__))
os.chdir(here)
with open("made", "w") as f: f.write("0123456789")
reader, writer = open("made", "rb", 0), open("made", "r+b", 0)
unnamed = tempfile.TemporaryFile(buffering=0)
marker = bytearray(b"unchanged marker of the server")
server = os.getpid()
libc = ctypes.CDLL(None, use_errno=True)

def found():
    if os.listdir(here) != ["test_it.py", "made"] and sorted(os.listdir(here)) != ["made", "test_it.py"]: yield "files %s" % os.listdir(here)
    if open("made").read() != "0123456789" or stat.S_IMODE(os.stat("made").st_mode) != 0o644: yield "content or mode"
    if os.listxattr("made"): yield "attributes"
    if reader.tell() or writer.tell(): yield "offsets"
    if os.fstat(unnamed.fileno()).st_size: yield "a file without a name"
    if bytes(marker) != b"unchanged marker of the server": yield "memory"
    if os.listdir("/dev/shm") or os.listdir("/run"): yield "shared memory files"
    if len(open("/proc/sysvipc/shm").readlines()) > 1 or len(open("/proc/sysvipc/sem").readlines()) > 1: yield "System V"
    if libc.mq_open(b"/q", os.O_RDONLY) >= 0: yield "a queue"
    if fcntl.fcntl(0, fcntl.F_GETFL) & os.O_NONBLOCK: yield "flags of standard input"
    if fcntl.fcntl(1, fcntl.F_GETFL) & os.O_NONBLOCK or fcntl.fcntl(1, fcntl.F_GETPIPE_SZ) != 65536: yield "the pipe of standard output"
    if stat.S_IMODE(os.fstat(2).st_mode) != 0o600: yield "the mode of a pipe"
    if select.select([], [1, 2], [], 0)[1] != [1, 2]: yield "what others have written"
    if os.getpriority(os.PRIO_PROCESS, 0) or len(os.sched_getaffinity(0)) != os.cpu_count(): yield "priority"
    if resource.getrlimit(resource.RLIMIT_NOFILE) != (1024, 1024): yield "limits"
    if signal.sigpending() or signal.pthread_sigmask(signal.SIG_BLOCK, []): yield "signals"
    f = os.open("made", os.O_RDWR)
    try: fcntl.flock(f, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError: yield "a lock"
    os.close(f)
    s = socket.socket()
    try: s.bind(("127.0.0.1", 4711))
    except OSError: yield "a port"
    s.close()
    for p in os.listdir("/proc"):
        try: line = open("/proc/%s/cmdline" % p).read() if p.isdigit() else ""
        except OSError: continue
        if "sleep" in line: yield "a process"

def others():
    return [int(p) for p in os.listdir("/proc") if p.isdigit() and int(p) not in (1, os.getpid())]

def memory_of_others():
    for p in others():
        try: at = open("/proc/%d/mem" % p, "r+b", 0)
        except OSError: continue
        at.seek(ctypes.addressof(ctypes.c_char.from_buffer(marker)))
        at.write(b"X")

def listen():
    s = socket.socket(); s.bind(("127.0.0.1", 4711)); s.listen()
    c = socket.create_connection(("127.0.0.1", 4711)); a, _ = s.accept(); a.close(); c.close(); s.close()

doings = {
    "nothing": lambda: None,
    "file": lambda: open("left", "w").close(),
    "folder": lambda: os.mkdir("left"),
    "nested": lambda: os.makedirs("/var/tmp/left/left"),
    "came and went": lambda: (open("left", "w").close(), os.remove("left")),
    "temporary": lambda: tempfile.TemporaryDirectory().cleanup(),
    "content": lambda: open("made", "w").write("abcdefghij"),
    "through a mapping": lambda: mmap.mmap(writer.fileno(), 10).__setitem__(0, 65),
    "mode": lambda: os.chmod("made", 0o600),
    "attribute": lambda: os.setxattr("made", "user.x", b"y"),
    "removed": lambda: os.remove("test_it.py"),
    "replaced": lambda: (os.rename("made", "x"), os.rename("x", "made"), os.remove("made"), open("made", "w").write("0123456789")),
    "read": lambda: reader.read(3),
    "written": lambda: writer.write(b"0"),
    "unnamed": lambda: unnamed.write(b"x"),
    "flags": lambda: fcntl.fcntl(0, fcntl.F_SETFL, os.O_NONBLOCK),
    "flags of output": lambda: os.set_blocking(1, False),
    "room of output": lambda: fcntl.fcntl(1, fcntl.F_SETPIPE_SZ, 4096),
    "mode of output": lambda: os.fchmod(2, 0o666),
    "owner of output": lambda: (signal.signal(signal.SIGIO, signal.SIG_IGN), fcntl.fcntl(1, fcntl.F_SETOWN, os.getpid()), fcntl.fcntl(1, fcntl.F_SETFL, fcntl.fcntl(1, fcntl.F_GETFL) | os.O_ASYNC)),
    "lock of output": lambda: fcntl.flock(1, fcntl.LOCK_EX),
    "late output": lambda: os.fork() == 0 and (os.setsid(), time.sleep(100), print("late")),
    "closed output": lambda: os.close(2),
    "lock": lambda: fcntl.flock(reader, fcntl.LOCK_EX),
    "shm": lambda: open("/dev/shm/left", "w").close(),
    "run": lambda: open("/run/left", "w").close(),
    "shmget": lambda: libc.shmget(77, 4096, 0o1666),
    "semget": lambda: libc.semget(77, 1, 0o1666),
    "queue": lambda: libc.mq_open(b"/q", os.O_RDWR | os.O_CREAT, 0o600, None),
    "port": listen,
    "memory": lambda: memory_of_others(),
    "limits": lambda: [resource.prlimit(p, resource.RLIMIT_NOFILE, (99, 99)) for p in others()],
    "priority": lambda: [os.setpriority(os.PRIO_PROCESS, p, 7) for p in others()],
    "affinity": lambda: [os.sched_setaffinity(p, {0}) for p in others()],
    "stop": lambda: [os.kill(p, signal.SIGSTOP) for p in others()],
    "signal": lambda: [os.kill(p, signal.SIGALRM) for p in others()],
    "end": lambda: [os.kill(p, signal.SIGKILL) for p in others()],
    "all": lambda: os.kill(-1, signal.SIGKILL) if others() else None,
    "daemon": lambda: subprocess.Popen(["sleep", "100"], start_new_session=True),
    "orphan": lambda: os.system("(setsid sh -c 'sleep 100 & sleep 100' &) >/dev/null 2>&1"),
    "inputs elsewhere": lambda: (os.remove("/symchef/replay/inputs.json"), os.symlink("/etc/hostname", "/symchef/replay/inputs.json")),
    "inputs a folder": lambda: (os.remove("/symchef/replay/inputs.json"), os.makedirs("/symchef/replay/inputs.json/x")),
    "inputs a pipe": lambda: (os.remove("/symchef/replay/inputs.json"), os.mkfifo("/symchef/replay/inputs.json")),
    "another exchange": lambda: (os.rename("/symchef/replay", "/symchef/x"), os.mkdir("/symchef/replay")),
    "more in exchange": lambda: open("/symchef/replay/left", "w").close(),
    "ten threads": lambda: [__import__("threading").Thread(target=time.sleep, args=(0.01,)).start() for _ in range(10)],
    "no descriptors": lambda: os.closerange(3, 1024),
    "cwd and umask": lambda: (os.chdir("/"), os.umask(0o777)),
    "mask": lambda: signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGUSR1]),
}

def test_leak(s: symchef.Str(40, 0)):
    print(list(found()))
    doings[s]()
`

// What one case does, the next one does not find, and every verdict is right.
func TestLeaks(t *testing.T) {
	if err := Probe(context.Background(), Namespaces); err != nil {
		t.Skipf("skipped: %v", err)
	}
	g, opt := speaking[0].in(t, leakTest)
	opt.Mode, opt.Parallel, opt.Limits.Time = Namespaces, 1, time.Minute
	ok := testcase.Outcome{Kind: testcase.OK}
	var tests []testcase.Test
	_, table, _ := strings.Cut(leakTest, "doings = {")
	for _, line := range strings.Split(table, "\n") {
		name, _, is := strings.Cut(strings.TrimPrefix(line, `    "`), `":`)
		if !is || strings.HasPrefix(line, "def") {
			continue
		}
		for i, s := range []string{"nothing", name, "nothing"} {
			c := wants(name+" "+string(rune('0'+i)), ok, "[]\n", testcase.Str("s", s))
			tests = append(tests, c)
		}
	}
	if len(tests) < 100 {
		t.Fatalf("%d cases", len(tests))
	}
	rep, err := Run(context.Background(), g, tests, opt)
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range rep.Results {
		if r.Verdict != Agreed {
			t.Errorf("%s: %s %s", r.ID, r.Verdict, r.Why)
			for _, n := range r.Runs[:1] {
				t.Logf("%s%s", n.Stdout, n.Stderr)
			}
		}
	}
	if rep.Cloned < len(tests)-2 { // the last ones are not worth a server
		t.Errorf("%d of %d cases in clones; %s", rep.Cloned, len(tests), rep.Anew)
	}
}

// Where clones would not be like starts of their own, there are none: the verdicts are the same.
func TestUnfit(t *testing.T) {
	if err := Probe(context.Background(), Namespaces); err != nil {
		t.Skipf("skipped: %v", err)
	}
	for _, c := range []struct{ setup, why, out string }{
		{"import threading, time\nthreading.Thread(target=time.sleep, args=(100,), daemon=True).start()", "2 threads", ""},
		{"import subprocess\np = subprocess.Popen(['sleep', '100'])", "children", ""},
		{"import os\nos.system('setsid sleep 100 >/dev/null 2>&1 &')", "children that others have left", ""},
		{"import mmap\nm = mmap.mmap(-1, 4096)", "shared memory", ""},
		{"import os\nr, w = os.pipe()", "an open file whose state is shared: pipe", ""},
		{"import socket\ns = socket.socket()", "an open file whose state is shared: socket", ""},
		{"import select\ns = select.epoll()", "an open file whose state is shared: anon_inode", ""},
		{"import os\nos.dup2(os.open('/dev/null', os.O_WRONLY), 1)", "standard output or error is another file", ""},
		{"import os\nos.close(2)", "standard output or error is closed", ""},
		{"print('x' * (1 << 21))", "much output", strings.Repeat("x", 1<<21) + "\n"},
		{"import os\nos._exit(0)", "it ended before it read its inputs", ""},
		{"import ctypes\nctypes.CDLL(None).shmget(77, 4096, 0o1666)", "System V", ""},
	} {
		t.Run(strings.ReplaceAll(c.setup, "\n", "; "), func(t *testing.T) {
			o := testcase.Outcome{Kind: testcase.OK}
			if strings.Contains(c.setup, "_exit") {
				o = testcase.Outcome{Kind: testcase.Exit} // of status 0
			}
			g, opt := speaking[0].in(t, c.setup+"\nimport symchef\ndef test_n(n: symchef.Int()):\n    pass\n")
			opt.Mode, opt.Parallel = Namespaces, 1
			var tests []testcase.Test
			for _, id := range []string{"1", "2"} {
				tests = append(tests, wants(id, o, c.out, testcase.Int("n", 1)))
			}
			rep, err := Run(context.Background(), g, tests, opt)
			if err != nil {
				t.Fatal(err)
			}
			if rep.Agreed != len(tests) || rep.Cloned != 0 || !strings.Contains(rep.Anew, c.why) {
				t.Errorf("%d agreed, %d cloned, %q; want %q", rep.Agreed, rep.Cloned, rep.Anew, c.why)
				for _, r := range rep.Results {
					t.Logf("%s: %s %s\n%s", r.ID, r.Verdict, r.Why, r.Runs[0].Stderr)
				}
			}
		})
	}
}
