package testcase

import (
	"encoding/json"
	"math"
	"reflect"
	"strings"
	"testing"
)

func sample() Test {
	part := 1
	log := []Decision{{"branch", 0x401000, 1, "a.py:3 f", ""}, {"value", 0x7fff_0000_1234, math.MaxUint64, "", "libc.so.6:f+0x1"}}
	return Test{
		ID: "t000001", PathID: PathID(log), Group: "g1", Decisions: log,
		Inputs: []Input{
			Str("email", "a<\n\"é"), Bytes("raw", []byte{0, 255}), Int("n", math.MinInt64),
			Bool("flag", true), Choice("c", 2), Stdin([]byte("x\x00")), Argv(1, []byte("-v")),
			Shape("l", []Input{Choice("len(l)", 1), Int("l[0]", 7)}, []Piece{{Name: &Name{Path: "P", Module: "m"}}, {Text: "("}, {Part: &part}, {Text: ")"}}),
		},
		Observation: Observation{Outcome: Outcome{Kind: Exception, Type: "ValueError", Message: "no"}, Returned: "l1:b1:\xff",
			Frames: []string{"/t.py:1:f"}, OutputSHA256: OutputDigest(nil)},
		FoundAt: 0.5,
	}
}

// encode and decode are the JSON of a test case and back, checked as whoever writes and reads one does.
func encode(x Test) ([]byte, error) {
	if err := x.Check(); err != nil {
		return nil, err
	}
	return marshal(x)
}

func decode(b []byte) (Test, error) {
	var x Test
	if err := json.Unmarshal(b, &x); err != nil {
		return x, err
	}
	return x, x.Check()
}

func TestRoundTrip(t *testing.T) {
	want := sample()
	line, err := encode(want)
	if err != nil {
		t.Fatal(err)
	}
	if n := strings.Count(string(line), "\n"); n != 0 {
		t.Errorf("line has %d newlines: %q", n, line)
	}
	got, err := decode(line)
	if err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got  %+v\nwant %+v", got, want)
	}
	if v, err := got.Inputs[2].Int(); err != nil || v != math.MinInt64 {
		t.Errorf("int input = %d, %v", v, err)
	}
	if s, err := got.Inputs[0].Str(); err != nil || s != "a<\n\"é" {
		t.Errorf("str input = %q, %v", s, err)
	}
}

func TestCheckRefuses(t *testing.T) {
	for name, breakIt := range map[string]func(*Test){
		"id with a slash":     func(u *Test) { u.ID = "../x" },
		"empty id":            func(u *Test) { u.ID = "" },
		"unknown kind":        func(u *Test) { u.Outcome.Kind = "fine" },
		"bad hex":             func(u *Test) { u.Inputs[1].BytesHex = "0" },
		"int out of range":    func(u *Test) { u.Inputs[2].Value = []byte("9223372036854775808") },
		"str without a value": func(u *Test) { u.Inputs[0].Value = nil },
		"value of bytes":      func(u *Test) { u.Inputs[1].Value = []byte("1") },
		"shape of no part":    func(u *Test) { u.Inputs[7].Code[2].Part = new(int) },
		"shape in a shape":    func(u *Test) { u.Inputs[7].Parts[1] = Shape("y", nil, nil) },
		"value of a shape":    func(u *Test) { u.Inputs[7].Value = []byte("1") },
		"unknown input type":  func(u *Test) { u.Inputs[0].Type = "float" },
	} {
		u := sample()
		breakIt(&u)
		if _, err := encode(u); err == nil {
			t.Errorf("%s: accepted", name)
		}
	}
}

func TestPathIDSeparates(t *testing.T) {
	logs := [][]Decision{
		nil, {{Kind: "a", PC: 0, Value: 0}}, {{Kind: "a", PC: 0, Value: 1}}, {{Kind: "a", PC: 1, Value: 0}}, {{Kind: "b", PC: 0, Value: 0}}, {{Kind: "a", PC: 0, Value: 0}, {Kind: "a", PC: 0, Value: 0}},
	}
	seen := map[string]int{}
	for i, l := range logs {
		id := PathID(l)
		if j, ok := seen[id]; ok {
			t.Errorf("logs %d and %d have one digest", i, j)
		}
		seen[id] = i
	}
}

func TestFailing(t *testing.T) {
	want := map[Kind]bool{Assertion: true, Crash: true, Hang: true, Exception: true}
	for _, k := range Kinds {
		if got := (Outcome{Kind: k}).Failing(); got != want[k] {
			t.Errorf("%s: Failing() = %v", k, got)
		}
	}
}

func TestSame(t *testing.T) {
	for _, c := range []struct {
		a, b Outcome
		want bool
	}{
		{Outcome{Kind: OK}, Outcome{Kind: OK}, true},
		{Outcome{Kind: OK}, Outcome{Kind: Expected}, false},
		{Outcome{Kind: Exception, Type: "A", Message: "m"}, Outcome{Kind: Exception, Type: "A", Message: "m"}, true},
		{Outcome{Kind: Exception, Type: "A", Message: "m"}, Outcome{Kind: Exception, Type: "A", Message: "n"}, false},
		{Outcome{Kind: Exception, Type: "A"}, Outcome{Kind: Exception, Type: "B"}, false},
		{
			Outcome{Kind: Exception, Type: "A", Message: "<X at 0x7f00>"},
			Outcome{Kind: Exception, Type: "A", Message: "<X at 0x55aa>"}, true,
		},
		{Outcome{Kind: Exit, ExitStatus: 1}, Outcome{Kind: Exit, ExitStatus: 2}, false},
		{Outcome{Kind: Crash, Signal: "SIGSEGV", Message: "at 5"}, Outcome{Kind: Crash, Signal: "SIGSEGV"}, true},
		{Outcome{Kind: Crash, Signal: "SIGSEGV"}, Outcome{Kind: Crash, Signal: "SIGFPE"}, false},
		{Outcome{Kind: Assertion, Signal: "SIGABRT"}, Outcome{Kind: Crash, Signal: "SIGABRT"}, true},
		{Outcome{Kind: Assertion, Type: "AssertionError"}, Outcome{Kind: Crash, Signal: "SIGABRT"}, false},
	} {
		if c.a.Same(c.b) != c.want || c.b.Same(c.a) != c.want {
			t.Errorf("(%v).Same(%v) != %v", c.a, c.b, c.want)
		}
	}
}

func TestProgramOutcome(t *testing.T) {
	for _, c := range []struct {
		status         int
		signal, stderr string
		want           string
	}{
		{0, "", "", "ok"},
		{3, "", "", "exit 3"},
		{0, "SIGSEGV", "", "crash SIGSEGV"},
		{0, "SIGABRT", "", "crash SIGABRT"},
		{0, "SIGABRT", "a: a.c:3: main: Assertion `x == 1' failed.\n", "assertion SIGABRT: x == 1"},
		{0, "SIGXCPU", "", "hang"},
	} {
		if got := ProgramOutcome(c.status, c.signal, []byte(c.stderr)).String(); got != c.want {
			t.Errorf("%d %s %q: %s, want %s", c.status, c.signal, c.stderr, got, c.want)
		}
	}
}

func TestCall(t *testing.T) {
	g := Target{Kind: Program, Path: "/p", Argv: []string{"/p", "-q"}, Env: []string{"A=old", "B=b"}, Cwd: "/"}
	got, err := g.Call([]Input{Argv(1, []byte("a\x00b")), Argv(3, []byte("c")), Stdin([]byte("in")), File("d/f", []byte{0, 1}), Env("A", []byte("v\x00w")), Env("C", nil)})
	want := Call{Argv: []string{"/p", "a", "", "c"}, Env: []string{"A=v", "B=b", "C="}, Stdin: []byte("in"), Files: map[string][]byte{"d/f": {0, 1}}}
	if err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("%+v %v", got, err)
	}
	if g.Argv[1] != "-q" || g.Env[0] != "A=old" {
		t.Error("the target was changed")
	}
	for _, in := range []Input{Int("n", 1), File("../f", nil), File("/f", nil), Env("A=B", nil), Env("", nil), {Name: "argv0", Type: TypeArgv}} {
		if _, err := g.Call([]Input{in}); err == nil {
			t.Errorf("%+v was accepted", in)
		}
	}
}

func TestPinEnv(t *testing.T) {
	got := PinEnv([]string{"TZ=Asia/Tokyo", "A=b"})
	want := []string{"TZ=Asia/Tokyo", "A=b", "LC_ALL=C.UTF-8"}
	if !reflect.DeepEqual(got, want) || !reflect.DeepEqual(PinEnv(got), want) {
		t.Errorf("%q", got)
	}
}
