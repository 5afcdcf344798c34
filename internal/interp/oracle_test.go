package interp

import (
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"os/exec"
	"strings"
	"testing"

	"symchef/internal/device"
	"symchef/internal/expr"
	"symchef/internal/seed"
)

// stock is the interpreter the tests hold the description against.
const stock = "/usr/bin/python3.11"

func python(t *testing.T, path, script, stdin string) string {
	t.Helper()
	if _, err := os.Stat(path); err != nil {
		t.Skipf("%s is not installed", path)
	}
	cmd := exec.Command(path, "-I", "-c", script)
	cmd.Stdin = strings.NewReader(stdin)
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%s: %v", path, err)
	}
	return string(out)
}

func pythonDescription(t *testing.T) *Desc {
	t.Helper()
	d, ok := ByName("python")
	if !ok {
		t.Fatal("no description")
	}
	return d
}

// dumpInts prints, per input line, the object of that int as hex.
const dumpInts = `
import sys, ctypes
for line in sys.stdin:
    v = int(line)
    print(ctypes.string_at(id(v), 24 + 4 * max(1, v.__sizeof__() // 4 - 6)).hex())
`

// TestIntLayouts compares every layout that can hold a value with the object that
// CPython makes of it, for boundary values and random ones.
func TestIntLayouts(t *testing.T) {
	d := pythonDescription(t)
	r := seed.Rand(t)
	values := []int64{0, 1, -1, 5, 256, 257, -5, -6, math.MaxInt64, math.MinInt64, math.MinInt64 + 1, 1e9, 1e18}
	for _, p := range []uint{29, 30, 31, 59, 60, 61, 62} {
		for delta := int64(-2); delta <= 2; delta++ {
			values = append(values, int64(1)<<p+delta, -(int64(1)<<p)+delta)
		}
	}
	for range 500 {
		values = append(values, int64(r.Uint64())>>r.IntN(64))
	}
	lines := strings.Fields(python(t, stock, dumpInts, strings.Trim(strings.ReplaceAll(fmt.Sprint(values), " ", "\n"), "[]")))
	if len(lines) != len(values) {
		t.Fatalf("%d lines for %d values", len(lines), len(values))
	}
	for name, digits := range map[string]int{"int1": 1, "int2": 2, "int3": 3} {
		l := d.Layouts[name]
		c := expr.New()
		symbolic, err := l.Build(c, Input{Kind: device.KindInt, Value: c.Var("v", 64), Min: l.Min, Max: l.Max})
		if err != nil {
			t.Fatal(err)
		}
		for i, v := range values {
			if v < l.Min || v > l.Max {
				continue
			}
			want, _ := hex.DecodeString(lines[i])
			constant, err := l.Build(c, Input{Kind: device.KindInt, Value: c.Const(uint64(v), 64), Min: v, Max: v})
			if err != nil {
				t.Fatal(err)
			}
			for _, p := range []*Placement{symbolic, constant} {
				got := make([]byte, 24+4*digits)
				binary.LittleEndian.PutUint64(got[16:], uint64(digits))
				c.NewEval()
				apply(t, c, p, got, expr.Assignment{uint64(v)})
				if n := len(want); !bytes.Equal(got[16:n], want[16:]) || len(bytes.Trim(got[n:], "\x00")) != 0 {
					t.Errorf("%s of %d: got %x, want %x", name, v, got[16:], want[16:])
				}
			}
		}
	}
}

// apply verifies the checks against obj and then writes the stores.
func apply(t *testing.T, c *expr.Ctx, p *Placement, obj []byte, a expr.Assignment) {
	t.Helper()
	for _, k := range p.Checks {
		var b [8]byte
		copy(b[:k.Size], obj[k.Off:])
		if got := binary.LittleEndian.Uint64(b[:]); got != k.Want {
			t.Errorf("expected field at %d: %#x, object has %#x", k.Off, k.Want, got)
		}
	}
	for _, s := range p.Stores {
		if w := c.Width(s.Value); w != uint(8*s.Size) {
			t.Errorf("store at %d: width %d for %d bytes", s.Off, w, s.Size)
		}
		var b [8]byte
		binary.LittleEndian.PutUint64(b[:], c.Eval(s.Value, a))
		copy(obj[s.Off:s.Off+uint64(s.Size)], b[:])
	}
	for _, k := range p.Constraints {
		if c.Width(k) != 1 || c.Eval(k, a) != 1 {
			t.Errorf("a constraint does not hold")
		}
	}
}

// dumpSequences prints, per line, a fresh object of the given content and a fresh
// one of the same length as the guest library makes it.
const dumpSequences = `
import sys, ctypes, json
for line in sys.stdin:
    kind, content = json.loads(line)
    if kind == "str":
        v, w = "".join(list(content)), "".join(["a"] * len(content))
    else:
        v, w = bytes(list(content.encode("latin-1"))), bytes([0] * len(content))
    print(ctypes.string_at(id(v), v.__sizeof__()).hex(), ctypes.string_at(id(w), w.__sizeof__()).hex())
`

func TestSequenceLayouts(t *testing.T) {
	d := pythonDescription(t)
	all := make([]rune, 256)
	for i := range all {
		all[i] = rune(i)
	}
	cases := [][2]string{{"str", "ab"}, {"str", "a@\x00\x7f\n "}, {"str", string(all[:128])}, {"bytes", "ab"}, {"bytes", string(all)}, {"bytes", "\x00\x00"}}
	var in strings.Builder
	for _, k := range cases {
		b, _ := json.Marshal(k)
		in.Write(append(b, '\n'))
	}
	lines := strings.Split(strings.TrimSpace(python(t, stock, dumpSequences, in.String())), "\n")
	for i, k := range cases {
		wantHex, gotHex, _ := strings.Cut(lines[i], " ")
		want, _ := hex.DecodeString(wantHex)
		got, _ := hex.DecodeString(gotHex)
		c := expr.New()
		kind, _ := device.ParseKind(k[0])
		input := Input{Kind: kind}
		for j, r := range []rune(k[1]) {
			if j%2 == 0 {
				input.Bytes = append(input.Bytes, c.Const(uint64(r), 8))
				continue
			}
			input.Bytes = append(input.Bytes, c.Var(fmt.Sprint(j), 8))
		}
		var a expr.Assignment
		for j, r := range []rune(k[1]) {
			if j%2 == 1 {
				a = append(a, uint64(r))
			}
		}
		p, err := d.Layouts[k[0]].Build(c, input)
		if err != nil {
			t.Fatal(err)
		}
		c.NewEval()
		apply(t, c, p, got, a)
		clear(want[:8]) // the reference count
		clear(got[:8])
		if k[0] == "str" { // what fills the word after the state byte is undefined
			clear(want[33:40])
			clear(got[33:40])
		}
		if !bytes.Equal(got, want) {
			t.Errorf("%q: got %x, want %x", k, got, want)
		}
	}
}

func TestLayoutRefuses(t *testing.T) {
	d := pythonDescription(t)
	c := expr.New()
	v, b := c.Var("v", 64), c.Var("b", 8)
	for _, tt := range []struct {
		layout string
		in     Input
	}{
		{"int1", Input{Kind: device.KindInt, Value: v, Min: 0, Max: 1 << 30}},
		{"int1", Input{Kind: device.KindInt, Value: v, Min: -1 << 30, Max: 0}},
		{"int2", Input{Kind: device.KindInt, Value: v, Min: 0, Max: 1 << 60}},
		{"int3", Input{Kind: device.KindBool, Value: v, Max: 1}},
		{"int1", Input{Kind: device.KindStr, Bytes: []expr.Ref{b, b}}},
		{"str", Input{Kind: device.KindStr, Bytes: []expr.Ref{b}}},
		{"str1", Input{Kind: device.KindStr, Bytes: []expr.Ref{b, b}}},
		{"str", Input{Kind: device.KindBytes, Bytes: []expr.Ref{b, b}}},
	} {
		if _, err := d.Layouts[tt.layout].Build(c, tt.in); err == nil {
			t.Errorf("%s took %+v", tt.layout, tt.in)
		}
	}
}

// TestASCIIConstraint: a byte of 0x80 or more breaks the constraint of a str.
func TestASCIIConstraint(t *testing.T) {
	d := pythonDescription(t)
	c := expr.New()
	b := c.Var("b", 8)
	p, err := d.Layouts["str1"].Build(c, Input{Kind: device.KindStr, Bytes: []expr.Ref{b}})
	if err != nil || len(p.Constraints) != 1 {
		t.Fatal(p, err)
	}
	for v, want := range map[uint64]uint64{0: 1, 0x7f: 1, 0x80: 0, 0xff: 0} {
		c.NewEval()
		if got := c.Eval(p.Constraints[0], expr.Assignment{v}); got != want {
			t.Errorf("%#x: %d", v, got)
		}
	}
}

// reportAddresses prints what Locate must have found, and the load base of the
// object in argv.
const reportAddresses = `
import sys, ctypes, json
image = sys.stdin.read().strip()
base = min((int(l.split("-")[0], 16) for l in open("/proc/self/maps") if l.rstrip().endswith(image)), default=0)
ctypes.pythonapi.PyHash_GetFuncDef.restype = ctypes.c_void_p
def symbol(n): return ctypes.addressof(ctypes.c_char.in_dll(ctypes.pythonapi, n))
print(json.dumps({"base": base, "tables": {
  "small-int": [id(int(str(v))) for v in range(-5, 257)],
  "bytes1": [id(bytes([v])) for v in range(256)],
  "ascii1": [id(chr(v)) for v in range(128)],
  "latin1": [id(chr(v)) for v in range(128, 256)]},
  "hash-slot": ctypes.pythonapi.PyHash_GetFuncDef(), "runtime": symbol("_PyRuntime"),
  "refcounts": [sys.getrefcount(chr(255)), sys.getrefcount(-5)]}))
`

// TestLocate asks the interpreters of this machine where their objects are.
func TestLocate(t *testing.T) {
	d := pythonDescription(t)
	paths := []string{stock}
	if f, err := d.Find(FindOptions{Test: "/nonexistent/test_x.py", Getenv: func(n string) string {
		if n == "PATH" {
			return os.Getenv("PATH")
		}
		return ""
	}}); err == nil && f.ELF != stock {
		paths = append(paths, f.ELF) // another build, perhaps with a shared library
	}
	for _, path := range paths {
		t.Run(path, func(t *testing.T) {
			img, err := d.Locate(path, "3.11")
			if err != nil {
				t.Fatal(err)
			}
			t.Logf("%s build-id %s relative %v", img.Path, img.BuildID, img.Relative)
			var got struct {
				Base     uint64
				Tables   map[string][]uint64
				HashSlot uint64 `json:"hash-slot"`
				Runtime  uint64
			}
			if err := json.Unmarshal([]byte(python(t, path, reportAddresses, img.Path)), &got); err != nil {
				t.Fatal(err)
			}
			img = img.Rebase(got.Base)
			for name, want := range map[string]uint64{"hash-slot": got.HashSlot, "runtime": got.Runtime} {
				if img.Locations[name] != want {
					t.Errorf("%s: found %#x, is %#x", name, img.Locations[name], want)
				}
			}
			for name, addresses := range got.Tables {
				for i, addr := range addresses {
					if r := img.Immortal[0]; addr < r.Lo || addr+16 > r.Hi {
						t.Fatalf("%s[%d] is outside the immortal region", name, i)
					}
				}
			}
			if img.Models[0].Slot != got.HashSlot {
				t.Errorf("model slot %#x", img.Models[0].Slot)
			}
		})
	}
}
