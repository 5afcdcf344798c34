package report

import (
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"symchef/internal/high"
	"symchef/internal/rundir"
)

// hostile are texts that would be more than text if a page took them for HTML, for the end of its data, or for a script.
var hostile = []string{"</script><script>document.title='broken'</script>", "<img src=x onerror=\"document.title='broken'\">", "<!--<script>", "\u2028\u2029", "\x00\x1b[31m", "javascript:alert(1)", "\"'`${1}", "]]>"}

// sample is a run with a finding for each hostile text, n test cases and a tree of n nodes.
func sample(n int) *Data {
	d := &Data{Test: "test_a.py::test_a " + hostile[0], Dir: "'out dir'", Finished: true, Why: []string{"it waits " + hostile[1]}, Without: []rundir.Without{{Name: "model hash", Why: hostile[1]}},
		Progress: []rundir.Sample{{Instructions: 10, Low: 1, High: 1}, {Instructions: 90, Low: 30, High: 4}}, Findings: []Finding{}, Classes: []Class{}, Tests: []Test{}, Tree: []Node{},
		Files: []File{{Path: "/p/a.py", Name: "a.py", Lines: []string{"def f(x):", "    if x > 3:", "        raise " + hostile[0], "    return x"}, Covered: []int{1, 2, 3}, Marks: []Mark{{3, 0}},
			Ways: []high.Branch{{File: "/p/a.py", Line: 2, Ways: []high.BranchWay{{Way: "true", Low: 2}, {Way: "false", Low: 1}}}}}}}
	for i, text := range hostile {
		d.Findings = append(d.Findings, Finding{Outcome: "exception " + text, Inputs: "x=" + text, Test: fmt.Sprintf("t%06d", i+1), Tests: 1, Paths: 2, Frames: []string{"/p/a.py:3:f", "/gone/b.py:7:" + text}})
		d.Classes = append(d.Classes, Class{"exception " + text, text, "t000001", 1})
	}
	d.Total = n
	for i := range n {
		outcome := "ok"
		if i%10 == 3 {
			outcome = "exception ValueError"
		}
		d.Tests = append(d.Tests, Test{ID: fmt.Sprintf("t%06d", i+1), Inputs: fmt.Sprintf("x=%d", i), Outcome: outcome, Failing: outcome != "ok", Verdict: "agreed", FoundAt: 1})
	}
	for i := range n { // each node has up to four below it
		node := Node{Parent: (i - 1) / 4, Label: fmt.Sprintf("a.py:2 f  if x > %d:", i), File: "/p/a.py", Line: 2}
		if i == 0 {
			node.Parent = -1
		}
		if 4*i+1 >= n {
			node.Ends = []End{{"ok", 1, []string{"t000001"}}}
		}
		d.Tree = append(d.Tree, node)
	}
	return d
}

func written(t *testing.T, d *Data) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "page #1.html")
	f, err := os.Create(file)
	if err != nil {
		t.Fatal(err)
	}
	if err := d.Write(f); err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	return file
}

// TestWrite guards that no text of a run ends the page's data or stands in it as HTML, and that the page loads nothing.
func TestWrite(t *testing.T) {
	b, err := os.ReadFile(written(t, sample(10)))
	if err != nil {
		t.Fatal(err)
	}
	text := string(b)
	if n := strings.Count(text, "</script>"); n != 2 {
		t.Errorf("%d ends of scripts, want 2", n)
	}
	for _, bad := range []string{"<img", "http://127", "https://", "@import", "url("} {
		if strings.Contains(text, bad) {
			t.Errorf("the page has %q", bad)
		}
	}
	if !strings.Contains(text, "default-src 'none'") {
		t.Error("the page has no policy")
	}
}

// TestPlace guards which frames lead to a line of a file.
func TestPlace(t *testing.T) {
	for _, c := range []struct {
		frame, path string
		line        int
	}{
		{"/a/b.py:12:f", "/a/b.py", 12}, {"/a/b:c.py:3:C.f", "/a/b:c.py", 3}, {"/a:2:b:3:f", "/a", 2}, {"libc.so.6(abort+0x12)", "", 0}, {"b.py:1:f", "", 0}, {"/a:x", "", 0}, {"/a:0:f", "", 0}, {"", "", 0},
	} {
		if path, line, ok := place(c.frame); path != c.path || line != c.line || ok != (c.line > 0) {
			t.Errorf("%s is %q, %d, %v; want %q, %d", c.frame, path, line, ok, c.path, c.line)
		}
	}
}

// TestFiles guards that a run directory of somebody else's shows no file that only its reader can see, and nothing that is no plain file.
func TestFiles(t *testing.T) {
	dir := t.TempDir()
	for name, mode := range map[string]os.FileMode{"open.py": 0o644, "secret": 0o600} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte("line 1\r\nline 2"), mode); err != nil {
			t.Fatal(err)
		}
	}
	for path, want := range map[string]int{"open.py": 2, "secret": 0, "gone": 0, "": 0} {
		f := readFile(filepath.Join(dir, path), dir)
		if len(f.Lines) != want || (f.Missing == "") != (want > 0) {
			t.Errorf("%s: %q, missing %q; want %d lines", path, f.Lines, f.Missing, want)
		}
	}
	if f := readFile("/dev/zero", dir); f.Missing == "" {
		t.Error("a device is read")
	}
	t.Chdir(dir)
	if f := readFile(filepath.Join(dir, "secret"), dir); len(f.Lines) != 2 || f.Name != "secret" {
		t.Errorf("a file below the present folder: %+v", f)
	}
}

// TestInBrowser guards what the page does in Chromium: findings lead to their lines, the filter and the tree work by keys, a tree of 100,000 nodes is few elements, hostile text
// stays text, and nothing is said on the console.
func TestInBrowser(t *testing.T) {
	b := openBrowser(t)
	file := (&url.URL{Scheme: "file", Path: written(t, sample(100_000))}).String()
	b.open(file)
	is := func(what, script, want string) {
		t.Helper()
		if got := b.run(script); got != want {
			t.Errorf("%s: %s, want %s", what, got, want)
		}
	}
	is("it is ready", `return document.documentElement.dataset.ready`, "true")
	is("the title is text", `return document.title`, "test_a.py::test_a "+hostile[0]+" - SymChef")
	is("nothing of the data is an element", `return document.querySelectorAll("main img, main script, main a[href^=javascript]").length`, "0")
	is("findings", `return document.querySelectorAll("article").length`, fmt.Sprint(len(hostile)))
	is("the first one's text", `return document.querySelector("article pre").textContent`, "x="+hostile[0])
	is("sections", `return [...document.querySelectorAll("nav a")].every(a => document.querySelector(a.getAttribute("href"))) && document.querySelectorAll("nav a").length`, "8")

	b.run(`document.querySelector("article ol a").click()`)
	is("a frame leads to its line", `return document.querySelector("tr.here td.src").textContent`, "        raise "+hostile[0])
	is("and the line to the finding", `return document.querySelector("tr.here a").getAttribute("href")`, "#finding-0")
	is("ways of a branch", `return document.getElementById("line-2").lastChild.textContent`, "true 2, false 1")
	is("lines that were run", `return document.querySelectorAll(".code tr.hit, .code tr.mark").length`, "3")

	b.run(`document.activeElement.blur()`)
	b.key("/")
	is("/ goes to the filter", `return document.activeElement.id`, "filter")
	for _, k := range "valueerror t00001" {
		b.key(string(k))
	}
	is("filtered", `return document.querySelectorAll("#filter").length && [...document.querySelectorAll("tbody")].map(b => b.rows.length).join()`, fmt.Sprintf("%d,1,4,8", len(hostile)))
	b.key("\ue00c") // Escape
	is("Escape clears it", `return document.getElementById("filter").value`, "")
	b.run(`document.activeElement.blur()`)
	b.key("j")
	b.key("j")
	is("j goes to the next finding", `return document.activeElement.id`, "finding-1")

	b.run(`document.querySelector(".tree").focus()`)
	is("few rows are elements", `return document.querySelectorAll(".tree .row").length < 80`, "true")
	b.run(`[...document.querySelectorAll("button")].find(b => b.textContent == "Unfold all").click()`)
	b.run(`document.querySelector(".tree").focus()`)
	b.key("\ue010") // End
	is("few rows are elements at the end of the tree, too", `return document.querySelectorAll(".tree .row").length < 80`, "true")
	is("it is in sight", `const r = document.querySelector(".tree .row.on").getBoundingClientRect(), t = document.querySelector(".tree").getBoundingClientRect(); return r.top >= t.top && r.bottom <= t.bottom`, "true")
	b.key("\ue011") // Home
	b.key("\ue012") // ArrowLeft: folded
	is("folded", `return document.querySelectorAll(".tree .row").length + " " + document.querySelector(".tree .row").getAttribute("aria-expanded")`, "1 false")
	b.key("\ue014") // ArrowRight
	is("unfolded", `return document.querySelector(".tree .row").getAttribute("aria-expanded")`, "true")
	b.key("\ue007") // Enter
	is("Enter leads to the line", `return document.querySelector("tr.here td.n").textContent`, "2")
	is("a fold of 100,000 nodes takes less than a second", `const t = performance.now(); [...document.querySelectorAll("button")].find(b => b.textContent == "Unfold all").click(); return performance.now() - t < 1000`, "true")
	for _, said := range b.console() {
		t.Error("the console says: ", said)
	}
	// SYMCHEF_AXE is a copy of axe.min.js of the npm package axe-core.
	if axe := os.Getenv("SYMCHEF_AXE"); axe != "" {
		text, err := os.ReadFile(axe)
		if err != nil {
			t.Fatal(err)
		}
		b.open((&url.URL{Scheme: "file", Path: written(t, sample(200))}).String())
		b.run(string(text) + "; return 1")
		var found []struct{ ID, Help string }
		if err := b.ask("POST", "/execute/async", map[string]any{"script": "const done = arguments[0]; axe.run().then(r => done(r.violations.map(v => ({ID: v.id, Help: v.help + ': ' + v.nodes.map(n => n.html).slice(0, 3)}))))", "args": []any{}}, &found); err != nil {
			t.Fatal(err)
		}
		for _, v := range found {
			t.Errorf("axe: %s: %s", v.ID, v.Help)
		}
		t.Logf("axe: %d violations", len(found))
	}
}
