package session

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"symchef/internal/testcase"
)

const tellReturned = `
local symchef = require("symchef")
function test_it()
  local s = symchef.string("s", 2, 2)
  if s == "no" then
    error("no")
  end
  return s, nil
end
`

// What a library tells of the returned value is evaluated under the path's model.
func TestReturned(t *testing.T) {
	file := filepath.Join(t.TempDir(), "returned.lua")
	if err := os.WriteFile(file, []byte(tellReturned), 0o644); err != nil {
		t.Fatal(err)
	}
	e := runIt(t, Options{Test: file + "::test_it", Interpreter: luas(t)[0]})
	var returned []string
	for _, x := range e.tests {
		s, err := x.Inputs[0].Str()
		if err != nil {
			t.Fatal(err)
		}
		want, words, frames := "('"+s+"', None)", fmt.Sprintf("%q, nil", s), []string(nil)
		if s == "no" {
			want, words, frames = "", "", []string{file + ":6:test_it"}
		}
		if x.Words != words { // as tests.jsonl has it
			t.Errorf("%s: told as %s, want %s", x.ID, x.Words, words)
		}
		if x.Returned.String() != want {
			t.Errorf("%s: returned %v, want %s", x.ID, x.Returned, want)
		}
		if !slices.Equal(x.Frames, frames) {
			t.Errorf("%s: frames %q, want %q", x.ID, x.Frames, frames)
		}
		returned = append(returned, x.Returned.String())
	}
	if len(returned) != 2 || !slices.Contains(returned, "") {
		t.Errorf("returned %q\n%s%s", returned, e.stdout, e.stderr)
	}
	if r := e.summary.Replay; r.Agreed != len(e.tests) {
		t.Errorf("%+v", r)
	}
}

// Sets with symbolic elements are told whole, in one order in the machine and natively, and the order makes no class.
func TestReturnedSets(t *testing.T) {
	file := filepath.Join(t.TempDir(), "sets.py")
	if err := os.WriteFile(file, []byte(`import symchef
def test_it(s: symchef.Str(2), n: symchef.Int(-9, 9)):
    low = n < 0
    items = [s, "abc", frozenset([s + "x", 1.5]), b"y"]
    if low:
        items.reverse()
    return set(items), frozenset([n]), {s: {s}}, {"long" + str(i) + "-" * i for i in range(200)}
`), 0o644); err != nil {
		t.Fatal(err)
	}
	e := runIt(t, Options{Test: file})
	classes := map[string]bool{}
	for _, x := range e.tests {
		classes[x.Class] = true
		s, err := x.Inputs[0].Str()
		n, err2 := x.Inputs[1].Int()
		if err != nil || err2 != nil {
			t.Fatal(err, err2)
		}
		q := testcase.Value(fmt.Sprintf("s2:%s", s)).String()
		want := fmt.Sprintf("({b'y', frozenset({1.5, %sx'}), %s, 'abc'}, frozenset({%d}), {%s: {%s}}, {'long94-", strings.TrimSuffix(q, "'"), q, n, q, q)
		if got := x.Returned.String(); !strings.HasPrefix(got, want) || !strings.HasSuffix(got, "}...(200 in all, '7e52fbf118b1d5af181e94e717bfb75b'))") {
			t.Errorf("returned %s\nwant %s", got, want)
		}
	}
	if r := e.summary.Replay; len(e.tests) != 2 || r.Agreed != 2 || len(classes) != 1 {
		t.Errorf("%d test cases of %d classes, %+v\n%s%s", len(e.tests), len(classes), r, e.stdout, e.stderr)
	}
}

// A choice that its value does not tell is told by its place among the options, and truths are in the language's words.
func TestChoicesOfObjects(t *testing.T) {
	needPython(t)
	file := writeTest(t, "test_o.py", `import symchef
class Opt:
    def __init__(self, n): self.n = n
    def __repr__(self): raise SystemExit("nobody asks")
def test_o(o: symchef.Choice(Opt(1), Opt(2), [Opt(3)], len, (1, "x")), deep: symchef.Bool() = True):
    if deep is True: raise ValueError(o.n if isinstance(o, Opt) else len(o))
`)
	e := runIt(t, Options{Test: file, AllPaths: true})
	var labels []string
	for _, x := range e.tests {
		labels = append(labels, x.Inputs[0].Label)
	}
	slices.Sort(labels)
	want := []string{"(1, 'x')", "<test_o.Opt> (option 1 of 5)", "<test_o.Opt> (option 2 of 5)", "[<test_o.Opt>] (option 3 of 5)", "builtin_function_or_method(<len>)"}
	if got := slices.Compact(labels); !slices.Equal(got, want) || !strings.Contains(e.stdout, "o=<test_o.Opt> (option 2 of 5) deep=True") {
		t.Errorf("%q\n%s%s", got, e.stdout, e.stderr)
	}
}
