package main

import (
	"os"
	"strings"
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
