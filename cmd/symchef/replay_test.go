package main

import (
	"encoding/json"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"symchef/internal/high"
	"symchef/internal/pace"
	"symchef/internal/replay"
)

// shout is a program with three classes of outcome.
const shout = `#include <stdio.h>
#include <stdlib.h>
int main() { int c = getchar(); if (c == 'x') abort(); puts(c == 'y' ? "y" : "other"); return 0; }`

// A run of which nothing could be replayed is exhausted once all of it has been replayed.
func TestReplayMakesExhausted(t *testing.T) {
	t.Parallel()
	b := newBox(t)
	b.compile("p", `#include <stdio.h>
#include <unistd.h>
int main() { if (getchar() == 'x') puts("x"); sleep(3); return 0; }`)
	b.run("run", "--out", "out", "--time", pace.Stretch(t, 4*time.Second).String(), "--stdin", "1", "--", "./p")
	if sum, _ := b.load("out"); sum.Exhausted || sum.Replay.NotReplayed == 0 && sum.Tests.Total() == 2 {
		t.Skipf("skipped: the time was enough, or not enough to explore: %+v", sum.Replay)
	}
	b.run("replay", "out").want(0, "2 agreed", "exhausted: ")
	if sum, _ := b.load("out"); !sum.Exhausted {
		t.Errorf("%q", sum.WhyNotExhausted)
	}
}

func TestReplay(t *testing.T) {
	t.Parallel()
	b := newBox(t)
	b.compile("p", shout)
	b.run("run", "--out", "out", "--no-replay", "--stdin", "1", "--", "./p").want(1, "3 test cases")
	if sum, _ := b.load("out"); sum.Replay.Agreed != 0 {
		t.Errorf("--no-replay: %+v", sum.Replay)
	}
	b.run("replay", "out").want(0, "t000001 agreed: ok", "replay (", "3 agreed, 0 diverged, 0 unstable, 0 not compared")
	if sum, _ := b.load("out"); sum.Replay.Agreed != 3 {
		t.Errorf("%+v", sum.Replay)
	}
	one := b.run("replay", "--test", "t000002", "out").want(0, "t000002 agreed", "1 agreed")
	if strings.Contains(one.stdout, "t000001") {
		t.Errorf("--test: %s", one.stdout)
	}
	b.run("replay", "--test", "t9", "out").oneLine(2, `out: no test "t9"`)

	got := fields(t, b.run("replay", "--json", "out").want(0).stdout)
	if got["agreed"] != 3.0 || len(got["results"].([]any)) != 3 {
		t.Errorf("%v", got)
	}

	// What a tampered line claims is not what happens.
	name := b.path("out/tests.jsonl")
	text, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	tampered := strings.Replace(string(text), `"signal":"SIGABRT"`, `"signal":"SIGSEGV"`, 1)
	if tampered == string(text) {
		t.Fatalf("no SIGABRT in %s", text)
	}
	b.write("out/tests.jsonl", tampered)
	b.run("replay", "out").want(4, `diverged: outcome "crash SIGSEGV", then natively "crash SIGABRT"`, "2 agreed, 1 diverged")
	if got := fields(t, b.run("replay", "--json", "out").want(4).stdout); got["diverged"] != 1.0 {
		t.Errorf("%v", got)
	}
	b.write("out/tests.jsonl", "{}\n"+tampered)
	b.run("replay", "out").oneLine(2, "tests.jsonl:1: ")
	b.write("out/tests.jsonl", string(text))
	if err := os.Remove(b.path("p")); err != nil {
		t.Fatal(err)
	}
	b.run("replay", "out").oneLine(2, "what it ran is gone: stat "+b.path("p"))
}

// Where the kernel offers no confinement, replay refuses until it is told to go on.
func TestUnconfined(t *testing.T) {
	t.Parallel()
	b := newBox(t)
	b.compile("p", shout)
	without := func(args ...string) result { return b.on("nothing", args...) }
	const refusal = "replay refused: this kernel offers neither user namespaces nor Landlock"
	r := without("run", "--out", "out", "--stdin", "1", "--", "./p").want(3, "3 test cases", refusal, "--replay unconfined")
	if strings.Count(r.stderr, "\n") != 1 {
		t.Errorf("%q", r.stderr)
	}
	without("replay", "out").oneLine(3, refusal)
	without("replay", "--replay", "landlock", "out").oneLine(3, "it cannot be confined as --replay landlock asks for")
	without("replay", "--replay", "unconfined", "out").want(0, "replay (unconfined): 3 agreed")
	without("replay", "--replay-unconfined", "out").want(0, "replay (unconfined): 3 agreed")
	without("run", "--replay-unconfined", "--out", "out", "--stdin", "1", "--", "./p").want(1, "replay (unconfined): 3 agreed")
	without("run", "--no-replay", "--out", "out", "--stdin", "1", "--", "./p").want(1, "3 test cases")
	without("doctor").want(0, "refused unless --replay unconfined", "boot       in the machine: natively it cannot be: ptrace is not allowed")
}

// --replay says how, and is the same as the flags without a value.
func TestReplayHow(t *testing.T) {
	t.Parallel()
	b := newBox(t)
	b.compile("p", shout)
	run := func(args ...string) result {
		return b.run(append(append([]string{"run", "--out", "out", "--stdin", "1"}, args...), "--", "./p")...)
	}
	for _, mode := range []string{"namespaces", "landlock"} {
		if replay.Probe(t.Context(), replay.Mode(mode)) != nil {
			t.Logf("skipped: no %s", mode)
			continue
		}
		run("--replay", mode).want(1, "replay ("+mode+"): 3 agreed")
		b.run("replay", "--replay", mode, "out").want(0, "replay ("+mode+"): 3 agreed")
	}
	for _, none := range []string{"--replay=none", "--no-replay"} {
		if r := run(none).want(1, "3 test cases"); strings.Contains(r.stdout, "replay (") {
			t.Errorf("%s: %s", none, r.stdout)
		}
	}
	run("--replay", "unconfined").want(1, ": 3 agreed") // confined nevertheless where that can be
	run("--replay", "maybe").oneLine(2, "want one of auto, namespaces, landlock, unconfined, none")
	b.run("replay", "--replay", "none", "out").oneLine(2, "--replay none")
}

// hostile does under replay what the program that was explored did not.
const hostile = `#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <signal.h>
#include <unistd.h>
#include <sys/socket.h>
#include <netinet/in.h>
#include <sys/types.h>
static int put(const char *dir, const char *name) {
	char p[4096]; snprintf(p, sizeof p, "%s/%s", dir, name);
	FILE *f = fopen(p, "w"); if (f) { fputs("owned", f); fclose(f); } return f != 0;
}
int main() {
	char *home = getenv("HOME"), *tmp = getenv("TMPDIR");
	put(home ? home : "/", "owned"); put(tmp ? tmp : "/tmp", "owned-" MARK); put(".", "owned"); put(BOX, "owned"); put("/tmp", "owned-" MARK);
	remove(BOX "/victim");
	struct sockaddr_in a = {.sin_family = AF_INET, .sin_port = htons(PORT), .sin_addr = {htonl(INADDR_LOOPBACK)}};
	int s = socket(AF_INET, SOCK_STREAM, 0);
	if (s >= 0 && connect(s, (void *)&a, sizeof a) == 0) printf("connected ");
	if (kill(VICTIM, SIGTERM) == 0) printf("killed ");
	char *big = malloc(6UL << 30); printf(big ? "allocated " : "");
	int n = 0; while (n < FORKS) { int p = fork(); if (p == 0) { setsid(); pause(); } if (p < 0) break; n++; }
	if (n == 600) pause(); /* until somebody counts */
	puts("bounded");
	return 0;
}`

func TestHostile(t *testing.T) {
	t.Parallel()
	b := newBox(t)
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Skip("skipped: ", err)
	}
	defer listener.Close()
	connected := make(chan bool, 1)
	go func() {
		if _, err := listener.Accept(); err == nil {
			connected <- true
		}
	}()
	victim := b.command("exec", "/bin/sleep", "1000") // any process of the same user
	if err := victim.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() { victim.Process.Kill(); victim.Wait() }()
	b.write("victim", "alive")
	b.compile("hostile", "#include <stdio.h>\nint main() { if (getchar() == 'x') puts(\"x\"); return 0; }")
	b.run("run", "--out", "out", "--no-replay", "--stdin", "1", "--", "./hostile").want(0)
	mark := filepath.Base(filepath.Dir(b.dir))
	port := listener.Addr().(*net.TCPAddr).Port
	attack := func(forks int) result {
		b.compile("hostile", hostile, "-D", fmt.Sprintf("BOX=%q", b.dir), "-D", fmt.Sprintf("MARK=%q", mark),
			"-D", fmt.Sprintf("PORT=%d", port), "-D", fmt.Sprintf("VICTIM=%d", victim.Process.Pid), "-D", fmt.Sprintf("FORKS=%d", forks))
		return b.run("replay", "--changed", "--test", "t000001", "out")
	}
	// What it prints is "bounded\n", 8 bytes: nothing succeeded.
	attack(0).want(4, "diverged", "8 others")
	attack(600).want(0, "skipped: it takes more than replay allows: 256 processes and threads")
	for _, p := range []string{b.path("owned"), "/owned", "/tmp/owned-" + mark} {
		if _, err := os.Stat(p); err == nil {
			os.Remove(p)
			t.Errorf("%s was written", p)
		}
	}
	if text, err := readFile(b.path("victim")); err != nil || text != "alive" {
		t.Errorf("the file in the working directory: %q, %v", text, err)
	}
	select {
	case <-connected:
		t.Error("it reached the network")
	case <-time.After(50 * time.Millisecond):
	}
	procs, err := filepath.Glob("/proc/[0-9]*/exe")
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range procs {
		if exe, err := os.Readlink(p); err == nil && exe == b.path("hostile") {
			t.Errorf("%s still runs", p)
		}
	}
}

// In another process each test case takes the path of its decision log again, and the tree shows the paths.
func TestRerun(t *testing.T) {
	b := pythonBox(t)
	b.write("test_r.py", "import symchef\ndef test_r(s: symchef.Str(3)):\n    print(s.find('x'))\n    assert s != 'abc'\n")
	b.run("run", "--out", "out", "--no-replay", "test_r.py").want(1, "exhausted, in the machine: every input")
	sum, tests := b.load("out")
	b.run("rerun", "out").want(0, fmt.Sprintf("re-executed: %d agreed, 0 strayed", len(tests)))
	b.run("rerun", "--test", tests[0].ID, "out").want(0, "re-executed: 1 agreed")
	b.run("rerun", "--test", "t999999", "out").oneLine(2, "t999999")
	b.run("rerun", "nowhere").oneLine(2, "nowhere")

	// The length of what is returned is known before its text is: the request that tells both waits for neither.
	b.write("test_z.py", "import symchef\ndef test_z(s: symchef.Bytes(1)): return {1: repr(s)}\n")
	b.run("run", "--out", "z", "--no-replay", "--all-paths", "test_z.py").want(0, "exhausted, in the machine: every input")
	b.run("rerun", "z").want(0, " agreed, 0 strayed")

	b.run("tree", "out").want(0, "assertion AssertionError", "test_r.py:4 test_r")
	tree := b.run("tree", "--format", "json", "out").want(0).stdout
	for _, x := range tests {
		if !strings.Contains(tree, x.ID) {
			t.Errorf("no %s in the tree\n%s", x.ID, tree)
		}
	}
	var doc high.Doc
	if err := json.Unmarshal([]byte(tree), &doc); err != nil {
		t.Fatal(err)
	}
	ends := 0
	for _, n := range doc.Nodes {
		for _, e := range n.Ends {
			ends += e.Low
		}
	}
	if ends != sum.Paths.Low || doc.Nodes[0].Low != ends {
		t.Errorf("the tree has %d low-level paths, %d at its root, the run %d", ends, doc.Nodes[0].Low, sum.Paths.Low)
	}
	b.run("tree", "--format", "dot", "out").want(0, "digraph")
	b.run("tree", "--format", "svg", "out").want(0, "<svg ", "</svg>")
	b.run("tree", "--format", "png", "out").oneLine(2, "want text, dot, svg or json")
}

// surrounding asks for what only a machine of one's own, or only the host, would grant.
const surrounding = `#define _GNU_SOURCE
#include <arpa/inet.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/shm.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>
static void say(const char *what, long r) { printf("%s %ld %d\n", what, r, r < 0 ? errno : 0); }
int main() {
	char name[100];
	struct timespec t = {1, 0};
	struct timeval v = {1, 0};
	struct sockaddr_in a = {.sin_family = AF_INET, .sin_addr = {htonl(INADDR_LOOPBACK)}}, b;
	socklen_t n = sizeof a;
	int s, f = open("made", O_RDWR | O_CREAT, 0600);
	ftruncate(f, 4096);
	switch (getchar()) {
	case 'm': say("malloc", malloc(1UL << 40) != 0); say("calloc", calloc(1UL << 20, 1UL << 20) != 0); say("less", malloc(1UL << 30) != 0);
		say("reserved", mmap(0, 1UL << 40, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) != MAP_FAILED); break;
	case 's': { char *p = mmap(0, 8192, PROT_READ | PROT_WRITE, MAP_SHARED, f, 0); p[4096] = 1; break; }
	case 'p': { char *p = mmap(0, 8192, PROT_READ, MAP_PRIVATE, f, 0); return p[4096]; }
	case 'b': raise(SIGBUS);
	case 'c': say("clock", clock_settime(CLOCK_REALTIME, &t)); say("time", settimeofday(&v, 0)); break;
	case 'h': gethostname(name, sizeof name); puts(name); say("name", sethostname("x", 1)); break;
	case 'k': say("key", syscall(SYS_keyctl, 0, -3, 1)); break;
	case 'n': say("namespace", unshare(0x10000000)); break;
	case 'x': say("x32", syscall(0x40000027)); break;
	case 'l': s = socket(AF_INET, SOCK_STREAM, 0); say("bind", bind(s, (void *)&a, sizeof a)); say("listen", listen(s, 1));
		getsockname(s, (void *)&b, &n); say("connect", connect(socket(AF_INET, SOCK_STREAM, 0), (void *)&b, n)); break;
	case 'v': {
		int id = shmget(1234, 5000, IPC_CREAT | 0600), other = shmget(IPC_PRIVATE, 4096, 0600);
		say("ids", id); say("other", other); say("again", shmget(1234, 5000, IPC_CREAT | IPC_EXCL)); say("larger", shmget(1234, 6000, 0)); say("none", shmget(77, 1, 0));
		char *p = shmat(id, 0, 0), *q = shmat(id, 0, SHM_RDONLY);
		struct shmid_ds d;
		if (fork() == 0) { strcpy(p, "from the child"); _exit(0); }
		wait(0);
		puts(q);
		shmctl(id, IPC_STAT, &d);
		printf("%lu %lu %o %d %d %d\n", (long)d.shm_segsz, (long)d.shm_nattch, d.shm_perm.mode, d.shm_perm.uid == getuid(), d.shm_cpid == getpid(), d.shm_atime != 0);
		say("remove", shmctl(id, IPC_RMID, 0)); shmctl(id, IPC_STAT, &d); printf("%o\n", d.shm_perm.mode);
		say("key", shmget(1234, 1, 0)); say("detach", shmdt(p)); say("detach", shmdt(p)); puts(q); say("detach", shmdt(q)); say("gone", shmctl(id, IPC_STAT, &d));
		say("attach", (long)shmat(id, 0, 0)); say("next", shmget(IPC_PRIVATE, 1, 0600)); break;
	}
	case '/': { DIR *d = opendir("/"); struct dirent *e; while ((e = readdir(d))) if (strstr(e->d_name, "symchef")) puts(e->d_name); break; }
	}
	return 0;
}`

// What the sandbox grants and refuses is what the machine does.
func TestReplaySurroundings(t *testing.T) {
	t.Parallel()
	b := newBox(t)
	b.compile("p", surrounding, "-w")
	unstable := 2 // the host's name, and whether its kernel has x32
	if os.Getuid() == 0 {
		unstable = 5 // the clock, keys and namespaces: what neither grants, and a host may
	}
	r := b.run("run", "--all-paths", "--out", "out", "--stdin", "1", "--", "./p").want(1, fmt.Sprintf(" 0 diverged, %d unstable, 0 not compared", unstable), "it depends on the host (name,")
	if strings.Count(r.stdout, "SIGBUS") < 2 {
		t.Errorf("%s", r.stdout)
	}
}
