package high

import (
	"strings"
	"testing"
)

func TestIsCondition(t *testing.T) {
	for line, want := range map[string]bool{
		"if x:": true, "elif a and b:": true, "while n > 6:": true, "if x then": true, "while x do": true, "if (x) {": true, "} else if (x) {": true, "elseif y then": true, "if x:  # why": true,
		"if x: raise": false, "x = 1 if y else 2": false, "assert x": false, "for i in x:": false, "": false, "iffy(x, {": false, "else:": false, "if (a and": false, "} else {": false,
	} {
		if got := isCondition(line); got != want {
			t.Errorf("%q: %v", line, got)
		}
	}
}

// The way from a branch is told by where it leads.
func TestWay(t *testing.T) {
	text := strings.Split("if a and b:\n\n  # why\n    x = 1\nelif c: y()\nz\x1b\t= 'é' "+strings.Repeat("w", 99), "\n")
	at := func(line int) Location { return Location{Source: "t.py f", File: "/t.py", Line: line} }
	d := &Doc{Nodes: []DocNode{
		{Parent: -1, Steps: 3, First: at(1), Last: at(1)},
		{Parent: 0, Steps: 1, First: at(4), Last: at(4)}, {Parent: 0, Steps: 1, First: at(5), Last: at(5)}, {Parent: 0, Steps: 1, First: at(1), Last: at(1)},
		{Parent: 2, Steps: 1, First: at(6), Last: at(6)}, {Parent: 2, Steps: 1, First: Location{Source: "o.py:1 g", File: "/o.py", Line: 1}, Last: at(9)},
	}}
	reads := 0
	d.ReadSources(func(file string) []string {
		if reads++; file == "/t.py" {
			return text
		}
		return nil
	})
	var b strings.Builder
	d.WriteText(&b)
	want := `t.py f  if a and b:  (3 steps, 0 low-level)
├─ true: t.py f  x = 1  (1 steps, 0 low-level)
├─ false: t.py f  elif c: y()  (1 steps, 0 low-level)
│  ├─ to line 6: t.py f  z? = 'é' wwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwww...  (1 steps, 0 low-level)
│  └─ to o.py:1 g: t.py f  (1 steps, 0 low-level)
└─ on that line: t.py f  if a and b:  (1 steps, 0 low-level)
`
	if b.String() != want {
		t.Errorf("got\n%swant\n%s", b.String(), want)
	}
	if reads != 2 {
		t.Errorf("%d reads of two files", reads)
	}
}

// Paths told by decisions fold where they do not part.
func TestDocOf(t *testing.T) {
	step := func(at, way string) Decision { return Decision{Location{Source: at}, way} }
	d := DocOf([]Decided{
		{[]Decision{step("a", "taken"), step("b", "taken"), step("c", "value 0x1")}, "ok", "t1"},
		{[]Decision{step("a", "taken"), step("b", "taken"), step("c", "value 0x2")}, "crash SIGSEGV", "t2"},
		{[]Decision{step("a", "not taken")}, "ok", "t3"},
		{nil, "ok", "t4"},
	}, true)
	var b strings.Builder
	d.WriteText(&b)
	want := `start: a  (0 decisions, 4 paths)
├─ ok  (1 low-level)  t4
├─ taken: c  (2 decisions, 2 paths)
│  ├─ value 0x1: (1 decisions, 1 paths)
│  │  └─ ok  (1 low-level)  t1
│  └─ value 0x2: (1 decisions, 1 paths)
│     └─ crash SIGSEGV  (1 low-level)  t2
└─ not taken: (1 decisions, 1 paths)
   └─ ok  (1 low-level)  t3
`
	if b.String() != want {
		t.Errorf("got\n%swant\n%s", b.String(), want)
	}
	if len(DocOf(nil, true).Nodes) != 0 {
		t.Error("nodes without paths")
	}
}
