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
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"symchef/internal/device"
	"symchef/internal/expr"
	"symchef/internal/seed"
)

// stock is the interpreter the tests hold the description against.
const stock = "/usr/bin/python3.11"

// pythons are the CPythons of this machine, of all versions and builds, by path. What there is not is said.
func pythons(t *testing.T) (paths []string) {
	t.Helper()
	home, _ := os.UserHomeDir()
	name := regexp.MustCompile(`^python3\.(\d+)(-dbg)?$`)
	seen := map[string]bool{}
	minors := map[string]bool{}
	for _, pattern := range []string{"/usr/bin/python3.*", "/usr/local/bin/python3.*", home + "/.pyenv/versions/*/bin/python3.*"} {
		found, err := filepath.Glob(pattern)
		if err != nil {
			t.Fatal(err)
		}
		for _, path := range found {
			m := name.FindStringSubmatch(filepath.Base(path))
			real, err := filepath.EvalSymlinks(path)
			if m == nil || err != nil || seen[real] || pythonDescription(t).version("3."+m[1]) == "" {
				continue
			}
			seen[real], minors[m[1]+m[2]] = true, true
			paths = append(paths, path)
		}
	}
	for _, minor := range []string{"8", "9", "10", "11", "11-dbg", "12", "13", "14"} {
		if !minors[minor] {
			t.Logf("skipped: no python3.%s is installed", minor)
		}
	}
	if len(paths) == 0 {
		t.Skip("skipped: no python3 is installed")
	}
	return paths
}

// imageOf is what was found in an interpreter, by path.
var imageOf = map[string]*Image{}

// eachPython runs f for each CPython of this machine.
func eachPython(t *testing.T, f func(t *testing.T, path string, img *Image)) {
	d := pythonDescription(t)
	for _, path := range pythons(t) {
		t.Run(path, func(t *testing.T) {
			img, ok := imageOf[path]
			if !ok {
				version := strings.TrimSpace(python(t, path, "import sys; print('.'.join(map(str, sys.version_info[:3])))", ""))
				real, err := filepath.EvalSymlinks(path)
				if err != nil {
					t.Fatal(err)
				}
				if img, err = d.Locate(real, version, ""); err != nil {
					t.Fatal(err)
				}
				t.Logf("%s: %s, build-id %s, relative %v", version, img.Path, img.BuildID, img.Relative)
				imageOf[path] = img
			}
			f(t, path, img)
		})
	}
}

func python(t *testing.T, path, script, stdin string) string {
	t.Helper()
	if _, err := os.Stat(path); err != nil {
		t.Skipf("skipped: %s is not installed", path)
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

// memory reads the interpreter's own: what the oracles below say is not what the probe says.
const memory = `
import os, sys
fd = os.open("/proc/self/mem", os.O_RDONLY)
def dump(v, n): return os.pread(fd, n, id(v)).hex()
`

// dumpInts prints, for each number of digits, a carrier as the guest library makes it, and, for each number of the input, the object that it is. No
// such object is a singleton: these are marked in some versions.
const dumpInts = memory + `
class Int(int):
    __slots__ = ()
one = len(sys.argv)
for digits in (1, 2, 3):
    print(dump((one << (30 * digits - 1)) + one, 24 + 4 * digits))
for line in sys.stdin:
    v = Int(line)
    print(dump(v, 24 + 4 * max(1, v.__sizeof__() // 4 - 6)))
`

// Every layout that can hold a value writes the object that CPython makes of it, for boundary values and random ones.
func TestIntLayouts(t *testing.T) {
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
	eachPython(t, func(t *testing.T, path string, img *Image) {
		lines := strings.Fields(python(t, path, dumpInts, strings.Trim(strings.ReplaceAll(fmt.Sprint(values), " ", "\n"), "[]")))
		if len(lines) != 3+len(values) {
			t.Fatalf("%d lines for %d values", len(lines), len(values))
		}
		for k, name := range []string{"int1", "int2", "int3"} {
			l := img.Layouts[name]
			if l == nil {
				t.Fatalf("there is no %s: %v", name, img.Without)
			}
			carrier, _ := hex.DecodeString(lines[k])
			c := expr.New()
			symbolic, err := l.Build(c, Input{Kind: device.KindInt, Value: c.Var("v", 64), Min: l.Min, Max: l.Max})
			if err != nil {
				t.Fatal(err)
			}
			for i, v := range values {
				if v < l.Min || v > l.Max {
					continue
				}
				want, _ := hex.DecodeString(lines[3+i])
				constant, err := l.Build(c, Input{Kind: device.KindInt, Value: c.Const(uint64(v), 64), Min: v, Max: v})
				if err != nil {
					t.Fatal(err)
				}
				for _, p := range []*Placement{symbolic, constant} {
					got := bytes.Clone(carrier)
					c.NewEval()
					apply(t, c, p, got, expr.Assignment{uint64(v)})
					n := min(len(want), len(got))
					if !bytes.Equal(got[16:n], want[16:n]) || len(bytes.Trim(got[n:], "\x00")) != 0 {
						t.Errorf("%s of %d: got %x, want %x", name, v, got[16:], want[16:])
					}
				}
			}
		}
	})
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
const dumpSequences = memory + `
import json
for line in sys.stdin:
    kind, content = json.loads(line)
    if kind == "str":
        v, w = "".join(list(content)), "".join(["a"] * len(content))
    else:
        v, w = bytes(list(content.encode("latin-1"))), bytes([0] * len(content))
    print(dump(v, v.__sizeof__()), dump(w, w.__sizeof__()))
`

// Layouts of texts and bytes write the objects that CPython makes.
func TestSequenceLayouts(t *testing.T) {
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
	eachPython(t, func(t *testing.T, path string, img *Image) {
		lines := strings.Split(strings.TrimSpace(python(t, path, dumpSequences, in.String())), "\n")
		for i, k := range cases {
			wantHex, gotHex, _ := strings.Cut(lines[i], " ")
			want, _ := hex.DecodeString(wantHex)
			got, _ := hex.DecodeString(gotHex)
			if img.Layouts[k[0]] == nil {
				t.Fatalf("there is no %s: %v", k[0], img.Without)
			}
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
			p, err := img.Layouts[k[0]].Build(c, input)
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
	})
}

// dumpFloats prints the objects of these numbers.
const dumpFloats = memory + `
for line in sys.stdin:
    v = float.fromhex(line)
    print(dump(v, float.__basicsize__))
`

func TestFloatLayout(t *testing.T) {
	values := []float64{0, math.Copysign(0, -1), 1.5, -2, math.Pi, math.Inf(1), math.SmallestNonzeroFloat64, math.MaxFloat64}
	var in strings.Builder
	for _, v := range values {
		fmt.Fprintf(&in, "%x\n", v)
	}
	eachPython(t, func(t *testing.T, path string, img *Image) {
		l := img.Layouts["float"]
		if l == nil {
			t.Fatalf("there is none: %v", img.Without)
		}
		for i, line := range strings.Fields(python(t, path, dumpFloats, strings.ReplaceAll(in.String(), "+Inf", "inf"))) {
			want, _ := hex.DecodeString(line)
			got := bytes.Clone(want)
			clear(got[16:])
			c := expr.New()
			p, err := l.Build(c, Input{Kind: device.KindFloat, Value: c.Const(math.Float64bits(values[i]), 64)})
			if err != nil {
				t.Fatal(err)
			}
			c.NewEval()
			apply(t, c, p, got, nil)
			if !bytes.Equal(got, want) {
				t.Errorf("%v: got %x, want %x", values[i], got, want)
			}
		}
	})
}

func TestLayoutRefuses(t *testing.T) {
	img := stockImage(t)
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
		if _, err := img.Layouts[tt.layout].Build(c, tt.in); err == nil {
			t.Errorf("%s took %+v", tt.layout, tt.in)
		}
	}
}

// TestASCIIConstraint: a byte of 0x80 or more breaks the constraint of a str.
func TestASCIIConstraint(t *testing.T) {
	img := stockImage(t)
	c := expr.New()
	b := c.Var("b", 8)
	p, err := img.Layouts["str1"].Build(c, Input{Kind: device.KindStr, Bytes: []expr.Ref{b}})
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

// stockImage is what is found in stock.
func stockImage(t *testing.T) *Image {
	t.Helper()
	if _, err := os.Stat(stock); err != nil {
		t.Skipf("skipped: %s is not installed", stock)
	}
	if imageOf[stock] == nil {
		img, err := pythonDescription(t).Locate(stock, "3.11", "")
		if err != nil {
			t.Fatal(err)
		}
		imageOf[stock] = img
	}
	return imageOf[stock]
}

// reportAddresses prints what Locate must have found, and the load base of the
// object that it is told.
const reportAddresses = `
import sys, ctypes, json
image = sys.stdin.read().strip()
with open("/proc/self/maps") as f: maps = list(f)
base = min((int(l.split("-")[0], 16) for l in maps if l.rstrip().endswith(image)), default=0)
ctypes.pythonapi.PyHash_GetFuncDef.restype = ctypes.c_void_p
def symbol(n): return ctypes.addressof(ctypes.c_char.in_dll(ctypes.pythonapi, n))
print(json.dumps({"base": base, "hash-slot": ctypes.pythonapi.PyHash_GetFuncDef(), "runtime": symbol("_PyRuntime")}))
`

// Locate finds where the interpreters of this machine say that their objects are.
func TestLocate(t *testing.T) {
	eachPython(t, func(t *testing.T, path string, img *Image) {
		if len(img.Without) != 0 || len(img.Models) != 4 || img.References != 0 {
			t.Errorf("without %v, %d models, references at %d", img.Without, len(img.Models), img.References)
		}
		var got struct {
			Base     uint64
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
		if img.Models[0].Slot != got.HashSlot {
			t.Errorf("model slot %#x", img.Models[0].Slot)
		}
	})
}
