package high

import (
	"strings"
	"testing"

	"symchef/internal/hlpc"

	"symchef/internal/interp"
)

// syntaxOf is that of a language's folder.
func syntaxOf(t *testing.T, language string) Syntax {
	t.Helper()
	d, ok := interp.ByName(language)
	if !ok || len(d.Syntax.Conditions) == 0 {
		t.Fatalf("no syntax of %s", language)
	}
	return Syntax(d.Syntax)
}

// A line that is a whole condition is told from all others by what the language's folder says.
func TestIsCondition(t *testing.T) {
	for language, lines := range map[string]map[string]bool{
		"python": {
			"if x:": true, "elif a and b:": true, "while n > 6:": true, "if x:  # why": true, "if(x):": true, "if x then": false, "if (x) {": false, "else if x:": false,
			"if x: raise": false, "x = 1 if y else 2": false, "assert x": false, "for i in x:": false, "": false, "iffy(x, {": false, "iffy:": false, "else:": false, "if (a and": false,
		},
		"lua": {"if x then": true, "while x do": true, "elseif y then": true, "if x then  -- why": true, "if x:": false, "if x then return end": false, "for i = 1, 2 do": false},
		"r":   {"if (x) {": true, "} else if (x) {": true, "while (x) {": true, "} else {": false, "else if (x)": false, "if (x) stop()": false, "iffy(x, {": false},
	} {
		syntax := syntaxOf(t, language)
		for line, want := range lines {
			if got := syntax.isCondition(line); got != want {
				t.Errorf("%s: %q: %v", language, line, got)
			}
			if none := (Syntax{}); none.isCondition(line) || none.staysIf(line) != "" {
				t.Errorf("%q means something without a syntax", line)
			}
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
	d.ReadSources(syntaxOf(t, "python"), func(file string) []string {
		if reads++; file == "/t.py" {
			return text
		}
		return nil
	})
	var b strings.Builder
	d.WriteText(&b)
	want := `t.py f  if a and b:  (3 steps, 0 low-level)
├─ true: t.py f  x = 1  (1 step, 0 low-level)
├─ false: t.py f  elif c: y()  (1 step, 0 low-level)
│  ├─ to line 6: t.py f  z? = 'é' wwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwww...  (1 step, 0 low-level)
│  └─ to o.py:1 g: t.py f  (1 step, 0 low-level)
└─ on that line: t.py f  if a and b:  (1 step, 0 low-level)
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
│  ├─ value 0x1: (1 decision, 1 path)
│  │  └─ ok  (1 low-level)  t1
│  └─ value 0x2: (1 decision, 1 path)
│     └─ crash SIGSEGV  (1 low-level)  t2
└─ not taken: (1 decision, 1 path)
   └─ ok  (1 low-level)  t3
`
	if b.String() != want {
		t.Errorf("got\n%swant\n%s", b.String(), want)
	}
	if len(DocOf(nil, true).Nodes) != 0 {
		t.Error("nodes without paths")
	}
}

// A condition whose body begins on the next line holds or not on the way that stays on its line, too: at the end of a function there is no other line.
func TestWaysFromACondition(t *testing.T) {
	at := func(line int) Location { return Location{Source: "t f", File: "/t", Line: line} }
	long := "if " + strings.Repeat("x", 90) + ":"
	for _, tt := range []struct {
		language, text string
		other, last    int // the line that the other way goes to, and the last one of that which stays
		parts          bool
		one, two       string
	}{
		{"python", "if a > b:", 2, 1, false, "false: ", "true: "},
		{"python", long, 2, 1, false, "false: ", "true: "},
		{"lua", "if a > b then", 2, 9, true, "false: ", "true: "},
		{"r", "if (a > b) {", 2, 1, false, "false: ", "true: "},
		{"python", "if 1 < a < b:", 2, 1, true, "false so far: ", "true: "},
		{"python", "if a or b:", 2, 1, true, "false so far: ", "true: "},
		{"python", "if a or b:", 2, 1, false, "false: ", "true: "}, // b has decided: the path ends here
		{"python", "if a or b:", 2, 9, false, "false so far: ", "true: "},
		{"python", "if a and b:", 3, 1, true, "true so far: ", "false: "},
		{"r", "if (a && b) {", 3, 1, true, "true so far: ", "false: "},
		{"python", "if a:", 3, 1, false, "on that line: ", "false: "},
		// A statement of several lines tells nothing.
		{"python", "if (a and", 2, 1, false, "on that line: ", "to line 2: "},
		{"python", "if a and \\", 2, 1, false, "on that line: ", "to line 2: "},
		{"lua", "if a and", 2, 1, false, "on that line: ", "to line 2: "},
		{"r", "if (a)", 2, 1, false, "on that line: ", "to line 2: "},
		{"r", "} else if (a)", 2, 1, false, "on that line: ", "to line 2: "},
	} {
		d := &Doc{Nodes: []DocNode{{Parent: -1, Steps: 1, First: at(1), Last: at(1)}, {Steps: 1, First: at(1), Last: at(tt.last)}, {Steps: 1, First: at(tt.other), Last: at(tt.other)}}}
		if tt.parts {
			d.Nodes = append(d.Nodes, DocNode{Parent: 1, Steps: 1, First: at(3)}, DocNode{Parent: 1, Steps: 1, First: at(2)})
		}
		d.ReadSources(syntaxOf(t, tt.language), func(string) []string { return []string{tt.text, "x", "y"} })
		if w := d.ways(); w[1] != tt.one || w[2] != tt.two {
			t.Errorf("%s: %q, %q", tt.text, w[1], w[2])
		}
	}
}

// A node ends at the last step with a line: a compiler adds code that has none, as to leave a handler.
func TestSpanHasALine(t *testing.T) {
	var tree Tree
	digest := [16]byte{1}
	tree.label(hlpc.Digest(digest), hlpc.Label{File: "/t", Name: "f", Lines: []hlpc.LineRange{{End: 2}, {End: 4, Line: 7}, {End: 9}}})
	code := tree.code(digest)
	var at Place
	for i := range 5 {
		at = tree.Advance(at, []uint32{tree.number(Step{code, uint32(i)})})
	}
	tree.End(at, "ok", "t1")
	for _, n := range tree.Doc().Nodes {
		if n.Steps > 0 && (n.First.Line != 7 || n.Last.Line != 7) {
			t.Errorf("%+v", n)
		}
	}
}

// Where a branch and what follows are on one line, the statement tells which way is which, or the code does.
func TestWaysOnALine(t *testing.T) {
	at := func(line, offset int) Location {
		return Location{Source: "t f", File: "/t", Line: line, Offset: uint32(offset)}
	}
	for _, tt := range []struct {
		language   string
		text       string
		a, b       [2]Location // first and last
		one, other string
	}{
		{"python", "assert x", [2]Location{at(2, 30), at(2, 30)}, [2]Location{at(1, 12), at(1, 14)}, "true: ", "false: "},
		{"r", "if (x) stop()", [2]Location{at(1, 12), at(1, 14)}, [2]Location{at(1, 30), at(3, 40)}, "true: ", "false: "},
		{"r", "if (x || y) stop()", [2]Location{at(1, 12), at(1, 14)}, [2]Location{at(1, 30), at(3, 40)}, "goes on: ", "jumps: "},
		{"python", "if x and y: z()", [2]Location{at(1, 12), at(1, 14)}, [2]Location{at(2, 30), at(3, 40)}, "true: ", "false: "},
		{"python", "assert x and y", [2]Location{at(1, 40), at(1, 44)}, [2]Location{at(1, 12), at(1, 14)}, "jumps: ", "goes on: "},
		{"python", "a = [k for k in l if k]", [2]Location{at(1, 2), at(1, 2)}, [2]Location{at(1, 12), at(1, 14)}, "jumps: ", "goes on: "},
		{"python", "a = [k for k in l if k]", [2]Location{at(1, 2), at(1, 2)}, [2]Location{at(1, 3), at(1, 14)}, "on that line: ", "on that line: "},
		{"python", "x = y", [2]Location{at(2, 12), at(2, 12)}, [2]Location{at(1, 14), at(1, 14)}, "to line 2: ", "on that line: "},
	} {
		branch := at(1, 10)
		d := &Doc{Nodes: []DocNode{{Parent: -1, Steps: 1, First: at(1, 0), Last: branch}, {Steps: 1, First: tt.a[0], Last: tt.a[1]}, {Steps: 1, First: tt.b[0], Last: tt.b[1]}}}
		d.ReadSources(syntaxOf(t, tt.language), func(string) []string { return []string{tt.text} })
		if w := d.ways(); w[1] != tt.one || w[2] != tt.other {
			t.Errorf("%s: %q, %q", tt.text, w[1], w[2])
		}
	}
	// The other way has ended.
	branch := at(1, 10)
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
