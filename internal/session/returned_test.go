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
		want, frames := "('"+s+"', None)", []string(nil)
		if s == "no" {
			want, frames = "", []string{file + ":6:test"}
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
		long := strings.TrimSuffix(strings.Repeat("..., ", 200), ", ")
		want := fmt.Sprintf("({{1.5, %sx'}, b'y', %s, 'abc'}, {%d}, {%s: {%s}}, {%s})", strings.TrimSuffix(q, "'"), q, n, q, q, long)
		if got := x.Returned.String(); got != want {
			t.Errorf("returned %s\nwant %s", got, want)
		}
	}
	if r := e.summary.Replay; len(e.tests) != 2 || r.Agreed != 2 || len(classes) != 1 {
		t.Errorf("%d test cases of %d classes, %+v\n%s%s", len(e.tests), len(classes), r, e.stdout, e.stderr)
	}
}
