package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// A run directory of a run that has ended, of which test cases are lost, is no proof of anything: each command says so, and leaves the summary alone.
func TestDamaged(t *testing.T) {
	t.Parallel()
	b := newBox(t)
	b.compile("p", shout)
	b.run("run", "--out", "out", "--stdin", "1", "--", "./p").want(1, "3 test cases", "exhausted: ")
	read := func(name string) string {
		text, err := readFile(b.path(name))
		if err != nil {
			t.Fatal(err)
		}
		return text
	}
	tests, summary := read("out/tests.jsonl"), read("out/summary.json")
	commands := [][]string{{"replay", "out"}, {"replay", "--test", "t000001", "out"}, {"rerun", "out"}, {"emit", "out"}, {"emit", "--format", "corpus", "-o", "corpus", "out"}, {"tree", "out"}, {"smt2", "out", "t000001"}}
	first := strings.Index(tests, "\n") + 1
	for name, text := range map[string]string{"empty": "", "cut": tests[:len(tests)*6/10], "a line less": tests[:first], "gone": ""} {
		b.write("out/tests.jsonl", text)
		if name == "gone" {
			os.Remove(b.path("out/tests.jsonl"))
		}
		for _, args := range commands {
			r := b.run(args...)
			if line := r.stderr; r.status != 2 || r.stdout != "" || strings.Count(line, "\n") != 1 || !strings.Contains(line, "out/tests.jsonl: damaged: ") || !strings.Contains(line, " of 3 test cases are missing") {
				t.Errorf("%s, %v: status %d\n%s%s", name, args, r.status, r.stdout, r.stderr)
			}
		}
		if read("out/summary.json") != summary {
			t.Fatalf("%s: the summary was written", name)
		}
	}
	b.write("out/tests.jsonl", tests)
	b.run("replay", "out").want(0, "exhausted: ")
	os.Remove(b.path("out/replay.jsonl"))
	b.run("emit", "out").oneLine(2, "out/replay.jsonl is not whole; symchef replay out writes it again")
	b.run("replay", "out").want(0, "exhausted: ")
	b.run("emit", "out").want(0)
}

// What is wrong with a file is said in words of the file.
func TestDamagedField(t *testing.T) {
	t.Parallel()
	b := newBox(t)
	for text, want := range map[string]string{
		`{"schema_version":2,"paths":"x"}`:         "out: summary.json: damaged: a string stands for paths\n",
		`{"schema_version":2,"paths":{"low":"x"}}`: "out: summary.json: damaged: a string stands for low\n",
		`[]`: "out: summary.json: damaged: a array stands where none can\n",
	} {
		b.write("out/summary.json", text)
		b.run("replay", "out").oneLine(2, want[:len(want)-1])
	}
}

// A FIFO that nobody reads makes emit wait for nobody; one that is read is written to.
func TestEmitFIFO(t *testing.T) {
	t.Parallel()
	b := newBox(t)
	b.compile("p", shout)
	b.run("run", "--out", "out", "--no-replay", "--stdin", "1", "--", "./p").want(1)
	b.run("emit", "--format", "corpus", "-o", "corpus", "out").want(0)
	files, _ := filepath.Glob(b.path("corpus/*"))
	if len(files) != 3 || os.Remove(files[0]) != nil || syscall.Mkfifo(files[0], 0o644) != nil || syscall.Mkfifo(b.path("fifo"), 0o644) != nil {
		t.Fatal(files)
	}
	b.run("emit", "-o", "fifo", "out").oneLine(2, "fifo: nobody reads from this FIFO")
	whole := b.run("emit", "out").want(0).stdout
	cat := exec.Command("cat", b.path("fifo"))
	text := make(chan string)
	go func() { out, _ := cat.Output(); text <- string(out) }()
	eventually(t, "a reader", func() bool { return b.run("emit", "-o", "fifo", "out").status == 0 })
	if got := <-text; len(got) < len(whole)/2 || got[len(got)-20:] != whole[len(whole)-20:] {
		t.Errorf("through the FIFO: %q, want %q", got, whole)
	}
	b.run("emit", "--format", "corpus", "-o", "corpus", "out").oneLine(2, "nobody reads from this FIFO")
	b.run("emit", "-o", "/dev/stdout", "out").want(0, "p")
}

// A file that is no tree is not drawn as one.
func TestDamagedTree(t *testing.T) {
	b := pythonBox(t)
	b.write("test_d.py", "import symchef\ndef test_d(n: symchef.Int(0, 9)):\n    return n > 3\n")
	b.run("run", "--out", "out", "--no-replay", "test_d.py").want(0)
	b.run("tree", "out").want(0, "test_d.py")
	for _, text := range []string{`{"id":5,"inputs":7,"paths":"x"}`, "{}", `{"nodes":[]}`, `{"nodes":[{"parent":0}]}`, `{"nodes":[{"parent":-1},{"parent":5}]}`, "[", ""} {
		b.write("out/tree.json", text)
		for _, format := range []string{"text", "dot", "svg", "json"} {
			b.run("tree", "--format", format, "out").oneLine(2, "tree.json")
		}
	}
}
