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
)

// shout is a program with three classes of outcome.
const shout = `#include <stdio.h>
#include <stdlib.h>
int main() { int c = getchar(); if (c == 'x') abort(); puts(c == 'y' ? "y" : "other"); return 0; }`

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
	b.run("replay", "--test", "t9", "out").oneLine(2, `out has no test "t9"`)

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
	b.run("replay", "out").oneLine(3, "cannot start "+b.path("p"))
}

// Where the kernel offers no confinement, replay refuses until it is told to go on.
func TestUnconfined(t *testing.T) {
	t.Parallel()
	b := newBox(t)
	b.compile("p", shout)
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	without := func(args ...string) result {
		cmd := b.command(args...)
		cmd.Args = append([]string{withoutConfinement, binary}, cmd.Args[1:]...)
		cmd.Path = self
		return b.finish(cmd)
	}
	const refusal = "replay refused: this kernel offers neither user namespaces nor Landlock"
	r := without("run", "--out", "out", "--stdin", "1", "--", "./p").want(3, "3 test cases", refusal, "--replay-unconfined")
	if strings.Count(r.stderr, "\n") != 1 {
		t.Errorf("%q", r.stderr)
	}
	without("replay", "out").oneLine(3, refusal)
	without("replay", "--replay-unconfined", "out").want(0, "replay (unconfined): 3 agreed")
	without("run", "--replay-unconfined", "--out", "out", "--stdin", "1", "--", "./p").want(1, "replay (unconfined): 3 agreed")
	without("run", "--no-replay", "--out", "out", "--stdin", "1", "--", "./p").want(1, "3 test cases")
	without("doctor").want(0, "refused unless --replay-unconfined", "boot       in the machine: natively it cannot be: ptrace is not allowed")
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
	int n = 0; while (n < 600) { int p = fork(); if (p == 0) { setsid(); pause(); } if (p < 0) break; n++; }
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
	evil := b.compile("hostile", hostile, "-D", fmt.Sprintf("BOX=%q", b.dir), "-D", fmt.Sprintf("MARK=%q", mark),
		"-D", fmt.Sprintf("PORT=%d", port), "-D", fmt.Sprintf("VICTIM=%d", victim.Process.Pid))
	r := b.run("replay", "--test", "t000001", "out").want(4, "diverged")
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
	// What it prints is "bounded\n", 8 bytes: nothing succeeded. The superuser's
	// processes are bounded by killing them.
	if !strings.Contains(r.stdout, "8 others") && !strings.Contains(r.stdout, `natively "crash SIGKILL"`) {
		t.Errorf("%s", r.stdout)
	}
	procs, err := filepath.Glob("/proc/[0-9]*/exe")
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range procs {
		if exe, err := os.Readlink(p); err == nil && exe == evil {
			t.Errorf("%s still runs", p)
		}
	}
}

// In another process each test case takes the path of its decision log again, and the tree shows the paths.
func TestRerun(t *testing.T) {
	b := pythonBox(t)
	b.write("test_r.py", "import symchef\ndef test_r(s: symchef.Str(3)):\n    print(s.find('x'))\n    assert s != 'abc'\n")
	b.run("run", "--out", "out", "--no-replay", "test_r.py").want(1, "exhausted: every input")
	sum, tests := b.load("out")
	b.run("rerun", "out").want(0, fmt.Sprintf("re-executed: %d agreed, 0 strayed", len(tests)))
	b.run("rerun", "--test", tests[0].ID, "out").want(0, "re-executed: 1 agreed")
	b.run("rerun", "--test", "t999999", "out").oneLine(2, "t999999")
	b.run("rerun", "nowhere").oneLine(2, "nowhere")

	tree := b.run("tree", "out").want(0, "assertion AssertionError", "test_r.py:4 test_r").stdout
	for _, x := range tests {
		if !strings.Contains(tree, x.ID) {
			t.Errorf("no %s in the tree\n%s", x.ID, tree)
		}
	}
	var doc high.Doc
	if err := json.Unmarshal([]byte(b.run("tree", "--format", "json", "out").want(0).stdout), &doc); err != nil {
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
