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

// Where a branch and what follows are on one line, the statement tells which way is which, or the code does.
func TestWaysOnALine(t *testing.T) {
	at := func(line, offset int) Location {
		return Location{Source: "t f", File: "/t", Line: line, Offset: uint32(offset)}
	}
	for _, tt := range []struct {
		text       string
		a, b       [2]Location // first and last
		one, other string
	}{
		{"assert x", [2]Location{at(2, 30), at(2, 30)}, [2]Location{at(1, 12), at(1, 14)}, "true: ", "false: "},
		{"if (x) stop()", [2]Location{at(1, 12), at(1, 14)}, [2]Location{at(1, 30), at(3, 40)}, "true: ", "false: "},
		{"if (x || y) stop()", [2]Location{at(1, 12), at(1, 14)}, [2]Location{at(1, 30), at(3, 40)}, "goes on: ", "jumps: "},
		{"if x and y: z()", [2]Location{at(1, 12), at(1, 14)}, [2]Location{at(2, 30), at(3, 40)}, "true: ", "false: "},
		{"assert x and y", [2]Location{at(1, 40), at(1, 44)}, [2]Location{at(1, 12), at(1, 14)}, "jumps: ", "goes on: "},
		{"a = [k for k in l if k]", [2]Location{at(1, 2), at(1, 2)}, [2]Location{at(1, 12), at(1, 14)}, "jumps: ", "goes on: "},
		{"a = [k for k in l if k]", [2]Location{at(1, 2), at(1, 2)}, [2]Location{at(1, 3), at(1, 14)}, "on that line: ", "on that line: "},
		{"x = y", [2]Location{at(2, 12), at(2, 12)}, [2]Location{at(1, 14), at(1, 14)}, "to line 2: ", "on that line: "},
	} {
		branch := at(1, 10)
		branch.Text = tt.text
		d := &Doc{Nodes: []DocNode{{Parent: -1, Steps: 1, First: at(1, 0), Last: branch}, {Steps: 1, First: tt.a[0], Last: tt.a[1]}, {Steps: 1, First: tt.b[0], Last: tt.b[1]}}}
		if w := d.ways(); w[1] != tt.one || w[2] != tt.other {
			t.Errorf("%s: %q, %q", tt.text, w[1], w[2])
		}
	}
	// The other way has ended.
	branch := at(1, 10)
	branch.Text = "x = y or z"
	d := &Doc{Nodes: []DocNode{{Parent: -1, Steps: 1, First: at(1, 0), Last: branch}, {Steps: 1, First: at(1, 12), Last: at(1, 14)}}}
	if w := d.ways(); w[1] != "goes on: " {
		t.Errorf("%q where the other way has ended", w[1])
	}
}

// An end stands at the step where it is, also where others go on from there without a branch.
func TestEndsWithin(t *testing.T) {
	var tree Tree
	code := tree.code([16]byte{1})
	walk := func(at Place, n int) Place {
		for range n {
			step, _ := tree.Step(at)
			at = tree.Advance(at, []uint32{tree.number(Step{code, step.Offset + 1})})
		}
		return at
	}
	end := walk(walk(Place{}, 3), 4)
	tree.End(walk(Place{}, 3), "raises", "t1")
	tree.End(walk(Place{}, 5), "raises", "t2")
	tree.End(end, "ok", "t3")
	tree.End(Place{}, "never begins", "")
	var b strings.Builder
	d := tree.Doc()
	d.WriteText(&b)
	const name = "01000000"
	want := strings.ReplaceAll(`start
├─ never begins  (1 low-level)
└─ DIGEST+3  (3 steps, 3 low-level)
   ├─ raises  (1 low-level)  t1
   └─ DIGEST+5  (2 steps, 2 low-level)
      ├─ raises  (1 low-level)  t2
      └─ DIGEST+7  (2 steps, 1 low-level)
         └─ ok  (1 low-level)  t3
`, "DIGEST", name)
	if b.String() != want || d.Complete() != 4 {
		t.Errorf("%d complete, got\n%swant\n%s", d.Complete(), b.String(), want)
	}
}

// The line of an end does not grow with its test cases.
func TestManyTests(t *testing.T) {
	e := DocEnd{Outcome: "ok", Low: 4, Tests: []string{"t2", "t3", "t5", "t7"}, Complete: true}
	if s := e.String(); s != "ok  (4 low-level)  t2, 3 more" {
		t.Error(s)
	}
}
