package languages_test

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"symchef/internal/device"
	"symchef/internal/expr"
	"symchef/internal/interp"
	"symchef/internal/seed"
	"symchef/internal/testcase"
)

// bootstrap runs a test in machine mode with descriptor 3 for the device.
const bootstrap = `
import runpy, sys
import symchef._machine
symchef._machine._open = lambda *args: 3
runpy.run_module("symchef", run_name="__main__", alter_sys=True)
`

// fakeDevice serves the device protocol to a native interpreter: it "places" the
// concrete values it is given, by the description's layouts, straight into the
// process's memory. So library, protocol, checks and layouts are held against the
// stock interpreter without an engine.
type fakeDevice struct {
	t       *testing.T
	fd      int
	mem     *os.File
	layouts map[string]*interp.Layout
	values  map[string]any // string, []byte, int64 (also bool, choice)
	inputs  []*device.Input
	trace   []string // verbs in order; input with kind
	expects []string
	kind    device.OutcomeKind
	typ     string
	message string
	log     []string
	usage   string
	stdout  string

	returned testcase.Value
	frames   []string
}

// machine runs a test file's text in machine mode over the values.
func machine(t *testing.T, lib, text string, values map[string]any) *fakeDevice {
	t.Helper()
	file := filepath.Join(t.TempDir(), "test_m.py")
	if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	pair, err := syscall.Socketpair(syscall.AF_UNIX, syscall.SOCK_SEQPACKET|syscall.SOCK_CLOEXEC, 0)
	if err != nil {
		t.Fatal(err)
	}
	theirs := os.NewFile(uintptr(pair[1]), "device")
	var stdout, stderr strings.Builder
	cmd := exec.Command(stock, "-c", bootstrap, file)
	cmd.Env = append(os.Environ(), "PYTHONPATH="+lib, "PYTHONDONTWRITEBYTECODE=1", "PYTHONHASHSEED=0")
	cmd.ExtraFiles = []*os.File{theirs}
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	theirs.Close()
	defer syscall.Close(pair[0])
	desc, _ := interp.ByName("python")
	found, err := desc.Find(interp.FindOptions{Test: file, Explicit: stock})
	if err != nil {
		t.Fatal(err)
	}
	d := &fakeDevice{t: t, fd: pair[0], layouts: found.Image.Layouts, values: values}
	d.mem, err = os.OpenFile(fmt.Sprintf("/proc/%d/mem", cmd.Process.Pid), os.O_RDWR, 0)
	if err != nil {
		cmd.Process.Kill()
		cmd.Wait()
		t.Skipf("skipped: cannot write to a child's memory here: %v", err)
	}
	defer d.mem.Close()
	buf := make([]byte, 1<<18)
	for {
		n, err := syscall.Read(d.fd, buf)
		if err != nil || n == 0 {
			break
		}
		reply := d.serve(buf[:n])
		if reply == nil {
			cmd.Process.Kill()
			break
		}
		if _, err := syscall.Write(d.fd, reply); err != nil {
			t.Fatal(err)
		}
	}
	cmd.Wait()
	d.stdout = stdout.String()
	if stderr.Len() > 0 {
		t.Errorf("standard error: %s", stderr.String())
	}
	return d
}

// serve answers one request; nil ends the process.
func (d *fakeDevice) serve(line []byte) []byte {
	end := bytes.IndexByte(line, '\n') + 1
	line, body := line[:end], line[end:]
	q, err := device.Parse(line)
	if err != nil {
		d.t.Errorf("%q: %v", line, err)
		return device.Err(err.Error())
	}
	word := q.Verb.String()
	switch q.Verb {
	case device.VerbInput:
		word += " " + q.Input.Kind.String()
		d.trace = append(d.trace, word)
		id := int64(len(d.inputs))
		d.inputs = append(d.inputs, q.Input)
		switch v := d.values[q.Input.Name].(type) {
		case string:
			return device.OK(id, int64(len(v)))
		case []byte:
			return device.OK(id, int64(len(v)))
		case int64:
			if q.Input.Kind == device.KindChoice {
				return device.OK(id, v)
			}
			return device.OK(id)
		}
		return device.Err("no value for " + q.Input.Name)
	case device.VerbPlace:
		d.trace = append(d.trace, word+" "+q.Layout)
		if err := d.place(q); err != nil {
			d.t.Error(err)
		}
		return device.OK()
	}
	if q.Verb == device.VerbImmortal {
		if err := q.CheckBody(len(body)); err != nil {
			d.t.Error(err)
		}
		return device.OK()
	}
	d.trace = append(d.trace, word)
	switch q.Verb {
	case device.VerbExpect:
		d.expects = append(d.expects, q.Types...)
	case device.VerbLog:
		d.log = append(d.log, d.read(q))
	case device.VerbOutcome:
		d.kind, d.typ, d.message = q.Kind, q.Type, d.read(q)
	case device.VerbHello:
		return device.OK(device.Version)
	case device.VerbUsage:
		d.usage = q.Text
		return nil
	case device.VerbEnd, device.VerbPrune:
		return nil
	case device.VerbConcretize:
		d.read(q)
	case device.VerbSymbolic:
		return device.OK(0)
	case device.VerbReturned:
		d.returned = testcase.Value(body)
		if err := q.CheckBody(len(body)); err != nil {
			d.t.Error(err)
		}
		if err := d.returned.Check(); err != nil {
			d.t.Errorf("%q: %v", body, err)
		}
	case device.VerbFrames:
		for _, f := range q.Frames {
			d.frames = append(d.frames, filepath.Base(f))
		}
	case device.VerbValue:
		v := d.values[d.inputs[q.ID].Name].(int64) - q.Less
		return append(device.OK(), binary.LittleEndian.AppendUint64(nil, uint64(v))...)
	}
	return device.OK()
}

func (d *fakeDevice) read(q *device.Request) string {
	b := make([]byte, q.Len)
	if _, err := d.mem.ReadAt(b, int64(q.Addr)); err != nil {
		d.t.Errorf("%s: %v", q.Verb, err)
	}
	return string(b)
}

func (d *fakeDevice) place(q *device.Request) error {
	if q.ID >= len(d.inputs) {
		return fmt.Errorf("no input %d", q.ID)
	}
	l := d.layouts[q.Layout]
	if l == nil {
		return fmt.Errorf("no layout %s", q.Layout)
	}
	c := expr.New()
	decl := d.inputs[q.ID]
	in := interp.Input{Kind: decl.Kind}
	in.Min, in.Max = decl.Range()
	switch v := d.values[decl.Name].(type) {
	case string:
		for i := range len(v) {
			in.Bytes = append(in.Bytes, c.Const(uint64(v[i]), 8))
		}
	case []byte:
		for _, b := range v {
			in.Bytes = append(in.Bytes, c.Const(uint64(b), 8))
		}
	case int64:
		in.Value = c.Const(uint64(v), 64)
	}
	p, err := l.Build(c, in)
	if err != nil {
		return err
	}
	for _, k := range p.Checks {
		var b [8]byte
		if _, err := d.mem.ReadAt(b[:k.Size], int64(q.Addr+k.Off)); err != nil {
			return err
		}
		if got := binary.LittleEndian.Uint64(b[:]); got != k.Want {
			return fmt.Errorf("%s: the object has %#x at %d, want %#x", q.Layout, got, k.Off, k.Want)
		}
	}
	for _, s := range p.Stores {
		v, ok := c.IsConst(s.Value)
		if !ok {
			return fmt.Errorf("%s: a store is not constant", q.Layout)
		}
		var b [8]byte
		binary.LittleEndian.PutUint64(b[:], v)
		if _, err := d.mem.WriteAt(b[:s.Size], int64(q.Addr+s.Off)); err != nil {
			return err
		}
	}
	return nil
}

const useInts = `
from symchef import SymbolicTest
def canonical(v):
    w = int(str(v))
    assert type(v) is int and v == w and hash(v) == hash(w) and bool(v) == bool(w) and -v == -w
    assert v + 1 == w + 1 and v * v == w * w and v // 7 == w // 7 and v %% 7 == w %% 7 and v >> 3 == w >> 3
    assert {w: 1}[v] == 1 and v.bit_length() == w.bit_length() and float(v) == float(w)
    assert v.__sizeof__() == w.__sizeof__() and (v < 0) == (w < 0)
    return w
class T(SymbolicTest):
    def runTest(self):
        for i in range(%d):
            v = self.getInt("v%%d" %% i, %d, %d, %d)
            w = canonical(v)
            print(w, self.concretize(v) == w, self.concretize(v))
        for i in range(-5, 257):
            canonical(i)
        assert 1 << 29 == 536870912 and (1 << 40) == 1099511627776 and (1 << 29) + 1 == 536870913
`

// TestMachineInts: placed ints behave as ints in every range, and nothing else changes.
func TestMachineInts(t *testing.T) {
	lib := library(t)
	r := seed.Rand(t)
	for _, tt := range []struct {
		layout string
		lo, hi int64
	}{
		{"int1", 0, 100}, {"int1", -(1<<30 - 1), 1<<30 - 1}, {"int2", -(1 << 30), 0}, {"int2", -(1<<60 - 1), 1<<60 - 1}, {"int3", 0, 1 << 60}, {"int3", math.MinInt64, math.MaxInt64},
	} {
		vs := []int64{tt.lo, tt.hi, 0}
		for _, v := range []int64{1, -1, 5, -6, 256, 257, 1<<30 - 1, 1 << 30, -(1 << 30), 1<<60 - 1, 1 << 60, -(1 << 60)} {
			if v >= tt.lo && v <= tt.hi {
				vs = append(vs, v)
			}
		}
		for len(vs) < 60 {
			if v := int64(r.Uint64()) >> r.IntN(64); v >= tt.lo && v <= tt.hi {
				vs = append(vs, v)
			}
		}
		values := map[string]any{}
		var want strings.Builder
		for i, v := range vs {
			values[fmt.Sprintf("v%d", i)] = v
			fmt.Fprintln(&want, v, "True", v)
		}
		d := machine(t, lib, fmt.Sprintf(useInts, len(vs), tt.hi, tt.hi, tt.lo), values)
		if d.kind != device.OutcomeOK || d.stdout != want.String() {
			t.Errorf("%v: %s %s %s %s\n%s", tt, d.kind, d.typ, d.message, d.usage, d.stdout)
		}
		for _, w := range d.trace {
			if strings.HasPrefix(w, "place") && w != "place "+tt.layout {
				t.Errorf("%v: %s", tt, w)
			}
		}
	}
}

const useSequences = `
import symchef
from symchef import SymbolicTest
class T(SymbolicTest):
    def setUp(self):
        self.default = "a" * 4
    def runTest(self):
        s = self.getString("s", self.default)
        t = self.getString("t", "a", 5, 0)
        one = self.getString("one", "x")
        empty = self.getString("empty", "", 3)
        b = self.getBytes("b", b"\0\0\0")
        c = self.getBytes("c", b"\0")
        print(ascii([s, t, one, empty, b, c]))
        for v in (s, t):
            w = "".join(list(v))
            assert v == w and hash(v) == hash(w) and {w: 1}[v] == 1 and v.isascii() and v.encode() == w.encode() and v.upper() == w.upper()
        assert one is chr(ord(one)) and len(empty) == 0 and c is bytes([c[0]])
        assert b == bytes(list(b)) and hash(b) == hash(bytes(list(b)))
        assert self.default == "a" * 4 == "aaaa" and "".join(["a", "b"]) == "ab" and bytes(3) == b"\0\0\0"
        assert [self.concretize(v) for v in (s, t, one, empty, b, c, 1.5, True)] == [s, t, one, empty, b, c, 1.5, True]
        assert (self.getBool("f"), self.getBool("g")) == (True, False)
        assert self.getChoice("h", "pqr") == "r"
        self.log("log", s)
        self.log(one)
        self.log("caf\u00e9 \u20ac \ud800")
        symchef.expect(LookupError, symchef.UsageError)
        raise KeyError(t)
`

func TestMachineSequences(t *testing.T) {
	lib := library(t)
	d := machine(t, lib, useSequences, map[string]any{"s": "x\x00@\x7f", "t": "two", "one": "A", "empty": "", "b": []byte{0, 255, 7}, "c": []byte{200}, "f": int64(1), "g": int64(0), "h": int64(2)})
	if d.kind != device.OutcomeExpected || d.typ != "KeyError" || d.message != "two" {
		t.Errorf("%s %s %q %s", d.kind, d.typ, d.message, d.usage)
	}
	if want := `['x\x00@\x7f', 'two', 'A', '', b'\x00\xff\x07', b'\xc8']` + "\n"; d.stdout != want {
		t.Errorf("got %s, want %s", d.stdout, want)
	}
	if got, want := fmt.Sprintf("%q", d.log), fmt.Sprintf("%q", []string{"log x\x00@\x7f", "A", `café € \ud800`}); got != want {
		t.Errorf("log %s, want %s", got, want)
	}
	if got := fmt.Sprint(d.expects); got != "[LookupError symchef.UsageError]" {
		t.Error(got)
	}
	got := strings.Join(d.trace, ",")
	if want := "hello,begin,input str,place str,input str,place str,input str,place str1,input str,input bytes,place bytes,input bytes,place bytes1,concretize"; !strings.HasPrefix(got, want) {
		t.Errorf("got %s", got)
	}
	if want := "log,log,log,expect,frames,outcome"; !strings.HasSuffix(got, want) {
		t.Errorf("got %s", got)
	}
}

// TestMachineEnds: each way a run ends, and that no more is imported than needed.
func TestMachineEnds(t *testing.T) {
	lib := library(t)
	for _, tt := range []struct{ name, text, want string }{
		{"ok", "def test_a(): print('hi')", "ok  |hi\n||hello,begin,returned,outcome"},
		{"assertion", "def test_a(): assert 0, 'caf\u00e9'", "assertion AssertionError café|||hello,begin,frames,outcome"},
		{"exit", "import sys\ndef test_a(): sys.exit(2)", "exit SystemExit |||hello,begin,frames,outcome"},
		{"set-up fails", "import symchef\nclass T(symchef.SymbolicTest):\n  def setUp(self): 1/0\n  def runTest(self): pass", "exception ZeroDivisionError division by zero|||hello,begin,frames,outcome"},
		{"what waits for begin", "import symchef\nsymchef.expect(ZeroDivisionError)\nclass T(symchef.SymbolicTest):\n  def setUp(self): self.log('early')\n  def runTest(self):\n    self.log('late')\n    1/0", "expected ZeroDivisionError division by zero|||hello,begin,expect,log,log,frames,outcome"},
		{"prune", "import symchef\ndef test_a(n: symchef.Int(0, 9)): symchef.assume(n > 5)", "  |||hello,begin,input int,place int1,prune"},
		{"usage", "x = 1", "  ||no test_* function, no class with methods test* and no SymbolicTest in the file|hello,usage"},
		{"refused", "import symchef\ndef test_a(): symchef.getInt('unknown', 1)", "  ||no value for unknown (line 2)|hello,begin,input int,usage"},
		{"few imports", "import sys\ndef test_a(): print([m for m in ('re', 'json', 'inspect', 'traceback', 'enum') if m in sys.modules])", "ok  |[]\n||hello,begin,returned,outcome"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			d := machine(t, lib, tt.text+"\n", map[string]any{"n": int64(3)})
			_, usage, _ := strings.Cut(d.usage, ".py: ")
			got := fmt.Sprintf("%s %s %s|%s|%s|%s", d.kind, d.typ, d.message, d.stdout, usage, strings.Join(d.trace, ","))
			if got != tt.want {
				t.Errorf("got %s\nwant %s", got, tt.want)
			}
		})
	}
}
