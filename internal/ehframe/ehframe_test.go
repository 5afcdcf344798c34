package ehframe

import (
	"bytes"
	"debug/elf"
	"encoding/binary"
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strconv"
	"testing"
)

// TestFunctions compares the functions of real programs with those that readelf shows, with section
// headers and without.
func TestFunctions(t *testing.T) {
	readelf, err := exec.LookPath("readelf")
	if err != nil {
		t.Skip("skipped: readelf is not installed")
	}
	fde := regexp.MustCompile(`(?m)FDE cie=\S+ pc=([0-9a-f]+)\.\.([0-9a-f]+)`)
	for _, path := range []string{"/usr/bin/lua5.4", "/usr/bin/python3.11", "/usr/bin/mujs", "/usr/bin/perl"} {
		data, err := os.ReadFile(path)
		if err != nil {
			continue
		}
		out, err := exec.Command(readelf, "--debug-dump=frames", "--debug-dump=no-follow-links", path).Output()
		if err != nil {
			t.Fatal(err)
		}
		var want []Extent
		for _, m := range fde.FindAllSubmatch(out, -1) {
			lo, _ := strconv.ParseUint(string(m[1]), 16, 64)
			hi, _ := strconv.ParseUint(string(m[2]), 16, 64)
			if lo != hi {
				want = append(want, Extent{lo, hi})
			}
		}
		slices.SortFunc(want, func(a, b Extent) int { return int(int64(a.Lo - b.Lo)) })
		bare := slices.Clone(data)
		binary.LittleEndian.PutUint64(bare[40:], 0) // e_shoff
		binary.LittleEndian.PutUint16(bare[60:], 0) // e_shnum
		binary.LittleEndian.PutUint16(bare[62:], 0) // e_shstrndx
		for _, image := range [][]byte{data, bare} {
			f, err := elf.NewFile(bytes.NewReader(image))
			if err != nil {
				t.Fatal(err)
			}
			got, err := Functions(f)
			if err != nil || !slices.Equal(got, want) {
				t.Errorf("%s: %d functions, %v; readelf has %d", path, len(got), err, len(want))
			}
		}
		for _, e := range want[:min(len(want), 100)] {
			if Enclosing(want, e.Lo) != e || Enclosing(want, e.Hi-1) != e {
				t.Errorf("%s: %#x is not found", path, e)
			}
		}
	}
}

// TestDamagedFrames: no content of .eh_frame makes the parser fail otherwise than by an error.
func TestDamagedFrames(t *testing.T) {
	data, err := os.ReadFile("/usr/bin/lua5.4")
	if err != nil {
		t.Skip("skipped: lua5.4 is not installed")
	}
	f, err := elf.NewFile(bytes.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	at := f.Section(".eh_frame").Offset
	for i := range uint64(512) {
		for _, v := range []byte{0, 1, 0x7f, 0xff} {
			damaged := slices.Clone(data)
			damaged[at+i] = v
			if f, err := elf.NewFile(bytes.NewReader(damaged)); err == nil {
				_, _ = Functions(f)
			}
		}
	}
}
